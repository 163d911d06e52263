import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import { filtersOf, searchesFor } from '../../../src/newrelic/nerdgraph/discovery.ts';
import { parseEntityQuery } from '../../../src/simulator/entity-query.ts';
import { accountId } from './answers.ts';

const all = "domain = 'APM' AND type = 'APPLICATION' AND accountId = '1234567'";

/** Ten digits: a list has room for 292. */
function idOf(index: number): string {
  return `${1_000_000_000 + index}`;
}

/** 34 characters: a list has room for 102. */
function nameOf(index: number): string {
  return `app ${index + 1}`.padEnd(34, '.');
}

function ids(count: number): Selector[] {
  return Array.from({ length: count }, (_, index) => ({ kind: 'id', id: idOf(index) }));
}

function names(count: number): Selector[] {
  return Array.from({ length: count }, (_, index) => ({ kind: 'name', name: nameOf(index) }));
}

describe('searchesFor', () => {
  it('searches the whole account if everything may be wanted', () => {
    expect(searchesFor(accountId, undefined)).toEqual([all]);
  });

  it.each([
    { of: { ids: 292, names: 0 }, searches: 1 },
    { of: { ids: 293, names: 0 }, searches: 2 },
    { of: { ids: 0, names: 102 }, searches: 1 },
    { of: { ids: 0, names: 103 }, searches: 2 },
  ])('makes $searches searches of $of, each value in one', ({ of, searches }) => {
    const wanted = {
      ids: ids(of.ids).map((_, index) => idOf(index)),
      names: names(of.names).map((_, index) => nameOf(index)),
    };
    const filters = filtersOf([...ids(of.ids), ...names(of.names)]);
    const texts = searchesFor(accountId, filters);
    const found = texts.flatMap((text) =>
      [...text.matchAll(/'([^']*)'[,)]/gu)].map(([, value]) => value),
    );

    expect(texts).toHaveLength(searches);
    expect(found).toEqual([...wanted.ids, ...wanted.names]);
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(4000);
      expect(() => parseEntityQuery(text)).not.toThrow();
    }
  });
});

describe('filtersOf', () => {
  const pattern: Selector = { kind: 'match', pattern: /^shop/u };

  it.each([
    { what: 'no selectors', selectors: [] },
    { what: 'a pattern', selectors: [pattern] },
    { what: 'a pattern beside ids', selectors: [...ids(1), pattern] },
    { what: 'a name with a quote', selectors: [{ kind: 'name', name: "o'brien" }] },
    { what: 'a name with a double quote', selectors: [{ kind: 'name', name: 'the "shop"' }] },
    { what: 'a name with a backslash', selectors: [{ kind: 'name', name: String.raw`dc\shop` }] },
    { what: 'more ids than five searches hold', selectors: ids(1461) },
    { what: 'more names than five searches hold', selectors: names(511) },
    { what: 'both, too many together', selectors: [...ids(600), ...names(300)] },
  ] satisfies readonly { what: string; selectors: Selector[] }[])(
    'needs the whole list for $what',
    ({ selectors }) => {
      expect(filtersOf(selectors)).toBeUndefined();
    },
  );

  it.each([
    { what: 'an id', selectors: ids(1), is: [`domainId IN ('${idOf(0)}')`] },
    { what: 'a name', selectors: names(1), is: [`name IN ('${nameOf(0)}')`] },
    {
      what: 'both, each once',
      selectors: [...ids(2), ...names(1), ...ids(2)],
      is: [`domainId IN ('${idOf(0)}','${idOf(1)}')`, `name IN ('${nameOf(0)}')`],
    },
  ])('searches only $what', ({ selectors, is }) => {
    expect(filtersOf(selectors)).toEqual(is);
  });
});
