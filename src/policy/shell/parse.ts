/** The first parser, asked once for each text: several steps of one judgement read the same line. */
import { type ParsedScript, parse } from 'unbash';

/** Texts that are remembered, and the longest of them; a judgement has a line and what is nested in it. */
const REMEMBERED = 64;
const LENGTH = 16_384;

/** A pure function that remembers its last answers. Nothing that it throws is remembered. */
export function remembered<Answer>(read: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const answer = read(text);
    if (text.length <= LENGTH) known.set(text, answer);
    if (known.size > REMEMBERED) known.delete(known.keys().next().value as string);
    return answer;
  };
}

/** Throws where the parser gives up. Whoever reads the tree leaves it as it is. */
export const parsed: (text: string) => ParsedScript = remembered((text) => parse(text));
