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

interface Cell {
  readonly shown: string;
  readonly width: number;
}

function cellOf(character: string): Cell {
  if (character === '\t') return { shown: ' ', width: 1 };
  if (printable(character) !== character) return { shown: '\u{fffd}', width: 1 };
  if (combining.test(character)) return { shown: character, width: 0 };
  return { shown: character, width: wide.test(character) ? 2 : 1 };
}

/**
 * Marks `length` UTF-16 code units of a line, from `column` (from 1), with carets below them. The
 * carets are aligned in a terminal whatever the line holds: each tab or control character is replaced
 * by one cell, and wide characters count twice.
 */
export function excerptOf(line: string, column: number, length: number): SourceExcerpt {
  const from = column - 1;
  const cutBefore = line.length > longestExcerpt && from > contextBefore ? from - contextBefore : 0;
  const cutAfter = Math.min(line.length, cutBefore + longestExcerpt);
  const until = Math.min(from + Math.max(1, length), cutAfter);
  let text = cutBefore > 0 ? '…' : '';
  let indent = text.length;
  let marked = 0;
  let offset = cutBefore;
  for (const character of line.slice(cutBefore, cutAfter)) {
    const cell = cellOf(character);
    if (offset < from) indent += cell.width;
    else if (offset < until) marked += cell.width;
    text += cell.shown;
    offset += character.length;
  }
  if (cutAfter < line.length) text += '…';
  return {
    text: text.trimEnd(),
    carets: ' '.repeat(indent) + '^'.repeat(Math.max(1, marked)),
  };
}
