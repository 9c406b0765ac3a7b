/**
 * Text that a model wrote, made safe to look at: what a terminal would obey, and what an eye would not see or would see
 * in another order, is shown by its number. An approver must see what runs (cf. Unicode TR 36 and "Trojan Source", CVE-2021-42574).
 */

/** Emoji with their joiners stay whole; in any other place joiners and variation selectors are marked. */
const EMOJI = String.raw`\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?)*`;
const HIDDEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`;
const PATTERN = new RegExp(`(${EMOJI})|${HIDDEN}`, 'gu');

const mark = (character: string): string =>
  `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`;

/** Keeps line breaks and tabs; marks all else that is not plainly visible. */
export function safeText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(PATTERN, (found, emoji: string | undefined) =>
      emoji !== undefined || found === '\n' || found === '\t' ? found : mark(found),
    );
}

/** {@link safeText} on one line: line breaks become `⏎`. */
export const safeLine = (text: string): string => safeText(text).replaceAll('\n', '⏎').replaceAll('\t', ' ');

/** The same JSON value, with everything hidden written as `\u…`. */
export const safeJson = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, undefined, indent) ?? 'null').replace(PATTERN, (found, emoji: string | undefined) =>
    emoji !== undefined || found === '\n' ? found : escaped(found),
  );

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
