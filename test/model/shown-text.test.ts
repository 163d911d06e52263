import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countOf,
  countText,
  cutText,
  escapeUnsafe,
  onOneLine,
  printable,
  quoted,
  visibleText,
  withoutOpensslNoise,
} from '../../src/model/shown-text.ts';

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

describe('an escaped text', () => {
  it.each([
    { what: 'an escape sequence', text: '\u001B[31mred', escaped: String.raw`\u001b[31mred` },
    { what: 'a control character of C1', text: '\u009B31m', escaped: String.raw`\u009b31m` },
    { what: 'a line break', text: 'a\r\nb', escaped: String.raw`a\r\nb` },
    { what: 'a line separator', text: 'a\u2028b', escaped: String.raw`a\u2028b` },
    { what: 'a bidirectional override', text: '\u202Egnp.exe', escaped: String.raw`\u202egnp.exe` },
    { what: 'half a character', text: '\uD83D', escaped: String.raw`\ud83d` },
    { what: 'an invisible tag', text: '\u{E0041}', escaped: String.raw`\udb40\udc41` },
    { what: 'letters, joined emoji and quotes', text: 'é "👩‍💻" \\', escaped: 'é "👩‍💻" \\' },
  ])('has no $what that is harmful', ({ text, escaped }) => {
    expect(escapeUnsafe(text)).toBe(escaped);
  });
});

describe('a quoted text', () => {
  it('is safe, and means the same as JSON', () => {
    const texts = fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    });
    fc.assert(
      fc.property(texts, (text) => {
        expect(JSON.parse(quoted(text))).toBe(text);
        expect(escapeUnsafe(quoted(text))).toBe(quoted(text));
      }),
    );
  });
});

describe('visibleText', () => {
  it.each([
    { what: 'plain text', text: 'shop (eu) – Größe 東京', shown: 'shop (eu) – Größe 東京' },
    { what: 'line feeds and tabs', text: 'a\n\tb', shown: 'a\n\tb' },
    { what: 'a family, which is joined', text: '👩‍👧', shown: '👩‍👧' },
    { what: 'terminal codes', text: '\u001b[31m', shown: '⟨U+001B⟩[31m' },
    { what: 'a bell and a NUL', text: '\u0007\u0000', shown: '⟨U+0007⟩⟨U+0000⟩' },
    { what: 'a delete', text: '\u007f', shown: '⟨U+007F⟩' },
    { what: 'a C1 control', text: '\u009b', shown: '⟨U+009B⟩' },
    { what: 'a direction override', text: 'a\u202egnp', shown: 'a⟨U+202E⟩gnp' },
    { what: 'an isolate', text: '\u2066a\u2069', shown: '⟨U+2066⟩a⟨U+2069⟩' },
    { what: 'a zero width space', text: 'a\u200bb', shown: 'a⟨U+200B⟩b' },
    { what: 'a byte order mark', text: '\ufeffa', shown: '⟨U+FEFF⟩a' },
    { what: 'a line separator', text: '\u2028', shown: '⟨U+2028⟩' },
    { what: 'a tag', text: '\u{e0041}', shown: '⟨U+E0041⟩' },
    { what: 'half a surrogate pair', text: 'a\ud800', shown: 'a⟨U+D800⟩' },
  ])('shows $what', ({ text, shown }) => {
    expect(visibleText(text)).toBe(shown);
  });
});

const wrongVersion =
  '804C0C13047F0000:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/openssl/openssl/ssl/record/ssl3_record.c:350:';

describe('withoutOpensslNoise', () => {
  it.each([
    { text: `${wrongVersion}\n`, plain: 'wrong version number' },
    { text: `write EPROTO ${wrongVersion}\n`, plain: 'write EPROTO wrong version number' },
    {
      text: '40C7:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:../deps/openssl/openssl/ssl/record/rec_layer_s3.c:1605:SSL alert number 40\n',
      plain: 'sslv3 alert handshake failure',
    },
    { text: 'self-signed certificate', plain: 'self-signed certificate' },
    { text: 'connect ECONNREFUSED 127.0.0.1:9126', plain: 'connect ECONNREFUSED 127.0.0.1:9126' },
  ])('keeps the words of $text', ({ text, plain }) => {
    expect(withoutOpensslNoise(text)).toBe(plain);
  });
});

describe('countOf', () => {
  it.each([
    { text: countOf(1, 'host'), expected: '1 host' },
    { text: countOf(0, 'host'), expected: '0 hosts' },
    { text: countOf(1204, 'entry', 'entries'), expected: '1204 entries' },
    { text: countOf(1204, 'host', 'hosts', countText), expected: '1,204 hosts' },
  ])('writes $expected', ({ text, expected }) => {
    expect(text).toBe(expected);
  });
});
