/**
 * Text that a model wrote, made safe to look at: what a terminal would obey, and what an eye would not see or would see
 * in another order, is shown by its number. An approver must see what runs (cf. Unicode TR 36 and "Trojan Source", CVE-2021-42574).
 */

/** Emoji with up to five joiners stay whole; in any other place joiners and variation selectors are marked. */
export const EMOJI = String.raw`\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?){0,5}`;
const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
/** Blanks that pass for the plain one and mean something else to a shell; the braille pattern without dots is one to the eye. */
const BLANKS = String.raw`(?! )\p{Zs}|\u2800`;
/** Scripts stack marks by twos and threes; more of them cover the lines above and below. */
const STACKED = String.raw`(?<=\p{M}{4})\p{M}`;
/** Our own mark, written by somebody else. */
const FORGED = String.raw`⟨(?=U\+)`;
const PATTERN = new RegExp(`(${EMOJI})|${HIDDEN}|${BLANKS}|${STACKED}|${FORGED}`, 'gu');

const mark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Keeps line breaks and tabs; marks all else that is not plainly visible. */
export const safeText = (text: string): string => shown(text.replaceAll('\r\n', '\n'));

/** {@link safeText} that takes no carriage return for a line break: what is shown is what is there, to the character. */
export const exactText = (text: string): string => shown(text);

const shown = (text: string): string =>
  text.replace(PATTERN, (found, emoji: string | undefined) =>
    emoji !== undefined || found === '\n' || found === '\t' ? found : mark(found),
  );

const PIECE = new RegExp(`${EMOJI}|[^]`, 'gu');

/** The text's characters, with what is joined into one emoji as one. */
export const charactersOf = (text: string): string[] => text.match(PIECE) ?? [];

/** {@link safeText} on one line: line breaks become `⏎`. */
export const safeLine = (text: string): string =>
  safeText(text).replaceAll('⏎', mark('⏎')).replaceAll('\n', '⏎').replaceAll('\t', ' ');

/** The same JSON value, with everything hidden written as `\u…`. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? 'null').replace(PATTERN, (found, emoji: string | undefined) =>
    emoji !== undefined || found === '\n' || found === '⟨' ? found : escaped(found),
  );

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
