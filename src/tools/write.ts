import { Type, type Static } from 'typebox';
import { defineTool } from './define-tool.ts';
import { FILE_LIMITS, PATH, SHA256, named, textBytes } from './common.ts';

const parameters = Type.Object(
  {
    path: PATH('File to write.'),
    content: Type.String({ description: 'The whole new content. At most 256 KB with the other arguments.' }),
    ifHash: Type.Optional(SHA256('Write only if the file still has this content (as `read` reported it).')),
  },
  { additionalProperties: false },
);

export type WriteArguments = Static<typeof parameters>;

/** Replaces a file's whole content at once: who reads meanwhile sees the old or the new, never a part. */
export const writeTool = defineTool({
  name: 'write',
  label: 'Write file',
  description:
    'Writes a file in the workspace, whole: creates it and its missing folders, or replaces what is there. To change a part of a file use `edit`.',
  parameters,
  tier: 'workspace',
  effect: 'idempotent',
  limits: FILE_LIMITS,
  groups: ['group:fs', 'group:fs-write'],
  needs: ['writer'],
  version: 1,
  subjects: ({ path }) => [{ kind: 'path', argument: 'path', path, access: 'write' }],
  summary: ({ path }) => `write: ${named(path)}`,
  async execute({ path, content, ifHash }, { writer }) {
    const bytes = textBytes(content);
    const written = await writer.write(path, bytes, ifHash === undefined ? {} : { ifHash });
    return {
      output: { path: written.path, created: written.created, bytes: bytes.length, hash: written.hash },
      display: `${written.created ? 'created' : 'replaced'} ${written.path} (${bytes.length} bytes)`,
    };
  },
});
