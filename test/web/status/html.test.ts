import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactly, html } from '../../../src/web/status/html.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { skeletonOf, tagsOf, textOf } from '../../support/html-parts.ts';

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
