import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { endDoubtOf, nextPageOf } from '../../../src/newrelic/rest/paging.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';
import { answerOf } from '../../support/fake-transport.ts';
import { eachAfter } from '../../support/slow.ts';
import { neverAborted } from '../calls/fakes.ts';
import {
  appsOf,
  aRestSource,
  discover,
  everything,
  idsFrom,
  nextPage,
  sampleText,
  serverError,
} from './a-rest-source.ts';

/** The number of the next page, `end`, or why it is not clear whether the list goes on. */
function whatFollows(header: ApiResponse['headers'][string], page: number): string {
  return String(nextPageOf(header, page) ?? endDoubtOf(header, page) ?? 'end');
}

/** What follows a page with a header; the page is 1 unless it is said. */
const headers: readonly [header: string, follows: string, page?: number][] = [
  ['</v2/a.json?page=2>; rel="next"', '2'],
  ['<?page=2>; rel=next', '2'],
  ['<a?page=2#page=9>; rel="next"', '2'],
  ['<a#?page=2>; rel="next"', 'no_page_number'],
  ['<a?x=%E0&page=2&y>; rel="next"', '2'],
  ['<a?page=12>; rel="next"', '12', 11],
  ['<a?page=2>; rel="next"', 'leads_back', 3],
  ['<a?page=3>; rel="next"', 'leads_back', 3],
  ['<a?page=0>; rel="next"', 'leads_back'],
  ['<a?page=-2>; rel="next"', 'no_page_number'],
  ['<a?page=2.5>; rel="next"', 'no_page_number'],
  ['<a?page=1e3>; rel="next"', 'no_page_number'],
  ['<a?page=zwei>; rel="next"', 'no_page_number'],
  ['<a?page=>; rel="next"', 'no_page_number'],
  ['<a?page=9007199254740993>; rel="next"', 'no_page_number'],
  ['<a?Page=2>; rel="next"', 'no_page_number'],
  ['<a?page[]=2>; rel="next"', 'no_page_number'],
  ['<a>; rel="next"', 'no_page_number'],
  ['<>; rel="next"', 'no_page_number'],
  ['<a?page=2>; rel="last next"', '2'],
  ['<a?page=2>; REL="NEXT"', '2'],
  ['<a?page=2> ; rel = "next"', '2'],
  ['<a?page=2>;\r\n rel="next"', '2'],
  ['<a?page=2>; rel="last"; rel="next"', 'end'],
  ['<a?page=2>; title="a, b; rel=last <x> \\" c"; rel="next"', '2'],
  ['<a?page=2>; title="; rel=next"; rel="last"', 'end'],
  ['<a?page=2>; rel="next', '2'],
  ['<a> rel:"x", ABC, <b; <c?page=2>; rel="next"', '2'],
  ['<a?page=1>; rel="next", <a?page=2>; rel="next"', '2'],
  ['<a?page=2>; rel="next", <a?page=2>; rel="last"', 'leads_back', 2],
  ['<a?page=1>; rel="first", <a?page=1>; rel="prev"', 'end', 2],
  ['<a?page=1>; rel="next", <a?page=0>; rel="last"', 'end'],
  ['<a?cursor=>; rel="next"', 'end'],
  ['<a?cursor=abc>; rel="last"', 'end'],
  ['<a?page=1>; rel="next", <a?cursor=>; rel="next"', 'leads_back'],
  ['<a?cursor=abc123>; rel="next"', 'no_page_number'],
  ['<a?cursor=>; rel="next", <a?cursor=abc>; rel="next"', 'no_page_number'],
  ['<a?cursor=abc>; rel="next", <a?page=0>; rel="last"', 'no_page_number'],
  ['<a?cursor=&page=zwei>; rel="next"', 'no_page_number'],
  ['', 'end'],
  [' ', 'end'],
  ['<a?page=2>; rel: "next"', 'unreadable'],
  ['a?page=2; rel="next"', 'unreadable'],
  ["<a?page=2>; rel='next'", 'unreadable'],
  ['<a?page=2>', 'unreadable'],
  ['<a?page=2; rel="next"', 'unreadable'],
  ['<a?page=2>; rel="bad"', 'unreadable'],
  ['ABCDE', 'unreadable'],
];

