import { setImmediate } from 'node:timers/promises';
import { Type, type Static } from 'typebox';
import { CountersignError } from '../protocol/errors.ts';
import { count, named, OPTIONAL_PATH, QUICK_LIMITS } from './common.ts';
import { defineTool, type ToolOutput } from './define-tool.ts';
import { imageTypeOf } from './image-type.ts';

const parameters = Type.Object(
  {
    path: OPTIONAL_PATH('File to read; or give `artifact`.'),
    artifact: Type.Optional(
      Type.String({
        pattern: '^sha256:[0-9a-f]{64}$',
        description: 'Hash of an artifact to read instead of a file, as an earlier output named it.',
      }),
    ),
    offset: Type.Optional(Type.Integer({ minimum: 1, description: 'First line to read; the first of all is 1.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Number of lines; 400 unless said otherwise.' }),
    ),
  },
  { additionalProperties: false },
);

export type ReadArguments = Static<typeof parameters>;

const DEFAULT_LINES = 400;
/** Content of one page; leaves room for the rest of the output below the model's limit. */
const PAGE_BYTES = 14 * 1024;
/** Images past this are no use to a model. */
const IMAGE_BYTES = 10 * 1024 * 1024;

/** Reads text by lines, or an image as image content. */
export const readTool = defineTool({
  name: 'read',
  label: 'Read file',
  description:
    'Reads a text file of the workspace by lines, or an image (png, jpg, gif, webp) as image content. ' +
    'Long files come in pages of at most 400 lines or 14 KB; the output says the next offset. With `artifact` it pages output that was too long.',
  parameters,
  tier: 'read_only',
  effect: 'read',
  limits: QUICK_LIMITS,
  groups: ['group:fs', 'group:fs-read'],
  needs: ['files', 'artifacts'],
  version: 1,
  check: ({ path, artifact }) =>
    (path === undefined) === (artifact === undefined)
      ? { field: '/path', message: 'give either "path" (a file) or "artifact" (a hash), one of them' }
      : undefined,
  subjects: ({ path }) => (path === undefined ? [] : [{ kind: 'path', argument: 'path', path, access: 'read' }]),
  summary: ({ path, artifact, offset }) =>
    `read: ${named(path ?? artifact ?? '')}${offset === undefined ? '' : ` from line ${offset}`}`,
  async execute({ path, artifact, offset = 1, limit = DEFAULT_LINES }, { files, artifacts }): Promise<ToolOutput> {
    const source =
      artifact === undefined ? await files.read(path ?? '') : { ...(await artifacts.get(artifact)), path: artifact };
    const image = imageTypeOf(source.bytes);
    if (image !== undefined) return imageOutput(source.path, source.bytes, image);
    refuseBinary(source.path, source.bytes);
    return pageOutput(source.path, source.bytes, offset, limit);
  },
});

function imageOutput(path: string, bytes: Uint8Array, mediaType: string): ToolOutput {
  if (bytes.length > IMAGE_BYTES)
    throw new CountersignError(
      'file_too_large',
      `${path} is an image of ${count(bytes.length)} bytes; at most ${count(IMAGE_BYTES)} can be shown, so make a smaller copy first`,
    );
  return {
    output: {
      path,
      bytes: bytes.length,
      image: { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') },
    },
    display: `${path}: ${mediaType}, ${count(bytes.length)} bytes`,
  };
}

function refuseBinary(path: string, bytes: Uint8Array): void {
  // NUL in the first 8 KB is git's and ripgrep's sign of a binary file.
  if (bytes.subarray(0, 8_192).includes(0))
    throw new CountersignError(
      'binary_file',
      `${path} is no text (${count(bytes.length)} bytes); use stat for its size, or shell to convert it`,
    );
}

async function pageOutput(path: string, bytes: Uint8Array, offset: number, limit: number): Promise<ToolOutput> {
  const { total, start } = await countLines(bytes, offset);
  if (total === 0)
    return { output: { path, content: '', lines: 0, note: 'the file is empty' }, display: `${path} is empty` };
  if (offset > total)
    throw new CountersignError(
      'invalid_arguments',
      `${path} has ${count(total)} lines; use an offset from 1 to ${total}`,
      { field: '/offset' },
    );
  const page = pageOf(linesFrom(bytes, start).slice(0, Math.min(limit, total - offset + 1)));
  const last = offset - 1 + page.lines;
  const where = `lines ${count(offset)}–${count(last)} of ${count(total)}`;
  const note = [
    last < total ? `${where}; use offset=${last + 1}` : where,
    ...(page.cut ? [`line ${count(last)} is longer than a page and was cut`] : []),
  ].join('; ');
  return { output: { path, content: page.content, lines: total, note }, display: `${path}: ${where}` };
}

const LINE_BREAK = 0x0a;
/** Bytes that are looked at before others have their turn. */
const AT_ONCE = 4 * 1024 * 1024;

/** How many lines there are, and where the wanted one begins. By bytes: to take a large file apart into strings would hold up all other calls for seconds. */
async function countLines(bytes: Uint8Array, wanted: number): Promise<{ total: number; start: number }> {
  let total = 0;
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (bytes[at] !== LINE_BREAK) continue;
    total += 1;
    if (total === wanted - 1) start = at + 1;
  }
  // A line break ends a line; it doesn't begin an empty one at the end.
  return { total: bytes.length === 0 || bytes.at(-1) === LINE_BREAK ? total : total + 1, start };
}

/** The lines there, as far as a page can reach: none of its characters takes more than four bytes. */
function linesFrom(bytes: Uint8Array, start: number): string[] {
  const reach = bytes.subarray(start, start + 4 * (PAGE_BYTES + 1));
  // A byte order mark is one at the beginning only.
  return new TextDecoder('utf-8', { ignoreBOM: start > 0 }).decode(reach).split('\n');
}

/** As many whole lines as fit a page, at least one; a single line that doesn't fit is cut. */
function pageOf(lines: readonly string[]): { content: string; lines: number; cut: boolean } {
  const taken: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += jsonBytes(line) + 2;
    if (bytes > PAGE_BYTES && taken.length > 0) break;
    if (bytes > PAGE_BYTES) return { content: `${cutLine(line)}…`, lines: 1, cut: true };
    taken.push(line);
  }
  return { content: taken.join('\n'), lines: taken.length, cut: false };
}

/** Size inside a JSON string: what counts against the model's limit. A long line counts by its length at once. */
const jsonBytes = (line: string): number =>
  line.length > PAGE_BYTES ? line.length : Buffer.byteLength(JSON.stringify(line)) - 2;

function cutLine(line: string): string {
  let kept = line.slice(0, PAGE_BYTES);
  while (kept.length > 0 && jsonBytes(kept) > PAGE_BYTES - 64) kept = kept.slice(0, Math.floor(kept.length * 0.8));
  return kept.isWellFormed() ? kept : kept.slice(0, -1).toWellFormed();
}
