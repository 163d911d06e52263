import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  hrefOf,
  type ListQuery,
  type ListShape,
  parseListQuery,
} from '../../../src/web/status/list.ts';
import { hostileQuery } from '../../support/hostile-text.ts';

const view = { tone: 'none', meaning: '' } as const;
const sortValue = (): number => 0;

const shape: ListShape = {
  columns: [{ key: 'name', sortValue }, { key: 'web', sortValue }, { key: 'why' }],
  views: { up: view, failing: view },
  scope: ['account'],
};

const everything: ListQuery = {
  scope: {},
  state: undefined,
  search: '',
  sort: undefined,
  page: 1,
};

const parsed = (query: string): ListQuery => parseListQuery(new URLSearchParams(query), shape);

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
    { query: 'page=-1&sort=why', changes: {} },
    { query: 'page=99999999', changes: {} },
    { query: 'page=1e3&sort=-&evil=%00', changes: {} },
    { query: '__proto__=1&q=%E0%A4%A', changes: { search: '\ufffd%A' } },
  ])('reads "$query"', ({ query, changes }) => {
    expect(parsed(query)).toEqual({ ...everything, ...changes });
  });
});

describe('hrefOf', () => {
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
          state: fc.constantFrom(undefined, 'up', 'failing'),
          search: texts,
          sort: fc.option(
            fc.record({ key: fc.constantFrom('name', 'web', 'state'), isDescending: fc.boolean() }),
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
