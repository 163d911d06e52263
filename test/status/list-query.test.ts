import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hrefOf,
  type ListQuery,
  type ListShape,
  parseListQuery,
  sliceOf,
  sortedBy,
} from '../../src/status/list-query.ts';
import { hostileQuery } from '../support/hostile-text.ts';

type Key = 'name' | 'web';
type State = 'up' | 'failing';

const shape: ListShape<Key, State> = {
  sortKeys: ['name', 'web'],
  states: ['up', 'failing'],
  scope: ['account'],
};

const everything: ListQuery<Key, State> = {
  scope: {},
  state: undefined,
  search: '',
  sort: undefined,
  page: 1,
};

const parsed = (query: string): ListQuery<Key, State> =>
  parseListQuery(new URLSearchParams(query), shape);

describe('parseListQuery', () => {
  it.each([
    { query: '', changes: {} },
    { query: 'state=failing', changes: { state: 'failing' } },
    { query: 'q=%20shop+eu%20', changes: { search: 'shop eu' } },
    { query: 'sort=web', changes: { sort: { key: 'web', isDescending: false } } },
    { query: 'sort=-web', changes: { sort: { key: 'web', isDescending: true } } },
    { query: 'account=a%26b&page=3', changes: { scope: { account: 'a&b' }, page: 3 } },
    { query: 'account=&state=', changes: {} },
    { query: 'state=toString&sort=constructor&page=0', changes: {} },
    { query: 'page=-1', changes: {} },
    { query: 'page=99999999', changes: {} },
    { query: 'page=1e3&sort=-&evil=%00', changes: {} },
    { query: '__proto__=1&q=%E0%A4%A', changes: { search: '\ufffd%A' } },
  ])('reads "$query"', ({ query, changes }) => {
    expect(parsed(query)).toEqual({ ...everything, ...changes });
  });
});

describe('hrefOf', () => {
  it.each([
    { changes: {}, href: './' },
    { changes: { state: 'failing' } as const, href: './?state=failing' },
    {
      changes: {
        scope: { account: 'a&b #?/é' },
        sort: { key: 'web', isDescending: true },
      } as const,
      href: './?account=a%26b+%23%3F%2F%C3%A9&sort=-web',
    },
  ])('leads to $href', ({ changes, href }) => {
    expect(hrefOf('./', everything, changes)).toBe(href);
  });

  it('leads to the first page of another part', () => {
    expect(hrefOf('./', { ...everything, page: 4 }, { state: 'up' })).toBe('./?state=up');
    expect(hrefOf('./', { ...everything, page: 4 }, { page: 5 })).toBe('./?page=5');
  });

  it('is read as what was written', () => {
    const texts = hostileQuery.map((text) => text.trim());
    fc.assert(
      fc.property(
        fc.record({
          scope: texts.map((account) => (account === '' ? {} : { account })),
          state: fc.constantFrom(undefined, ...shape.states),
          search: texts,
          sort: fc.option(
            fc.record({ key: fc.constantFrom(...shape.sortKeys), isDescending: fc.boolean() }),
            { nil: undefined },
          ),
          page: fc.integer({ min: 1, max: 999_999 }),
        }),
        (query) => {
          const href = hrefOf('./', everything, query);

          expect(parsed(href.slice(2))).toEqual(query);
        },
      ),
    );
  });
});

describe('sortedBy', () => {
  const rows = [{ n: 2 }, { n: undefined }, { n: 10 }, { n: 1 }];

  it('puts what has no value last, in both directions', () => {
    expect(sortedBy(rows, ({ n }) => n, false).map(({ n }) => n)).toEqual([1, 2, 10, undefined]);
    expect(sortedBy(rows, ({ n }) => n, true).map(({ n }) => n)).toEqual([10, 2, 1, undefined]);
  });

  it('keeps the order of equal ones', () => {
    const equal = [{ id: 'b' }, { id: 'a' }];

    expect(sortedBy(equal, () => 1, true)).toEqual(equal);
  });
});

describe('sliceOf', () => {
  const rows = [1, 2, 3, 4, 5];

  it.each([
    { page: 1, shown: [1, 2], first: 1, number: 1 },
    { page: 3, shown: [5], first: 5, number: 3 },
    { page: 9, shown: [5], first: 5, number: 3 },
  ])('has page $page', ({ page, shown, first, number }) => {
    expect(sliceOf(rows, page, 2)).toEqual({
      rows: shown,
      page: number,
      pages: 3,
      first,
      total: 5,
    });
  });

  it('has one page of nothing', () => {
    expect(sliceOf([], 1, 2)).toEqual({ rows: [], page: 1, pages: 1, first: 0, total: 0 });
  });
});
