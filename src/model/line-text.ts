/** Characters that no name or label may have: they end lines, move the cursor, or are half a character. */
export const controls: string = String.raw`\p{Cc}\p{Cs}`;
/** Characters that would also hide or reorder the text around them, for a class of a regular expression. */
export const unprintable: string = String.raw`${controls}\p{Cf}\p{Zl}\p{Zp}`;

const control = new RegExp(`[${controls}]`, 'u');
const eachUnprintable = new RegExp(`[${unprintable}]`, 'gu');
const gaps = new RegExp(String.raw`[\s${unprintable}]+`, 'gu');

/** Whether a text cannot be a name, a label or a header. */
export function holdsControl(text: string): boolean {
  return control.test(text);
}

/** Writes control characters and the like as `\u{…}`, so that a name or a message stays on one line. */
export function printable(text: string): string {
  return text.replaceAll(
    eachUnprintable,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** A foreign sentence on one line: a space for all that cannot be printed, and cut if it is too long. */
export function onOneLine(text: string, maxCharacters: number): string {
  return cutText(text.replaceAll(gaps, ' ').trim(), maxCharacters);
}

/** The text, or its beginning with an ellipsis if it has more characters than that. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  // Code points, so that no pair of surrogates is torn apart.
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 1));
  return characters.length <= maxCharacters
    ? text
    : `${characters.slice(0, maxCharacters - 1).join('')}\u2026`;
}
