import { printable } from '../model/line-text.ts';

const combining = /\p{M}/u;
/** Characters that take two cells of a terminal: wide East Asian ones and emoji. */
const wide =
  /[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Longer lines are cut: a file may be one line of a megabyte. */
const longestExcerpt = 160;
const contextBefore = 60;

export interface SourceExcerpt {
  /** The line, safe to print, perhaps cut. */
  readonly text: string;
  /** Marks the place if it is printed below `text`. */
  readonly carets: string;
}

/** Each tab or control character as one cell. */
function visible(text: string): string {
  return Array.from(text.replaceAll('\t', ' '), (character) =>
    printable(character) === character ? character : '\u{fffd}',
  ).join('');
}

function widthOf(text: string): number {
  return Array.from(text).reduce((width, character) => {
    if (combining.test(character)) return width;
    return width + (wide.test(character) ? 2 : 1);
  }, 0);
}

/**
 * Marks `length` UTF-16 code units of a line, from `column` (from 1), with carets below them. The
 * carets are aligned in a terminal whatever the line holds.
 */
export function excerptOf(line: string, column: number, length: number): SourceExcerpt {
  const from = column - 1;
  const start = line.length > longestExcerpt && from > contextBefore ? from - contextBefore : 0;
  const end = Math.min(line.length, start + longestExcerpt);
  const until = Math.min(from + Math.max(1, length), end);
  const before = (start > 0 ? '…' : '') + visible(line.slice(start, from));
  const marked = visible(line.slice(from, until));
  const after = visible(line.slice(until, end)) + (end < line.length ? '…' : '');
  return {
    text: (before + marked + after).trimEnd(),
    carets: ' '.repeat(widthOf(before)) + '^'.repeat(Math.max(1, widthOf(marked))),
  };
}
