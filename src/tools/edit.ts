import { Type, type Static } from 'typebox';
import { CountersignError } from '../protocol/errors.ts';
import { FILE_LIMITS, named, PATH, plural, SHA256, textBytes } from './common.ts';
import { defineTool } from './define-tool.ts';
import type { FileChange } from './tool-context.ts';

const parameters = Type.Object(
  {
    path: PATH('File to change.'),
    oldText: Type.String({
      minLength: 1,
      description: 'The text to replace, exactly as it stands in the file, blanks and line breaks too.',
    }),
    newText: Type.String({ description: 'What to put in its place.' }),
    replaceAll: Type.Optional(
      Type.Boolean({ description: 'Replace every occurrence; otherwise there must be exactly one.' }),
    ),
    ifHash: Type.Optional(SHA256('Change only if the file still has this content.')),
  },
  { additionalProperties: false },
);

export type EditArguments = Static<typeof parameters>;

/** Replaces exact text in a file. Idempotent by the hash of what it leaves: see FileWriter.update. */
export const editTool = defineTool({
  name: 'edit',
  label: 'Edit file',
  description:
    'Replaces exact text in a file of the workspace. `oldText` must occur exactly once unless `replaceAll` is true; take in more of the surrounding lines to make it unique.',
  parameters,
  tier: 'workspace',
  effect: 'idempotent',
  limits: FILE_LIMITS,
  groups: ['group:fs', 'group:fs-write'],
  needs: ['writer'],
  version: 1,
  check: ({ oldText, newText }) =>
    oldText === newText
      ? { field: '/newText', message: '"newText" is the same as "oldText", so nothing would change' }
      : undefined,
  subjects: ({ path }) => [{ kind: 'path', argument: 'path', path, access: 'write' }],
  summary: ({ path }) => `edit: ${named(path)}`,
  async execute(args, { writer }) {
    const { path, ifHash } = args;
    const update = await writer.update(
      path,
      (present, mostBytes) => replaced(args, present, mostBytes),
      ifHash === undefined ? {} : { ifHash },
    );
    const lines = Array.isArray(update.note) ? update.note : [];
    return {
      output: { path: update.path, replacements: lines.length, lines, hash: update.hash },
      display: `${update.path}: ${plural(lines.length, 'replacement')}, line ${lines.slice(0, 20).join(', ')}`,
    };
  },
});

/** More would hold up all other calls for seconds. */
const MOST_REPLACEMENTS = 1_000_000;

/** The changed content; the note lists the lines of the old content at which something was replaced. */
function replaced(
  { path, oldText, newText, replaceAll = false }: EditArguments,
  present: Uint8Array,
  mostBytes: number,
): FileChange {
  const text = decode(path, present);
  const found = occurrences(text, oldText);
  if (found.length === 0)
    throw new CountersignError(
      'text_not_found',
      `${path} does not hold this text${nearMiss(text, oldText)}; read the file and copy the text exactly`,
    );
  if (found.length > MOST_REPLACEMENTS)
    throw new CountersignError(
      'text_not_unique',
      `the text occurs more than ${MOST_REPLACEMENTS} times in ${path}; take in more of the surrounding text, or use shell`,
    );
  const lines = linesOf(text, found);
  if (found.length > 1 && !replaceAll) {
    const where = lines.slice(0, 20).join(', ') + (lines.length > 20 ? ', …' : '');
    throw new CountersignError(
      'text_not_unique',
      `the text occurs ${found.length} times in ${path}, at lines ${where}; take in more of the surrounding text, or set replaceAll`,
    );
  }
  // Before it is made: it may be larger than memory. In UTF-8 no character is shorter than in a string.
  if (text.length + found.length * (newText.length - oldText.length) > mostBytes)
    throw new CountersignError('file_too_large', `${path} would be larger than ${mostBytes} bytes (limits.fileBytes)`);
  // Not String.replace: in its replacement text a dollar sign has a meaning.
  const changed = text.split(oldText).join(newText);
  return { bytes: textBytes(changed), note: lines.slice(0, 1_000) };
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    // What cannot be decoded cannot be written back unharmed; a byte order mark is kept as it is.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CountersignError(
      'binary_file',
      `${path} is no UTF-8 text, so editing it would harm it; use write, or shell with a fitting tool`,
    );
  }
}

/** Positions, one more than may be replaced at most. */
function occurrences(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    if (found.push(at) > MOST_REPLACEMENTS) break;
  }
  return found;
}

/** Line numbers, from 1, of ascending positions. */
function linesOf(text: string, positions: readonly number[]): number[] {
  let line = 1;
  // Looked for once, also where there is none: a file may be one long line.
  let end = text.indexOf('\n');
  return positions.map((position) => {
    for (; end !== -1 && end < position; end = text.indexOf('\n', end + 1)) line += 1;
    return line;
  });
}

/** The usual slips: other line ends, other indentation. */
function nearMiss(text: string, wanted: string): string {
  if (text.length > 1_000_000) return '';
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(wanted))
    return ' with these line breaks (its lines end in \\r\\n)';
  const bare = (value: string): string => value.replace(/[ \t]+/g, ' ').replace(/^ | $/gm, '');
  return bare(text).includes(bare(wanted)) ? ' with these blanks (the indentation differs)' : '';
}
