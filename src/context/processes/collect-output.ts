/** Output of a command as it comes: kept up to a cap, then read on and dropped, so that the command neither blocks nor fills memory. */

/** For both streams together. */
export const MAX_OUTPUT_BYTES = 100 * 1024 * 1024;
const DISPLAY_PART = 32 * 1024;

type Stream = 'stdout' | 'stderr';

export interface Collected {
  stdout: Uint8Array;
  stderr: Uint8Array;
  interleaved: Uint8Array;
  capped: boolean;
}

export class OutputCollector {
  readonly #chunks: Record<Stream, Buffer[]> = { stdout: [], stderr: [] };
  readonly #display = new HeadAndTail(DISPLAY_PART);
  #bytes = 0;
  #capped = false;

  add(stream: Stream, chunk: Buffer): void {
    this.#display.add(chunk);
    const room = MAX_OUTPUT_BYTES - this.#bytes;
    if (chunk.length > room) this.#capped = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    this.#bytes += kept.length;
    this.#chunks[stream].push(kept);
  }

  /** Once; lets go of the pieces. */
  finish(): Collected {
    const whole = (stream: Stream): Uint8Array => Buffer.concat(this.#chunks[stream].splice(0));
    return {
      stdout: whole('stdout'),
      stderr: whole('stderr'),
      interleaved: this.#display.bytes(),
      capped: this.#capped,
    };
  }
}

/** The first and the last bytes of a stream; all of it while it is short. */
class HeadAndTail {
  readonly #part: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #dropped = 0;

  constructor(part: number) {
    this.#part = part;
  }

  add(chunk: Buffer): void {
    const head = chunk.subarray(0, this.#part - this.#headBytes);
    // Copies: a piece of a 64 KB chunk would keep the whole of it.
    if (head.length > 0) this.#head.push(Buffer.from(head));
    this.#headBytes += head.length;
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest.subarray(-this.#part)));
    this.#dropped += Math.max(0, rest.length - this.#part);
    this.#tailBytes += Math.min(rest.length, this.#part);
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#part) {
      const first = this.#tail.shift();
      this.#tailBytes -= first?.length ?? 0;
      this.#dropped += first?.length ?? 0;
    }
  }

  bytes(): Uint8Array {
    const gap = this.#dropped > 0 ? [Buffer.from(`\n[… ${this.#dropped} bytes …]\n`)] : [];
    return Buffer.concat([...this.#head, ...gap, ...this.#tail]);
  }
}
