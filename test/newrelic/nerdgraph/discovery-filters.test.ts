import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import { aBench, cart, everything, shop } from './a-discovery.ts';
import { anEntity, pageAnswer } from './answers.ts';

type Fault = FaultRule['fault'];

function filterFault(queryIncludes: string, fault: Fault): readonly FaultRule[] {
  return [{ when: { operation: 'entity_search', queryIncludes }, fault }];
}

/** A search with a filter gets an error of this class. */
const failing = (errorClass: string): Fault => ({
  kind: 'graphql_error',
  errorClass,
  message: 'no such filter',
});
/** A search with a filter finds nothing, without an error. */
const blind: Fault = { kind: 'document', body: pageAnswer([]).body };
const refused = failing('INVALID_INPUT');

describe('a filter', () => {
  it.each<[string, Fault, string, readonly Selector[], number]>([
    ['that is refused', refused, 'name IN', [shop], 2],
    ['that is refused', refused, 'domainId IN', [cart], 2],
    ['that leaves out what is there', blind, 'name IN', [shop], 1],
    ['that leaves out what is there', blind, 'domainId IN', [cart], 1],
    ['that leaves out what is there', blind, 'name IN', [cart, shop], 2],
  ])('%s is replaced by the whole list, from then on', async (...row) => {
    const [, fault, filter, selectors, calls] = row;
    const bench = aBench(filterFault(filter, fault));
    const first = await bench.discover(selectors);
    const asked = bench.searches().length;
    const second = await bench.discover(selectors, ['101', '102', '999']);

    const whole = { complete: true, error: undefined, ids: ['101', '102', '103'] };
    expect(first).toMatchObject({ ...whole, calls });
    expect(second).toMatchObject(whole);
    expect(bench.searches().slice(asked)).toEqual(['']);
    expect(bench.unexpected).toEqual(['filter_refused']);
  });

  it('for lost applications that is refused, after a search by name, is made up for by the whole list', async () => {
    const found = await aBench(filterFault('domainId IN', refused)).discover([shop], ['102']);

    expect(found).toMatchObject({ complete: true, error: undefined, calls: 3 });
    expect(found.ids).toContain('102');
  });

  it('that fails for another reason is not refused', async () => {
    const bench = aBench(filterFault('name IN', failing('INTERNAL_SERVER_ERROR')));
    const found = await bench.discover([shop]);

    expect(found).toMatchObject({ complete: false, error: { reason: 'server' }, ids: [] });
    expect([bench.searches().length, bench.unexpected]).toEqual([1, []]);
  });
});

describe('what a filtered search leaves out', () => {
  const name: Selector = { kind: 'name', name: 'nowhere' };

  it.each<Selector>([name, { kind: 'id', id: '9' }])(
    'is missing if the whole list lacks it, which is read once an hour: $kind',
    async (missing) => {
      const bench = aBench();
      const wholeLists: number[] = [];
      for (const waitMs of [0, 3_599_999, 1, 0]) {
        await bench.clock.advance(waitMs);
        expect(await bench.discover([missing, shop])).toMatchObject({ complete: true });
        wholeLists.push(bench.searches().filter((text) => text === '').length);
      }

      expect([wholeLists, bench.unexpected]).toEqual([[1, 1, 2, 2], []]);
    },
  );

  it('is not missing while the whole list cannot be read', async () => {
    const fault = { kind: 'status', status: 503 } as const;
    const bench = aBench([{ when: { calls: { first: 2, last: 2 } }, fault }]);
    const found = [await bench.discover([name, shop]), await bench.discover([name, shop])];

    expect(found).toMatchObject([
      { complete: false, error: { status: 503 }, calls: 1 },
      { complete: true, calls: 1 },
    ]);
  });

  it.each([10, 3000])('of what is known is searched by ids, however many: %d', async (count) => {
    const short = { kind: 'document', body: pageAnswer([anEntity(103)]).body } as const;
    const bench = aBench([{ when: { calls: { first: 1, last: 1 } }, fault: short }]);
    const lost = Array.from({ length: count }, (_, index) => String(900_000_000 + index));
    const found = await bench.discover([everything], ['101', '102', '103', ...lost]);

    expect(
      bench
        .searches()
        .slice(1)
        .every((text) => text.includes('domainId IN')),
    ).toBe(true);
    expect(found.ids).toEqual(['101', '102', '103']);
  });
});
