import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EndDoubt, endDoubtOf, nextPageOf } from '../../../src/newrelic/rest/paging.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { sampleText } from './a-rest-source.ts';

interface Row {
  readonly header: string;
  readonly current: number;
  readonly next: number | undefined;
}

// Every `Link:` line of the sample file, in its order.
const samples: readonly Row[] = [
  {
    header:
      '<https://api.newrelic.com/v2/alert_policies.xml?page=2>;rel="next", <https://api.newrelic.com/v2/alert_policies.xml?page=3>;rel="last"',
    current: 1,
    next: 2,
  },
  {
    header:
      '<https://api.newrelic.com/v2/servers.json?page=2>; rel="next", <https://api.newrelic.com/v2/servers.json?page=6>; rel="last"',
    current: 1,
    next: 2,
  },
  {
    header:
      '<https://api.newrelic.com/v2/applications.json?page=2>; rel="next", <https://api.newrelic.com/v2/applications.json?page=2>; rel="last"',
    current: 1,
    next: 2,
  },
  {
    header:
      '<https://HOST/v2/applications/9045822/metrics.json?page=1>; rel="first", <https://HOST/v2/applications/9045822/metrics.json?page=1>; rel="prev"',
    current: 2,
    next: undefined,
  },
  {
    header:
      '<https://api.newrelic.com/v2/plugins.json?page=1>; rel="next", <https://api.newrelic.com/v2/plugins.json?page=0>; rel="last"',
    current: 1,
    next: undefined,
  },
  {
    header: '<https://api.newrelic.com/v2/applications/1/metrics.json?cursor=>; rel="next"',
    current: 1,
    next: undefined,
  },
  {
    header: '<https://api.newrelic.com/v2/alerts_violations.json?page=2>; rel="next"',
    current: 1,
    next: 2,
  },
  {
    header: '<https://next.page/page2?page=2>; rel="next", <https://badsite.dontgohere>; rel="bad"',
    current: 1,
    next: 2,
  },
  { header: '<https://next.page/page3?page=3>; rel="next",', current: 2, next: 3 },
  { header: '', current: 1, next: undefined },
  { header: '<> rel=""', current: 1, next: undefined },
  { header: '<>; rel=""', current: 1, next: undefined },
  { header: '<https://next.page>; rel=""', current: 1, next: undefined },
  { header: '<>; rel:"value"', current: 1, next: undefined },
  { header: '<https://next.page>; rel: "next"', current: 1, next: undefined },
  { header: 'ABCDE', current: 1, next: undefined },
  { header: '<https://next.page/page3?page=>; rel="next",', current: 2, next: undefined },
];

const others: readonly (Row & { readonly what: string })[] = [
  { what: 'a relative URL', header: '</v2/a.json?page=2>; rel="next"', current: 1, next: 2 },
  { what: 'a bare query', header: '<?page=2>; rel=next', current: 1, next: 2 },
  { what: 'a fragment', header: '<a?page=2#page=9>; rel="next"', current: 1, next: 2 },
  {
    what: 'a page in the fragment',
    header: '<a#?page=2>; rel="next"',
    current: 1,
    next: undefined,
  },
  { what: 'other parameters', header: '<a?x=%E0&page=2&y>; rel="next"', current: 1, next: 2 },
  { what: 'a page of two digits', header: '<a?page=12>; rel="next"', current: 11, next: 12 },
  { what: 'a page that goes back', header: '<a?page=2>; rel="next"', current: 3, next: undefined },
  { what: 'the same page', header: '<a?page=3>; rel="next"', current: 3, next: undefined },
  { what: 'page 0', header: '<a?page=0>; rel="next"', current: 1, next: undefined },
  { what: 'a negative page', header: '<a?page=-2>; rel="next"', current: 1, next: undefined },
  { what: 'a fraction', header: '<a?page=2.5>; rel="next"', current: 1, next: undefined },
  { what: 'an exponent', header: '<a?page=1e3>; rel="next"', current: 1, next: undefined },
  {
    what: 'a page beyond 2^53',
    header: '<a?page=9007199254740993>; rel="next"',
    current: 1,
    next: undefined,
  },
  { what: 'several relations', header: '<a?page=2>; rel="last next"', current: 1, next: 2 },
  { what: 'upper case', header: '<a?page=2>; REL="NEXT"', current: 1, next: 2 },
  { what: 'spaces around the sign', header: '<a?page=2> ; rel = "next"', current: 1, next: 2 },
  { what: 'a folded line', header: '<a?page=2>;\r\n rel="next"', current: 1, next: 2 },
  {
    what: 'the first of two rel parameters',
    header: '<a?page=2>; rel="last"; rel="next"',
    current: 1,
    next: undefined,
  },
  {
    what: 'separators inside a title',
    header: '<a?page=2>; title="a, b; rel=last <x> \\" c"; rel="next"',
    current: 1,
    next: 2,
  },
  {
    what: 'a rel inside a title',
    header: '<a?page=2>; title="; rel=next"; rel="last"',
    current: 1,
    next: undefined,
  },
  { what: 'a quote left open', header: '<a?page=2>; rel="next', current: 1, next: 2 },
  {
    what: 'a valid link after a malformed one',
    header: '<a> rel:"x", ABC, <b; <c?page=2>; rel="next"',
    current: 1,
    next: 2,
  },
  {
    what: 'a later next page after one that does not grow',
    header: '<a?page=1>; rel="next", <a?page=2>; rel="next"',
    current: 1,
    next: 2,
  },
];

