import { describe, expect, it } from 'vitest';
import { cutText, onOneLine, printable } from '../../src/model/line-text.ts';

describe('printable', () => {
  it.each([
    { what: 'plain text', text: 'shop (eu) – Größe 東京', shown: 'shop (eu) – Größe 東京' },
    { what: 'terminal codes', text: '\u001b[2J', shown: String.raw`\u{1b}[2J` },
    { what: 'a direction override', text: 'a\u202egnp', shown: String.raw`a\u{202e}gnp` },
    { what: 'ends of lines', text: 'a\n\u2028b', shown: String.raw`a\u{a}\u{2028}b` },
    { what: 'half a surrogate pair', text: 'a\ud800', shown: String.raw`a\u{d800}` },
  ])('shows $what', ({ text, shown }) => {
    expect(printable(text)).toBe(shown);
  });
});

describe('onOneLine', () => {
  it.each([
    { text: ' a\r\n\tb\u2028\u0000 c ', max: 9, line: 'a b c' },
    { text: 'a\u202e\u200bb', max: 9, line: 'a b' },
    { text: 'a\nb\nc', max: 4, line: 'a b…' },
  ])('makes "$line" of $text', ({ text, max, line }) => {
    expect(onOneLine(text, max)).toBe(line);
  });
});

describe('cutText', () => {
  it.each([
    { text: 'abc', max: 3, cut: 'abc' },
    { text: 'abcd', max: 3, cut: 'ab…' },
    { text: '😀😀😀', max: 3, cut: '😀😀😀' },
    { text: '😀😀😀😀', max: 3, cut: '😀😀…' },
    { text: 'abcd', max: Number.POSITIVE_INFINITY, cut: 'abcd' },
  ])('makes $cut of $text', ({ text, max, cut }) => {
    expect(cutText(text, max)).toBe(cut);
  });
});
