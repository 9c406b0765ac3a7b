import { Type, type Static } from 'typebox';
import { named, OPTIONAL_PATH, plural } from './common.ts';
import { defineTool } from './define-tool.ts';
import type { SearchQuery, SearchResult } from './tool-context.ts';

const parameters = Type.Object(
  {
    pattern: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: 'What to find: a regular expression (Rust syntax), or plain text with `literal`.',
    }),
    path: OPTIONAL_PATH('File or folder to search; the workspace unless given.'),
    glob: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Only files that match, as "*.ts" or "src/**"; with a leading "!", all others.',
      }),
    ),
    literal: Type.Optional(Type.Boolean({ description: 'Take the pattern as plain text.' })),
    ignoreCase: Type.Optional(Type.Boolean()),
    hidden: Type.Optional(Type.Boolean({ description: 'Also search files whose names begin with a dot.' })),
    context: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 10, description: 'Lines to show before and after each match.' }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Most matches to return; 100 unless said otherwise.' }),
    ),
  },
  { additionalProperties: false },
);

export type SearchArguments = Static<typeof parameters>;

/** Searches the content of files, as ripgrep does: what .gitignore leaves out, hidden and binary files are passed over. */
export const searchTool = defineTool({
  name: 'search',
  label: 'Search files',
  description:
    'Finds lines in the files of the workspace by regular expression or plain text, as ripgrep does (files that .gitignore names, hidden and binary files are passed over). Lines are cut at 300 characters.',
  parameters,
  tier: 'read_only',
  effect: 'read',
  limits: { timeoutMs: 30_000, maxTries: 2, backoffMs: 1_000, maxBackoffMs: 10_000 },
  groups: ['group:fs', 'group:fs-read'],
  needs: ['searcher'],
  version: 1,
  subjects: ({ path = '.' }) => [{ kind: 'path', argument: 'path', path, access: 'read' }],
  summary: ({ pattern, path }) => `search: ${named(pattern)}${path === undefined ? '' : ` in ${named(path)}`}`,
  async execute({ limit = 100, ...query }, { searcher }) {
    const result = await searcher.search({ ...query, maxMatches: limit } satisfies SearchQuery);
    const found = plural(result.matches.length, 'match', 'matches');
    const note = result.truncated
      ? `the first ${found}; narrow the pattern, path or glob, or raise limit`
      : result.matches.length === 0
        ? 'no match'
        : found;
    return {
      output: { matches: result.matches.map(outputOf), note },
      display: [note, ...result.matches.map((m) => `${m.path}:${m.line}: ${m.text}`)].join('\n'),
    };
  },
});

function outputOf({ path, line, text, before, after }: SearchResult['matches'][number]) {
  return { path, line, text, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}
