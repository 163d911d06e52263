import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { aBench, all, cart, idsOf, shop } from './a-discovery.ts';
import { anEntity, pageAnswer } from './answers.ts';

/** A search with a filter finds nothing, without an error. */
function blindFilter(filter: string, when: FaultRule['when'] = {}): FaultRule {
  const { body } = pageAnswer([]);
  return {
    when: { operation: 'entity_search', queryIncludes: filter, ...when },
    fault: { kind: 'document', body },
  };
}

/** A search with a filter gets an error of this class. */
function failingFilter(errorClass: string, filter: string): FaultRule {
  return {
    when: { operation: 'entity_search', queryIncludes: filter },
    fault: { kind: 'graphql_error', errorClass, message: 'no such filter' },
  };
}

describe('a refused filter', () => {
  it.each([
    { filter: 'name IN', selectors: [shop] },
    { filter: 'domainId IN', selectors: [cart] },
  ])('of $filter is replaced by the whole list, from then on', async ({ filter, selectors }) => {
    const bench = aBench([failingFilter('INVALID_INPUT', filter)]);
    const first = await bench.discover(selectors);
    const asked = bench.searches().length;
    const second = await bench.discover(selectors, ['101', '102', '999']);

    expect(first).toMatchObject({ complete: true, error: undefined });
    expect(first.applications).toHaveLength(3);
    expect(bench.searches().slice(asked)).toEqual(['']);
    expect(second.complete).toBe(true);
    expect(bench.unexpected()).toEqual(['filter_refused']);
  });

  it('of lost applications, after a search by name, is made up for by the whole list', async () => {
    const bench = aBench([failingFilter('INVALID_INPUT', 'domainId IN')]);
    const found = await bench.discover([shop], ['102']);

    expect(found).toMatchObject({ complete: true, error: undefined, calls: 3 });
    expect(idsOf(found)).toContain('102');
  });

  it('is not what any other failure is', async () => {
    const bench = aBench([failingFilter('INTERNAL_SERVER_ERROR', 'name IN')]);
    const found = await bench.discover([shop]);

    expect(found).toMatchObject({ complete: false, error: { reason: 'server' }, applications: [] });
    expect(bench.searches()).toHaveLength(1);
    expect(bench.unexpected()).toEqual([]);
  });
});

describe('what a filtered search leaves out', () => {
  const name: Selector = { kind: 'name', name: 'nowhere' };
  const id: Selector = { kind: 'id', id: '9' };

  it.each([
    { filter: 'domainId IN', selectors: [cart] },
    { filter: 'name IN', selectors: [shop] },
    { filter: 'name IN', selectors: [cart, shop] },
  ])(
    'is found in the whole list, which is read from then on: $filter',
    async ({ filter, selectors }) => {
      const bench = aBench([blindFilter(filter)]);
      const first = await bench.discover(selectors);
      const asked = bench.searches().length;
      const second = await bench.discover(selectors);

      expect(first).toMatchObject({ complete: true, calls: selectors.length });
      expect(idsOf(first).toSorted()).toEqual(['101', '102', '103']);
      expect(bench.unexpected()).toEqual(['filter_refused']);
      expect(bench.searches().slice(asked)).toEqual(['']);
      expect(idsOf(second)).toHaveLength(3);
    },
  );

  it.each([{ missing: name }, { missing: id }])(
    'is missing if the whole list lacks it, which is read once an hour: $missing.kind',
    async ({ missing }) => {
      const bench = aBench();
      const wholeLists = (): number => bench.searches().filter((text) => text === '').length;

      expect(await bench.discover([missing, shop])).toMatchObject({ complete: true });
      await bench.clock.advance(3_599_999);
      expect(await bench.discover([missing, shop])).toMatchObject({ complete: true });
      expect(wholeLists()).toBe(1);
      await bench.clock.advance(1);
      await bench.discover([missing, shop]);
      await bench.discover([missing, shop]);
      expect(wholeLists()).toBe(2);
      expect(bench.unexpected()).toEqual([]);
    },
  );

  it('is not missing while the whole list cannot be read', async () => {
    const bench = aBench([
      { when: { calls: { first: 2, last: 2 } }, fault: { kind: 'status', status: 503 } },
    ]);
    const first = await bench.discover([name, shop]);
    const second = await bench.discover([name, shop]);

    expect(first).toMatchObject({ complete: false, error: { status: 503 }, calls: 1 });
    expect(second).toMatchObject({ complete: true, calls: 1 });
  });
});

describe('known applications that a list leaves out', () => {
  it.each([10, 3000])('are searched by their ids, however many: %d', async (count) => {
    const short = { kind: 'document', body: pageAnswer([anEntity(103)]).body } as const;
    const bench = aBench([{ when: { calls: { first: 1, last: 1 } }, fault: short }]);
    const lost = Array.from({ length: count }, (_, index) => String(900_000_000 + index));

    const found = await bench.discover([all], ['101', '102', '103', ...lost]);

    const [, ...later] = bench.searches();
    expect(later.every((text) => text.includes('domainId IN'))).toBe(true);
    expect(idsOf(found).toSorted()).toEqual(['101', '102', '103']);
  });
});
