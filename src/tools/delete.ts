import { isAbsolute } from 'node:path';
import { Type, type Static } from 'typebox';
import { isCountersignError } from '../protocol/errors.ts';
import { FILE_LIMITS, named, PATH, plural } from './common.ts';
import { defineTool } from './define-tool.ts';

const parameters = Type.Object(
  {
    path: PATH('File or folder to delete.'),
    recursive: Type.Optional(Type.Boolean({ description: 'Needed for a folder that is not empty.' })),
  },
  { additionalProperties: false },
);

export type DeleteArguments = Static<typeof parameters>;

/** Deletes for good. Outside of the workspace only an absolute path, and only in a call that a person approved. */
export const deleteTool = defineTool({
  name: 'delete',
  label: 'Delete',
  description:
    'Deletes a file, or with `recursive` a folder with all that is in it, for good. Of a symbolic link the link is deleted, not what it leads to. ' +
    'An absolute path outside of the workspace needs the approval of a person.',
  parameters,
  tier: 'workspace',
  effect: 'once',
  limits: { ...FILE_LIMITS, timeoutMs: 120_000, maxTries: 1 },
  groups: ['group:fs', 'group:fs-write'],
  needs: ['writer'],
  version: 1,
  subjects: ({ path }) => [{ kind: 'path', argument: 'path', path, access: 'delete' }],
  summary: ({ path, recursive = false }) => `delete: ${named(path)}${recursive ? ' and all in it' : ''}`,
  async execute({ path, recursive = false }, { writer, elevated }) {
    const removed = await writer.remove(path, { recursive }).catch((error: unknown) => {
      const outside = isCountersignError(error) && error.code === 'outside_workspace';
      if (!outside || elevated === undefined || !isAbsolute(path)) throw error;
      return elevated.remove(path, { recursive });
    });
    return {
      output: { path: removed.path, deleted: removed.entries },
      display: `deleted ${removed.path} (${plural(removed.entries, 'entry', 'entries')})`,
    };
  },
});
