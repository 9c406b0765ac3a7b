import { describe, expect, it } from 'vitest';
import { parseCallLine } from '../../../src/cli/calls/call-lines.ts';
import { type InputLine, readLines } from '../../../src/cli/io/json-lines.ts';

async function* chunks(...texts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield typeof text === 'string' ? Buffer.from(text) : text;
}

async function all(maxBytes: number, ...texts: (string | Uint8Array)[]): Promise<InputLine[]> {
  const lines: InputLine[] = [];
  for await (const line of readLines(chunks(...texts), maxBytes)) lines.push(line);
  return lines;
}

describe('reading lines', () => {
  it('numbers them from 1 and leaves blank ones out', async () => {
    expect(await all(100, 'a\n\n  \nb\r\nc')).toEqual([
      { line: 1, text: 'a' },
      { line: 4, text: 'b' },
      { line: 5, text: 'c' },
    ]);
  });

  it('puts lines together that come in pieces, also in the middle of a character', async () => {
    const bytes = Buffer.from('é\nü');
    expect(await all(100, bytes.subarray(0, 1), bytes.subarray(1, 4), bytes.subarray(4))).toEqual([
      { line: 1, text: 'é' },
      { line: 2, text: 'ü' },
    ]);
  });

  it('tells of a line that is too long, and goes on behind it', async () => {
    expect(await all(5, 'aaa', 'aaa\nbbbbb\n', 'c'.repeat(1_000_000))).toEqual([
      { line: 1, tooLong: true },
      { line: 2, text: 'bbbbb' },
      { line: 3, tooLong: true },
    ]);
  });

  it('gives nothing for nothing', async () => {
    expect(await all(5)).toEqual([]);
    expect(await all(5, '\n\n')).toEqual([]);
  });
});

describe('a line of call --jsonl', () => {
  const parse = (text: string) => {
    const named = { callId: null, session: null, tool: null };
    return { call: parseCallLine({ line: 7, text }, named), named };
  };

  it('has a tool, arguments, and maybe session and call id; other keys are ignored', () => {
    expect(
      parse('{"tool":"list","arguments":{"path":"."},"session":"s","callId":"c","kind":"main","verdict":"run"}').call,
    ).toEqual({
      tool: 'list',
      arguments: { path: '.' },
      session: 's',
      callId: 'c',
    });
    expect(parse('{"tool":"list"}').call).toEqual({ tool: 'list', arguments: {} });
  });

  it.each([
    ['{"arguments":{}}', 'invalid_usage'],
    ['{"tool":7}', 'invalid_usage'],
    ['{"__proto__":{"tool":"list"}}', 'invalid_usage'],
    ['[]', 'invalid_json'],
    ['null', 'invalid_json'],
    ['{"tool":"list"', 'invalid_json'],
    ['{"tool":"list","session":"a/b"}', 'invalid_id'],
    ['{"tool":"list","session":""}', 'invalid_id'],
    ['{"tool":"list","callId":"a/b"}', 'invalid_id'],
    ['{"tool":"list","callId":null}', 'invalid_id'],
  ])('%s is refused as %s', (text, code) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code }));
  });

  it('is known by as many of its names as are valid, though it is refused', () => {
    const named = { callId: null, session: null, tool: null };
    expect(() => parseCallLine({ line: 1, text: '{"tool":"list","session":"s","callId":"a/b"}' }, named)).toThrow(
      'callId',
    );
    expect(named).toEqual({ callId: null, session: 's', tool: 'list' });
  });
});
