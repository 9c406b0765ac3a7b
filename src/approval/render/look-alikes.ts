/** What looks like something else: hosts in other letters, words of mixed scripts, text that runs from right to left. */
import { EMOJI } from './safe-text.ts';

/** A host that a call names, in the form in which it is connected to. */
export interface HostView {
  /** Lower case, other scripts as punycode (`xn--…`). */
  host: string;
  marks: HostMark[];
}

/** Words of a closed list, said in our own name. */
export const HOST_MARKS = {
  international: 'an international name, which may look like another one',
  written_otherwise: 'written in another form in the arguments',
  user_name: 'what stands before the @ is a user name, not the host',
  address: 'a number in place of a name',
} as const;
export type HostMark = keyof typeof HOST_MARKS;

const SHOWN_HOSTS = 10;

/** The hosts of all URLs in the texts, each once, as far as {@link SHOWN_HOSTS}. */
export function hostsIn(texts: readonly string[]): HostView[] {
  const found = new Map<string, HostView>();
  for (const text of texts) {
    for (const [url] of text.matchAll(/(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"`<>|;&(){}\\]{1,2000}/giu)) {
      const view = hostView(url);
      if (view !== undefined && !found.has(view.host)) found.set(view.host, view);
      if (found.size >= SHOWN_HOSTS) return [...found.values()];
    }
  }
  return [...found.values()];
}

function hostView(text: string): HostView | undefined {
  // The standard reads hosts so for the web's own schemes only.
  const url = URL.parse(text.replace(/^[a-z][a-z0-9+.-]*:/iu, 'https:'));
  if (url === null || url.hostname === '') return undefined;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  const authority = /^[^:]+:\/\/([^/?#]*)/u.exec(text)?.[1] ?? '';
  const written = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*$/, '')
    .replace(/\.$/, '');
  const marks: HostMark[] = [
    ...(host.split('.').some((label) => label.startsWith('xn--')) ? ['international' as const] : []),
    ...(written.toLowerCase() !== host ? ['written_otherwise' as const] : []),
    ...(authority.includes('@') ? ['user_name' as const] : []),
    ...(/^[\d.]+$|^\[/.test(host) ? ['address' as const] : []),
  ];
  return { host, marks };
}

/** Why a text is not what it seems. */
export const SIGHT_MARKS = {
  hidden: 'characters that are not seen; they are shown by number',
  mixed_scripts: 'letters of several scripts in one word',
  look_alike: 'letters that stand for plain ones',
  right_to_left: 'right-to-left letters: what is shown may be in another order than what runs',
} as const;
export type SightMark = keyof typeof SIGHT_MARKS;

const HIDDEN =
  /[\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?![\n\t\r])\p{Cc}|\r(?!\n)|(?! )\p{Zs}/u;
const RIGHT_TO_LEFT = String.raw`\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}`;
const RTL = new RegExp(`[${RIGHT_TO_LEFT}]`, 'u');
const OTHER = String.raw`[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]`;
const MIXED = new RegExp(String.raw`(?:[a-z]\p{M}*${OTHER})|(?:${OTHER}\p{M}*[a-z])`, 'iu');
/** Full-width, mathematical and other forms of plain letters and signs. */
const FORMS =
  /[\uFF01-\uFF5E\u{1D400}-\u{1D7FF}\u2100-\u214F\u24B6-\u24E9\u{1F130}-\u{1F189}\u2024\u2044\u2215\u29F8\u02D0\uA789]/u;

const EMOJIS = new RegExp(EMOJI, 'gu');

export function sightMarks(text: string): SightMark[] {
  // Emoji are joined by characters that are hidden anywhere else.
  const plain = text.replace(EMOJIS, '');
  return [
    ...(HIDDEN.test(plain) ? ['hidden' as const] : []),
    ...(MIXED.test(text) ? ['mixed_scripts' as const] : []),
    ...(FORMS.test(text) ? ['look_alike' as const] : []),
    ...(RTL.test(text) ? ['right_to_left' as const] : []),
  ];
}

const RTL_LETTERS = new RegExp(`[${RIGHT_TO_LEFT}]`, 'gu');

/**
 * A line in which both directions meet, or signs that a shell obeys stand among right-to-left letters, with these letters by
 * number: where they are reordered, what is read is not what runs. A line in one direction stays as it is.
 */
export const oneDirection = (line: string): string =>
  RTL.test(line) && /[A-Za-z/\\|;&$<>]/.test(line)
    ? line.replace(
        RTL_LETTERS,
        (letter) => `⟨U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
      )
    : line;
