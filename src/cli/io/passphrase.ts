/** Asks on the terminal itself, whatever stdin and stdout are, and shows nothing of the answer. */
import { openSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { CountersignError } from '../../protocol/errors.ts';

const MAX_LENGTH = 1_000;

/** @throws CountersignError `invalid_usage` where there is no terminal, or the question was not answered */
export async function askPassphrase(question: string): Promise<string> {
  let fd: number;
  try {
    fd = openSync('/dev/tty', 'r+');
  } catch (error) {
    throw new CountersignError(
      'invalid_usage',
      'The key has a passphrase, and there is no terminal to ask for it on.',
      { cause: error },
    );
  }
  const terminal = new ReadStream(fd);
  writeSync(fd, question);
  terminal.setRawMode(true);
  try {
    return await typed(terminal);
  } finally {
    terminal.setRawMode(false);
    writeSync(fd, '\n');
    terminal.destroy();
  }
}

function typed(terminal: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    const letters: string[] = [];
    const refuse = (): void => reject(new CountersignError('invalid_usage', 'The passphrase was not given.'));
    terminal.setEncoding('utf8');
    terminal.once('end', refuse);
    terminal.on('data', (chunk: string) => {
      for (const letter of chunk) {
        if (letter === '\r' || letter === '\n') return resolve(letters.join(''));
        // Ctrl-C and Ctrl-D; raw mode makes them letters.
        if (letter === '\u0003' || letter === '\u0004') return refuse();
        if (letter === '\u007f' || letter === '\b') letters.pop();
        else if (letter === '\u0015') letters.length = 0;
        else if (letters.length < MAX_LENGTH) letters.push(letter);
      }
    });
  });
}
