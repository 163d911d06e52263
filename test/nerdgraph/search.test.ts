import { describe, expect, it } from 'vitest';
import type { Selector } from '../../src/model/config.ts';
import { searchesFor, wantedBy } from '../../src/nerdgraph/search.ts';
import { parseEntityQuery } from '../../src/simulator/entity-query.ts';
import { accountId } from './answers.ts';

const all = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";

function ids(count: number): Selector[] {
  return Array.from({ length: count }, (_, index) => ({ kind: 'id', id: `${index + 1}` }));
}

function names(count: number): Selector[] {
  return Array.from({ length: count }, (_, index) => ({ kind: 'name', name: `app ${index + 1}` }));
}

describe('searchesFor', () => {
  it('searches the whole account if everything may be wanted', () => {
    expect(searchesFor(accountId, undefined)).toEqual([all]);
  });

  it('searches ids and names apart', () => {
    expect(searchesFor(accountId, { ids: ['1', '2'], names: ['shop', 'Größe'] })).toEqual([
      `${all} AND domainId IN ('1','2')`,
      `${all} AND name IN ('shop','Größe')`,
    ]);
  });

  it.each([
    { of: { ids: 200, names: 0 }, searches: 1 },
    { of: { ids: 201, names: 0 }, searches: 2 },
    { of: { ids: 0, names: 50 }, searches: 1 },
    { of: { ids: 0, names: 51 }, searches: 2 },
    { of: { ids: 0, names: 0 }, searches: 0 },
  ])('makes $searches searches of $of, each value in one', ({ of, searches }) => {
    const wanted = {
      ids: ids(of.ids).map((_, index) => `${index}`),
      names: names(of.names).map((_, index) => `n${index}`),
    };
    const texts = searchesFor(accountId, wanted);
    const found = texts.flatMap((text) =>
      [...text.matchAll(/'([^']*)'[,)]/gu)].map(([, value]) => value),
    );

    expect(texts).toHaveLength(searches);
    expect(found).toEqual([...wanted.ids, ...wanted.names]);
    for (const text of texts) expect(() => parseEntityQuery(text)).not.toThrow();
  });
});

describe('wantedBy', () => {
  const pattern: Selector = { kind: 'match', pattern: /^shop/u };

  it.each([
    { what: 'no selectors', selectors: [] },
    { what: 'a pattern', selectors: [pattern] },
    { what: 'a pattern beside ids', selectors: [...ids(1), pattern] },
    { what: 'a name with a quote', selectors: [{ kind: 'name', name: "o'brien" }] },
    { what: 'a name with a double quote', selectors: [{ kind: 'name', name: 'the "shop"' }] },
    { what: 'a name with a backslash', selectors: [{ kind: 'name', name: String.raw`dc\shop` }] },
    { what: 'more ids than five searches hold', selectors: ids(1001) },
    { what: 'more names than five searches hold', selectors: names(251) },
    { what: 'both, too many together', selectors: [...ids(600), ...names(150)] },
  ] satisfies readonly { what: string; selectors: Selector[] }[])(
    'needs the whole list for $what',
    ({ selectors }) => {
      expect(wantedBy(selectors)).toBeUndefined();
    },
  );

  it.each([
    { what: 'an id', selectors: ids(1), is: { ids: ['1'], names: [] } },
    { what: 'a name', selectors: names(1), is: { ids: [], names: ['app 1'] } },
    {
      what: 'both, each once',
      selectors: [...ids(2), ...names(1), ...ids(2)],
      is: { ids: ['1', '2'], names: ['app 1'] },
    },
  ])('searches only $what', ({ selectors, is }) => {
    expect(wantedBy(selectors)).toEqual(is);
  });

  it('searches as many as five searches hold', () => {
    expect(wantedBy([...ids(400), ...names(150)])?.names).toHaveLength(150);
  });
});
