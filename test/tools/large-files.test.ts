/** Tools run in the worker's own thread: what takes one of them seconds there holds up the heartbeats of all others. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/protocol/json.ts';
import { codeOf, contextOf, outputOf, scratch } from '../context/support.ts';

/** The longest time for which nothing else went on meanwhile, in milliseconds. */
async function heldUp(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(tick, 5);
  try {
    await work();
    await new Promise((done) => setTimeout(done, 20));
  } finally {
    clearInterval(timer);
  }
  return longest;
}

const BYTES = 80_000_000;

describe('a large file holds nothing up', () => {
  const CASES: readonly (readonly [what: string, tool: string, content: string, args: JsonObject, answer: unknown])[] =
    [
      ['of line breaks', 'read', '\n'.repeat(BYTES), { limit: 2 }, { content: '\n', lines: BYTES }],
      ['of line breaks, to its end', 'read', '\n'.repeat(BYTES), { offset: BYTES }, { content: '', lines: BYTES }],
      ['of one line', 'read', 'a'.repeat(BYTES), {}, { lines: 1 }],
      [
        'of one line',
        'edit',
        'a'.repeat(500_000),
        { oldText: 'a', newText: 'bb', replaceAll: true },
        { replacements: 1_000 },
      ],
      [
        'of too many places',
        'edit',
        'a'.repeat(BYTES),
        { oldText: 'a', newText: 'b', replaceAll: true },
        'text_not_unique',
      ],
      [
        'that would be too large',
        'edit',
        'a'.repeat(900_000),
        { oldText: 'a', newText: 'b'.repeat(90_000), replaceAll: true },
        'file_too_large',
      ],
      ['with other line ends', 'edit', '\r\n'.repeat(BYTES / 2), { oldText: 'x\n', newText: 'y' }, 'text_not_found'],
    ];
  it.each(CASES)('%s: %s', async (_, tool, content, args, answer) => {
    const folders = scratch();
    writeFileSync(join(folders.workspace, 'f'), content);
    const context = await contextOf(folders);
    let got: unknown;
    const held = await heldUp(async () => (got = await codeOf(outputOf(tool, { path: 'f', ...args }, context))));
    if (typeof answer === 'string') expect(got).toBe(answer);
    else expect((got as { value?: unknown }).value ?? got).toMatchObject(answer as object);
    expect(held).toBeLessThan(1_000);
  });
});

it('a page is the lines of the text, wherever it begins', async () => {
  const folders = scratch();
  const context = await contextOf(folders);
  const piece = fc.constantFrom('a', 'ö', '😀', '\uFEFF', '\r', '\n', '\n', '"', 'x'.repeat(3_000));
  const any = fc.record({
    pieces: fc.array(piece, { minLength: 1, maxLength: 30 }),
    offset: fc.nat(12),
    limit: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(any, async ({ pieces, offset, limit }) => {
      writeFileSync(join(folders.workspace, 'f'), pieces.join(''));
      const lines = new TextDecoder().decode(Buffer.from(pieces.join(''))).split('\n');
      if (lines.at(-1) === '') lines.pop();
      const args = { path: 'f', offset: offset + 1, limit: limit + 1 };
      if (offset >= lines.length) return;
      const { content, lines: total } = await outputOf('read', args, context);
      const wanted = lines.slice(offset, offset + limit + 1).join('\n');
      expect(total).toBe(lines.length);
      if (Buffer.byteLength(JSON.stringify(wanted)) < 13_000) expect(content).toBe(wanted);
      else expect(wanted.startsWith(String(content).slice(0, -1))).toBe(true);
    }),
    { numRuns: 300 },
  );
});