describe('the Link header of a page', () => {
  it.each(headers)('%j is followed by %s', (header, follows, page = 1) => {
    expect(whatFollows(header, page)).toBe(follows);
  });

  it('may be absent, and may come as two fields', () => {
    expect(whatFollows(undefined, 1)).toBe('end');
    expect(whatFollows(['<a?page=1>; rel="first"', '<a?page=2>; rel="next"'], 1)).toBe('2');
  });

  it('is read in every sample', () => {
    const lines = sampleText('20-link-headers.txt').matchAll(/^Link:[ \t]*(.*)$/gm);

    expect(Array.from(lines, ([, header]) => whatFollows(header, 1))).toEqual(
      '2 2 2 end end end 2 2 3 end unreadable unreadable unreadable unreadable unreadable unreadable no_page_number'.split(
        ' ',
      ),
    );
  });

  it('gives nothing but the number of a later page, whatever it contains', () => {
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
    ['open quotes', '<>\\"'.repeat(50_000)],
    ['open brackets', '<'.repeat(200_000)],
    ['parameters', `<a>${';x="\\"'.repeat(50_000)}`],
  ])('takes linear time for many %s', (_, header) => {
    expect(cpuMsOf(() => nextPageOf(header, 1))).toBeLessThan(5000);
  });
});

describe('a list', () => {
  const partial = (next: number) => answerOf({ applications: [null] }, { headers: nextPage(next) });
  const endless = 'the list does not end, or is longer than any real one';
  const back = 'page 2 names itself or an earlier page as the next one';

  it.each([
    ['names itself as the next', { 'list 2': appsOf(['2'], nextPage(2)) }, ['1', '2'], back, 1],
    [
      'names an earlier one as the next',
      { 'list 2': appsOf(['2'], nextPage(1)) },
      ['1', '2'],
      back,
      1,
    ],
    [
      'has parts missing',
      { 'list 2': partial(3), 'list 3': appsOf(['3']) },
      ['1', '3'],
      'left out (1)',
      1,
    ],
    [
      'has nothing new, and neither has the next',
      { 'list 2': appsOf(['1'], nextPage(3)), 'list 3': appsOf(['1'], nextPage(4)) },
      ['1'],
      `${endless}: it was not read further after 3 pages`,
      1,
    ],
    ['is both', { 'list 2': partial(3), 'list 3': partial(4) }, ['1'], endless, 2],
    ['fails', { 'list 2': serverError }, ['1'], 'status 500', 0],
  ] as const)(
    'of which a page %s may be incomplete, and each bad page is counted once',
    async (_, script, ids, says, counted) => {
      const found = await discover([everything], { list: appsOf(['1'], nextPage(2)), ...script });

      expect(found.ids).toEqual(ids);
      expect(found.error?.message).toContain(says);
      expect(found.reported.failures).toHaveLength(counted);
    },
  );

  it('that leads back from a page without items has ended', async () => {
    const script = { list: appsOf(['1'], nextPage(2)), 'list 2': appsOf([], nextPage(1)) };

    expect(await discover([everything], script)).toMatchObject({ complete: true, ids: ['1'] });
  });

  eachAfter(1, [
    { what: 'pages', hosts: 0, pages: 1000 },
    { what: 'hosts', hosts: 150_000, pages: 2 },
  ])('is given up when it has too many $what, unless it ends there', async ({ hosts, pages }) => {
    const links = { application_hosts: idsFrom(1, hosts) };
    const found = async (last: number) => {
      let page = 0;
      const { source } = aRestSource(async () => {
        page += 1;
        const applications = [{ id: page, name: 'x', links }];
        return answerOf({ applications }, { headers: page < last ? nextPage(page + 1) : {} });
      });
      return source.discover({ selectors: [] }, [], neverAborted);
    };

    expect(await found(pages + 1)).toMatchObject({ calls: pages, error: { reason: 'schema' } });
    expect(await found(pages)).toMatchObject({ calls: pages, complete: true });
  });

  it('ends, and no page is asked for twice, whatever the headers say', async () => {
    const anyLink = fc.oneof(
      fc.integer({ min: -2, max: 60 }).map((page) => nextPage(page)),
      fc.string().map((link) => ({ link })),
      fc.constant({}),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(anyLink, { minLength: 1, maxLength: 30 }), async (links) => {
        const asked: string[] = [];
        const { source } = aRestSource(async ({ target }) => {
          asked.push(target);
          return appsOf([`${asked.length}`], links[asked.length % links.length]);
        });
        const { calls } = await source.discover({ selectors: [] }, [], neverAborted);

        expect(new Set(asked).size).toBe(asked.length);
        expect(calls).toBe(asked.length);
      }),
    );
  });
});
