import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeUnsafe, quoted } from '../../src/telemetry/escape-text.ts';

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
