import { Type, type Static } from 'typebox';
import { named, PATH, QUICK_LIMITS } from './common.ts';
import { defineTool } from './define-tool.ts';

const parameters = Type.Object({ path: PATH('File or folder to look at.') }, { additionalProperties: false });

export type StatArguments = Static<typeof parameters>;

/** Kind, size and time of one file or folder. */
export const statTool = defineTool({
  name: 'stat',
  label: 'Look at file',
  description: 'Says of a file or folder in the workspace its kind, its size in bytes and when it was last changed.',
  parameters,
  tier: 'read_only',
  effect: 'read',
  limits: QUICK_LIMITS,
  groups: ['group:fs', 'group:fs-read'],
  needs: ['files'],
  version: 1,
  subjects: ({ path }) => [{ kind: 'path', argument: 'path', path, access: 'read' }],
  summary: ({ path }) => `stat: ${named(path)}`,
  async execute({ path }, { files }) {
    const { path: canonical, kind, bytes, modifiedAt } = await files.stat(path);
    const modified = new Date(modifiedAt).toISOString();
    return {
      output: { path: canonical, kind, bytes, modified },
      display: `${canonical}: ${kind}, ${bytes} bytes, changed ${modified}`,
    };
  },
});