describe('nextPageOf', () => {
  it('is tested with every Link line of the samples', () => {
    const lines = sampleText('20-link-headers.txt').matchAll(/^Link:[ \t]*(.*)$/gm);

    const headers = Array.from(lines, ([, header]) => header);

    expect(headers.length).toBeGreaterThan(10);
    expect(samples.map(({ header }) => header)).toEqual(headers);
  });

  it.each(samples)('reads the sample $header after page $current', ({ header, current, next }) => {
    expect(nextPageOf(header, current)).toBe(next);
  });

  it.each(others)('reads $what: $header', ({ header, current, next }) => {
    expect(nextPageOf(header, current)).toBe(next);
  });

  it('ends the list without a header', () => {
    expect(nextPageOf(undefined, 1)).toBeUndefined();
  });

  it('reads two Link fields as one', () => {
    const fields = ['<a?page=1>; rel="first"', '<a?page=2>; rel="next"'];

    expect(nextPageOf(fields, 1)).toBe(2);
  });

  it('returns nothing but the number of a later page, whatever the header contains', () => {
    const piece = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', 'rel', 'next', '?page=', ' ');
    const noise = fc.array(fc.oneof(piece, piece, fc.nat().map(String), fc.string()));

    fc.assert(
      fc.property(noise, fc.integer({ min: 1, max: 50 }), (pieces, current) => {
        const next = nextPageOf(pieces.join(''), current) ?? current + 1;

        expect(Number.isSafeInteger(next) && next > current).toBe(true);
      }),
    );
  });

  it.each([
    { what: 'open quotes', header: '<>\\"'.repeat(50_000) },
    { what: 'open brackets', header: '<'.repeat(200_000) },
    { what: 'parameters', header: `<a>${';x="\\"'.repeat(50_000)}` },
  ])('takes linear time for many $what', ({ header }) => {
    const cpuMs = cpuMsOf(() => {
      expect(nextPageOf(header, 1)).toBeUndefined();
    });

    expect(cpuMs).toBeLessThan(5000);
  });
});

describe('endDoubtOf', () => {
  const ends: readonly (readonly [string, number])[] = [
    ['', 1],
    ['<a?page=1>; rel="first", <a?page=1>; rel="prev"', 2],
    ['<a?cursor=>; rel="next"', 1],
    ['<a?page=1>; rel="next", <a?page=0>; rel="last"', 1],
    ['<a?cursor=abc>; rel="last"', 1],
    [' ', 1],
  ];
  const doubts: readonly (readonly [string, number, EndDoubt])[] = [
    ['<a?page=3>; rel="next"', 3, 'leads_back'],
    ['<a?page=0>; rel="next"', 1, 'leads_back'],
    ['<a?page=2>; rel="next", <a?page=2>; rel="last"', 2, 'leads_back'],
    ['<a?page=1>; rel="next", <a?cursor=>; rel="next"', 1, 'leads_back'],
    ['<a?cursor=abc123>; rel="next"', 1, 'no_page_number'],
    ['<a?cursor=>; rel="next", <a?cursor=abc>; rel="next"', 1, 'no_page_number'],
    ['<a?cursor=abc>; rel="next", <a?page=0>; rel="last"', 1, 'no_page_number'],
    ['<a?page=-1>; rel="next"', 1, 'no_page_number'],
    ['<a?page=zwei>; rel="next"', 1, 'no_page_number'],
    ['<a?page=2.5>; rel="next"', 1, 'no_page_number'],
    ['<a?Page=2>; rel="next"', 1, 'no_page_number'],
    ['<a?page[]=2>; rel="next"', 1, 'no_page_number'],
    ['<a?page=>; rel="next"', 1, 'no_page_number'],
    ['<a?cursor=&page=zwei>; rel="next"', 1, 'no_page_number'],
    ['<a>; rel="next"', 1, 'no_page_number'],
    ['<>; rel="next"', 1, 'no_page_number'],
    ['<a?page=9007199254740993>; rel="next"', 1, 'no_page_number'],
    ['<a?page=2>; rel: "next"', 1, 'unreadable'],
    ['a?page=2; rel="next"', 1, 'unreadable'],
    ["<a?page=2>; rel='next'", 1, 'unreadable'],
    ['<a?page=2>', 1, 'unreadable'],
    ['<a?page=2; rel="next"', 1, 'unreadable'],
    ['<a?page=2>; rel="bad"', 1, 'unreadable'],
    ['ABCDE', 1, 'unreadable'],
  ];

  it.each(ends)('accepts %j as the end after page %i', (header, page) => {
    expect(endDoubtOf(header, page)).toBeUndefined();
  });

  it.each(doubts)('does not accept %j as the end after page %i', (header, page, doubt) => {
    expect(endDoubtOf(header, page)).toBe(doubt);
  });

  it('accepts a page without the header as the last one', () => {
    expect(endDoubtOf(undefined, 1)).toBeUndefined();
  });
});
