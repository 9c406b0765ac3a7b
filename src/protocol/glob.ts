/** How large a glob may be. Braces are written out before anything is compared, and their alternatives multiply. */
export const GLOB_LIMITS = {
  /** Characters. */
  length: 1_000,
  /** Alternatives that its braces stand for, written out: `{a,b}/{c,d}` has 4. */
  alternatives: 64,
} as const;

/** True where a glob keeps to {@link GLOB_LIMITS}; takes time proportional to its length. */
export const isBoundedGlob = (glob: string): boolean =>
  glob.length <= GLOB_LIMITS.length && alternatives(glob) <= GLOB_LIMITS.alternatives;

/** As they would be written out, innermost braces first; a brace without its partner is a character like others. */
function alternatives(glob: string): number {
  let product = 1;
  const open: number[] = [];
  for (const character of glob) {
    if (character === '{') open.push(1);
    else if (character === ',' && open.length > 0) open.push((open.pop() ?? 1) + 1);
    // Braces around one alternative count as two: they take a pass over the glob like others.
    else if (character === '}' && open.length > 0) product *= Math.max(2, open.pop() ?? 0);
  }
  return product;
}
