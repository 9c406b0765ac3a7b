/** Paths as policy compares them: lexically, by whole segments. Making a path canonical needs the file system and happens before. */

/** Segments of an absolute or relative POSIX path, with `.` and `..` worked off; `..` past the start stays. */
export function segments(path: string): string[] {
  const out: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && out.length > 0 && out.at(-1) !== '..') out.pop();
    else if (part !== '..' || !path.startsWith('/')) out.push(part);
  }
  return out;
}

/** True when `path` is `root` or lies under it: `/a/bc` does not lie under `/a/b`. */
export function isUnder(path: readonly string[], root: readonly string[]): boolean {
  return root.length <= path.length && root.every((segment, index) => segment === path[index]);
}

/** The path from a folder, '' for the folder itself; undefined outside of it. Both are canonical. */
export function relativeTo(folder: string, canonical: string): string | undefined {
  if (canonical === folder) return '';
  const prefix = folder === '/' ? '/' : `${folder}/`;
  return canonical.startsWith(prefix) ? canonical.slice(prefix.length) : undefined;
}

/** Characters that some file systems drop from names, so that `.g‌it` and `.git` are one folder (git's own check, CVE-2014-9390). */
const IGNORABLE = /[\u00AD\u034F\u200B-\u200F\u202A-\u202E\u2060-\u2064\u206A-\u206F\uFE00-\uFE0F\uFEFF]/gu;

/** A segment as the most forgiving file system in use would read it: no case, no invisible characters, no trailing dots, streams or 8.3 names. */
export function foldSegment(segment: string): string {
  const plain = segment
    .normalize('NFKC')
    .replace(IGNORABLE, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return plain === 'git~1' ? '.git' : plain;
}

/**
 * A glob over whole paths: `*` and `?` stay within a segment, `**` spans segments, `{a,b}` is either. Everything else is itself.
 * Compiled to segment matchers rather than one expression, so that no pattern can take exponential time.
 */
export function pathGlob(glob: string): (path: readonly string[]) => boolean {
  const alternatives = compiled(glob);
  return (path) => alternatives.some((pattern) => reached(pattern, path)[pattern.length] === true);
}

/** Whether a {@link pathGlob} could match something below a folder: `db/*` below `db`, what starts with `**` below any. */
export function pathGlobBelow(glob: string): (folder: readonly string[]) => boolean {
  const alternatives = compiled(glob);
  return (folder) => alternatives.some((pattern) => reached(pattern, folder).slice(0, pattern.length).includes(true));
}

type SegmentMatcher = ((segment: string) => boolean) | undefined;

const compiled = (glob: string): SegmentMatcher[][] =>
  braces(glob).map((one) => segments(one).map((part) => (part === '**' ? undefined : segmentMatcher(part))));

/** For each number of a pattern's first matchers, none included: whether they match the whole path. */
function reached(pattern: readonly SegmentMatcher[], path: readonly string[]): boolean[] {
  // reachable[i]: the pattern so far matches the first i segments.
  let reachable = new Array<boolean>(path.length + 1).fill(false);
  reachable[0] = true;
  const whole = [path.length === 0];
  for (const matcher of pattern) {
    const next = new Array<boolean>(path.length + 1).fill(false);
    for (let i = 0; i <= path.length; i += 1) {
      if (matcher === undefined) next[i] = reachable[i] === true || (i > 0 && next[i - 1] === true);
      else next[i] = i > 0 && reachable[i - 1] === true && matcher(path[i - 1] ?? '');
    }
    reachable = next;
    whole.push(reachable[path.length] === true);
  }
  return whole;
}

function segmentMatcher(part: string): (segment: string) => boolean {
  if (!/[*?]/.test(part)) return (segment) => segment === part;
  return (segment) => matchText(part, segment);
}

/** `*` and `?` over one text, in time proportional to the product of the lengths. */
export function matchText(pattern: string, text: string): boolean {
  let p = 0;
  let star = -1;
  let mark = 0;
  for (let t = 0; t < text.length;) {
    if (p < pattern.length && pattern[p] !== '*' && (pattern[p] === '?' || pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (pattern[p] === '*') {
      star = p;
      mark = t;
      p += 1;
    } else if (star >= 0) {
      p = star + 1;
      mark += 1;
      t = mark;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

/** Whether a pattern of {@link matchText} matches some text that another stands for, in which `any` is one character for any text. */
export function overlaps(pattern: string, text: string, any: string): boolean {
  let at = new Set([0]);
  const skipStars = (): void => {
    for (const i of at) if (pattern[i] === '*') at.add(i + 1);
  };
  skipStars();
  for (const letter of text) {
    if (at.size === 0) return false;
    const next = new Set<number>();
    if (letter === any) for (let i = Math.min(...at); i <= pattern.length; i += 1) next.add(i);
    else
      for (const i of at) {
        if (pattern[i] === '*') next.add(i);
        else if (i < pattern.length && (pattern[i] === '?' || pattern[i] === letter)) next.add(i + 1);
      }
    at = next;
    skipStars();
  }
  return at.has(pattern.length);
}

/** Whether a pattern of {@link matchText} may match somewhere in a text: its literal pieces occur one after the other. */
export function occursIn(pattern: string, text: string): boolean {
  let from = 0;
  for (const piece of pattern.split(/[*?]+/)) {
    const at = text.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return true;
}

/** `{a,b}` written out; not nested. */
export function braces(glob: string): string[] {
  const match = /\{([^{}]*)\}/.exec(glob);
  if (match === null) return [glob];
  const [whole, inner = ''] = match;
  return inner
    .split(',')
    .flatMap((one) => braces(glob.slice(0, match.index) + one + glob.slice(match.index + whole.length)));
}
