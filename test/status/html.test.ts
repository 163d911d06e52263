import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactly, html, visibleText } from '../../src/status/html.ts';
import { hostileText } from '../support/hostile-text.ts';
import { skeletonOf, tagsOf, textOf } from '../support/html-parts.ts';

describe('html', () => {
  it.each([
    { child: '<b>&"\'', markup: '<p>&lt;b&gt;&amp;&quot;&#39;</p>' },
    { child: html`<b>${'&'}</b>`, markup: '<p><b>&amp;</b></p>' },
    { child: [html`<i></i>`, 'a', [1, 'b']], markup: '<p><i></i>a1b</p>' },
    { child: 0, markup: '<p>0</p>' },
    { child: undefined, markup: '<p></p>' },
    { child: false, markup: '<p></p>' },
    { child: '\u202egnp', markup: '<p>\u27e8U+202E\u27e9gnp</p>' },
    { child: exactly('\u200e<'), markup: '<p>\u200e&lt;</p>' },
  ] as const)('makes $markup', ({ child, markup }) => {
    expect(html`<p>${child}</p>`.toString()).toBe(markup);
  });

  it('lets no text out of its element or attribute', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const page =
          html`<p title="${text}">${text}</p><input value="${exactly(text)}">`.toString();

        expect(skeletonOf(page)).toEqual(['p title', '/p', 'input value']);
      }),
    );
  });

  it('keeps every character of printable text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", 'a', ';', '#') }),
        (text) => {
          const page = html`<p title="${text}">${text}</p>`.toString();

          expect(tagsOf(page)[0]?.attributes['title']).toBe(text);
          expect(textOf(page)).toBe(text);
        },
      ),
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
