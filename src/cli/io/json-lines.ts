/** Reads JSON Lines that anybody may have written: never more than a line's limit is kept, whatever comes. */

export type InputLine = { line: number; text: string } | { line: number; tooLong: true };

const NEWLINE = 0x0a;

/** Lines of a byte stream, numbered from 1. Blank ones are left out; of one over `maxBytes` only its number is told. */
export async function* readLines(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<InputLine> {
  let line = 1;
  let parts: Uint8Array[] = [];
  let bytes = 0;
  const take = (part: Uint8Array): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };
  const finish = (): InputLine | undefined => {
    const ended = lineOf(line, bytes > maxBytes, parts);
    line += 1;
    parts = [];
    bytes = 0;
    return ended;
  };
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE, from); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, end));
      const ended = finish();
      if (ended) yield ended;
      from = end + 1;
    }
    take(chunk.subarray(from));
  }
  const rest = finish();
  if (rest) yield rest;
}

function lineOf(line: number, tooLong: boolean, parts: Uint8Array[]): InputLine | undefined {
  if (tooLong) return { line, tooLong };
  const text = Buffer.concat(parts).toString('utf8').trim();
  return text === '' ? undefined : { line, text };
}
