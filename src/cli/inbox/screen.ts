/** The terminal: its alternate screen, raw keys, and the way back to how it was, whatever happens. */
import type { ReadStream, WriteStream } from 'node:tty';
import { type Key, KeyReader } from './keys.ts';
import type { Size } from './state.ts';

/** Alternate screen; no cursor; no wrapping at the edge; pastes are marked. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[?2004h\u001b[2J';
const LEAVE = '\u001b[0m\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[?1049l';
/** The terminal shows all of an update at once, where it knows how. */
const [BEGIN_UPDATE, END_UPDATE] = ['\u001b[?2026h', '\u001b[?2026l'];

/** What comes this late after an escape character belongs to no sequence. */
const ESCAPE_MS = 50;

export interface Terminal {
  input: ReadStream;
  output: WriteStream;
}

export class Screen {
  readonly #terminal: Terminal;
  readonly #keys = new KeyReader();
  readonly #onKey: (key: Key) => void;
  #drawn: string[] = [];
  #entered = false;
  #flush: NodeJS.Timeout | undefined;

  constructor(terminal: Terminal, onKey: (key: Key) => void) {
    this.#terminal = terminal;
    this.#onKey = onKey;
  }

  get size(): Size {
    const { columns, rows } = this.#terminal.output;
    return { columns: columns || 80, rows: rows || 24 };
  }

  enter(): void {
    if (this.#entered) return;
    this.#entered = true;
    const { input, output } = this.#terminal;
    this.#drawn = [];
    input.setEncoding('utf8').setRawMode(true);
    input.on('data', this.#read).resume();
    output.write(ENTER);
  }

  /** Synchronous, harmless when repeated: it runs when the process ends, too. */
  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    clearTimeout(this.#flush);
    const { input, output } = this.#terminal;
    input.off('data', this.#read).pause();
    try {
      input.setRawMode(false);
      output.write(LEAVE);
    } catch {
      // The terminal itself is gone; there is nothing to restore.
    }
  }

  /** One string a row. Only rows that differ from what stands there are written. */
  draw(lines: readonly string[]): void {
    if (!this.#entered) return;
    const changed = lines.flatMap((line, i) =>
      // Erased before: after a line that fills the row, the cursor stands on its last character.
      line === this.#drawn[i] ? [] : [`\u001b[${i + 1};1H\u001b[0m\u001b[2K${line}\u001b[0m`],
    );
    this.#drawn = [...lines];
    if (changed.length > 0) this.#terminal.output.write(`${BEGIN_UPDATE}${changed.join('')}${END_UPDATE}`);
  }

  /** Forgets what stands there: something else may have written on it. */
  forget(): void {
    this.#drawn = [];
    if (this.#entered) this.#terminal.output.write('\u001b[0m\u001b[2J');
  }

  readonly #read = (chunk: Buffer | string): void => {
    clearTimeout(this.#flush);
    const keys = this.#keys.read(String(chunk));
    if (this.#keys.waits) this.#flush = setTimeout(() => this.#keys.flush().forEach(this.#onKey), ESCAPE_MS);
    keys.forEach(this.#onKey);
  };
}
