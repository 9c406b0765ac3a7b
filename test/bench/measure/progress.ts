/** The line that says how far the run is. Its guess of the time left comes from what this run has measured so far. */
import { styleText } from 'node:util';

export interface Part {
  name: string;
  /** What it took on the machine of docs/performance.md. */
  seconds: number;
}

const WIDTH = 24;
/** Where no terminal shows a line that changes, a new one this often. */
const QUIET_MS = 20_000;

export class Progress {
  readonly #parts: readonly Part[];
  readonly #since = performance.now();
  #done = 0;
  #current: Part | undefined;
  #fraction = 0;
  #detail = '';
  #printedAt = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  begin(name: string): void {
    this.#current = this.#parts.find((part) => part.name === name);
    this.at(0);
  }

  /** `part` of the current row's work, 0 to 1. */
  at(part: number, detail = ''): void {
    this.#fraction = Math.min(1, part);
    this.#detail = detail;
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${this.#line()}`);
    else if (part === 0 || performance.now() - this.#printedAt > QUIET_MS) this.#print();
  }

  end(): void {
    this.#done += this.#current?.seconds ?? 0;
    this.#current = undefined;
    this.#fraction = 0;
  }

  /** A sentence that stays, above the line. */
  say(text: string): void {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}\n${this.#line()}`);
    else process.stderr.write(`${text}\n`);
  }

  finish(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  }

  #print(): void {
    this.#printedAt = performance.now();
    process.stderr.write(`${this.#line()}\n`);
  }

  #line(): string {
    const total = this.#parts.reduce((sum, { seconds }) => sum + seconds, 0);
    const done = this.#done + (this.#current?.seconds ?? 0) * this.#fraction;
    const elapsed = (performance.now() - this.#since) / 1_000;
    // Until some of it is done, the table's guess is the better one.
    const pace = done > 5 ? elapsed / done : 1;
    const filled = Math.round((done / total) * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    const what = [this.#current?.name, this.#detail].filter(Boolean).join(': ');
    const left = clock(Math.max(0, total - done) * pace);
    return `${styleText('cyan', bar, { stream: process.stderr })} ${clock(elapsed)}, about ${left} left · ${what}`;
  }
}

/** `4:05` */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
