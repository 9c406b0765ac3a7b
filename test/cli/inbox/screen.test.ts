/** What is written on the terminal for a drawing. */
import { PassThrough } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import { expect, it } from 'vitest';
import { Screen } from '../../../src/cli/inbox/screen.ts';

function screenOf(): { screen: Screen; written(): string } {
  const input = Object.assign(new PassThrough(), { setRawMode: () => input }) as unknown as ReadStream;
  let text = '';
  const output = { columns: 4, rows: 2, write: (more: string) => ((text += more), true) } as unknown as WriteStream;
  const screen = new Screen({ input, output }, () => undefined);
  const written = (): string => {
    const since = text;
    text = '';
    return since;
  };
  return { screen, written };
}

it('a row is erased before it is written, so that its last column stays', () => {
  const { screen, written } = screenOf();
  screen.enter();
  written();
  screen.draw(['abcd', 'ef']);
  expect(written()).toBe(
    '\u001b[?2026h\u001b[1;1H\u001b[0m\u001b[2Kabcd\u001b[0m\u001b[2;1H\u001b[0m\u001b[2Kef\u001b[0m\u001b[?2026l',
  );
  screen.draw(['abcd', 'gh']);
  expect(written()).toBe('\u001b[?2026h\u001b[2;1H\u001b[0m\u001b[2Kgh\u001b[0m\u001b[?2026l');
  screen.leave();
});
