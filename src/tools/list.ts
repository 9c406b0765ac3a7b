import { Type, type Static } from 'typebox';
import { named, OPTIONAL_PATH, plural, QUICK_LIMITS } from './common.ts';
import { defineTool } from './define-tool.ts';
import type { DirectoryEntry } from './tool-context.ts';

const parameters = Type.Object(
  {
    path: OPTIONAL_PATH('Folder to list; the workspace itself unless given.'),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First entry to show; the first of all is 1.' })),
  },
  { additionalProperties: false },
);

export type ListArguments = Static<typeof parameters>;

const PAGE = 200;

/** Entries of one folder, by name. */
export const listTool = defineTool({
  name: 'list',
  label: 'List folder',
  description: `Lists a folder of the workspace: names with kind and size, folders marked by "/", sorted by name, ${PAGE} at a time. Names that begin with a dot are listed too.`,
  parameters,
  tier: 'read_only',
  effect: 'read',
  limits: QUICK_LIMITS,
  groups: ['group:fs', 'group:fs-read'],
  needs: ['files'],
  version: 1,
  subjects: ({ path = '.' }) => [{ kind: 'path', argument: 'path', path, access: 'read' }],
  summary: ({ path = '.' }) => `list: ${named(path)}`,
  async execute({ path = '.', offset = 1 }, { files }) {
    const folder = await files.list(path);
    const total = folder.entries.length;
    const page = folder.entries.slice(offset - 1, offset - 1 + PAGE);
    const last = offset - 1 + page.length;
    const note =
      total === 0
        ? 'the folder is empty'
        : last < total
          ? `entries ${offset}–${last} of ${total}; use offset=${last + 1}`
          : plural(total, 'entry', 'entries');
    return {
      output: { path: folder.path, entries: page.map(shown), total, note },
      display: [
        `${folder.path}: ${plural(total, 'entry', 'entries')}`,
        ...page.map((entry) => `  ${shown(entry)}`),
      ].join('\n'),
    };
  },
});

const shown = ({ name, kind, bytes }: DirectoryEntry): string => {
  if (kind === 'directory') return `${name}/`;
  if (kind === 'symlink') return `${name} (symbolic link)`;
  return kind === 'file' ? `${name} (${bytes} bytes)` : `${name} (no regular file)`;
};
