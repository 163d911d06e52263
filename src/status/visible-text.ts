/**
 * Characters that are not seen but change how others are read: controls, directions of writing, zero
 * width, separators of lines, tags, halves of surrogate pairs. Line feeds and tabs stay, and so do the
 * joiners that some scripts and emoji need.
 */
const unseen =
  /(?![\t\n])\p{Cc}|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

/** Fonts often lack the pictures that Unicode has for control characters; they all have these. */
function signOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** The text with a visible sign in place of each character that nobody can see. */
export function visibleText(text: string): string {
  return text.replace(unseen, signOf);
}
