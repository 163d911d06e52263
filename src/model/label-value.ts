import { createHash } from 'node:crypto';
import { controls } from './shown-text.ts';

const maxCodePoints = 256;
const hashDigits = 12;
const replacement = '\u{FFFD}';

const printableAscii = /^[\x20-\x7E]*$/;
/** Control characters, lone surrogates, and the marks that reorder the text around them. */
const unsafeInLabel = new RegExp(String.raw`[${controls}\u202A-\u202E\u2066-\u2069]`, 'gu');

/**
 * Makes a label value of a foreign text. One unsafe character could spoil the whole scrape, or the
 * terminal that shows it: each is replaced by U+FFFD. A text of more than 256 code points is cut and
 * ends in a hash of the whole, so that two long texts that differ stay different.
 */
export function labelValueOf(text: string): string {
  if (text.length <= maxCodePoints && printableAscii.test(text)) return text;
  return capped(text).replace(unsafeInLabel, replacement);
}

/** Whether rendered labels may hold a value that `labelValueOf` altered: there is no false negative. */
export function mayBeAltered(labels: string): boolean {
  return labels.length >= maxCodePoints || labels.includes(replacement);
}

function capped(text: string): string {
  if (offsetAfter(text, maxCodePoints) === text.length) return text;
  // UTF-16 keeps lone surrogates apart; in UTF-8 they would all hash alike.
  const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
  const kept = text.slice(0, offsetAfter(text, maxCodePoints - hashDigits - 1));
  // A copy: a part of a text keeps all of it in memory.
  return Buffer.from(`${kept}~${digest.slice(0, hashDigits)}`, 'utf16le').toString('utf16le');
}

/** The offset after the first `count` code points, in UTF-16 code units. */
function offsetAfter(text: string, count: number): number {
  let offset = 0;
  for (let index = 0; index < count && offset < text.length; index += 1) {
    offset += (text.codePointAt(offset) ?? 0) > 0xff_ff ? 2 : 1;
  }
  return offset;
}
