import { describe, expect, it } from 'vitest';
import { visibleText } from '../../src/status/visible-text.ts';

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
