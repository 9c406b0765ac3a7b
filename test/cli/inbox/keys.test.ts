import { describe, expect, it } from 'vitest';
import { type Key, KeyReader } from '../../../src/cli/inbox/keys.ts';

const read = (...chunks: string[]): Key[] => {
  const reader = new KeyReader();
  return chunks.flatMap((chunk) => reader.read(chunk));
};
const text = (text: string): Key => ({ name: 'text', text });

describe('keys', () => {
  it.each<[string, Key[]]>([
    ['y', [text('y')]],
    ['ä👍', [text('ä'), text('👍')]],
    ['\r', [{ name: 'enter' }]],
    ['\n', [{ name: 'enter' }]],
    ['\t', [{ name: 'tab' }]],
    ['\u007f\b', [{ name: 'backspace' }, { name: 'backspace' }]],
    ['\u0003', [{ name: 'ctrl', letter: 'c' }]],
    ['\u0015', [{ name: 'ctrl', letter: 'u' }]],
    ['\u0000', []],
    ['\u001b[A\u001b[B', [{ name: 'up' }, { name: 'down' }]],
    ['\u001bOA', [{ name: 'up' }]],
    ['\u001b[5~\u001b[6~', [{ name: 'page_up' }, { name: 'page_down' }]],
    ['\u001b[1~\u001b[F', [{ name: 'home' }, { name: 'end' }]],
    ['\u001b[1;5Cy', [text('y')]],
    ['\u001b[38;5;1mq', [text('q')]],
    ['\u001b\u001b[A', [{ name: 'escape' }, { name: 'up' }]],
    ['\u001by', [{ name: 'escape' }, text('y')]],
  ])('%j', (chunk, keys) => {
    expect(read(chunk)).toEqual(keys);
  });

  it('go on in the next piece', () => {
    expect(read('\u001b', '[', 'A', 'y')).toEqual([{ name: 'up' }, text('y')]);
  });

  it('Escape is one where nothing follows', () => {
    const reader = new KeyReader();
    expect([reader.read('\u001b'), reader.waits, reader.flush(), reader.waits, reader.flush()]).toEqual([
      [],
      true,
      [{ name: 'escape' }],
      false,
      [],
    ]);
    expect(reader.read('y')).toEqual([text('y')]);
  });

  it('a paste is one, with all that is in it', () => {
    const paste: Key[] = [{ name: 'paste', text: 'y\r\u001b[A' }, text('q')];
    expect(read('\u001b[200~y\r\u001b[A\u001b[201~q')).toEqual(paste);
    expect(read('\u001b[20', '0~y\r\u001b', '[A\u001b[2', '01', '~q')).toEqual(paste);
  });

  it('a paste without an end is no key, and is cut', () => {
    const reader = new KeyReader();
    expect([reader.read(`\u001b[200~${'y'.repeat(50_000)}`), reader.waits, reader.flush()]).toEqual([[], false, []]);
    expect(reader.read('\u001b[201~')).toEqual([{ name: 'paste', text: 'y'.repeat(10_000) }]);
  });
});
