import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Discovery } from '../../../src/model/source.ts';
import { minuteMs } from '../../../src/model/time.ts';
import type { ApiResponse, Transport } from '../../../src/newrelic/calls/transport.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { neverAborted } from '../calls/fakes.ts';
import { appsOf, aRestSource, byIds, idsFrom, notFound } from './a-rest-source.ts';

/** How the vendor answers a call for ids if it does not have all of them. */
type Unknown = 'left out' | '404 for all';

interface Rounds {
  readonly clock: FakeClock;
  /** The ids that the vendor has; a test may change them. */
  readonly has: Set<string>;
  /** Answers that replace those of the vendor, by the ids asked for. */
  readonly instead: Map<string, ApiResponse>;
  /** The ids of each call of the last discovery. */
  asked: readonly (readonly string[])[];
  /** Makes one discovery, a minute after the one before. What it finds is known from then on. */
  discover(ids?: readonly string[]): Promise<Discovery & { readonly ids: readonly string[] }>;
}

/** A vendor that has some of the wanted ids, and a source whose discoveries follow each other. */
function aVendor(
  wanted: readonly string[],
  has: readonly string[],
  unknown: Unknown = 'left out',
): Rounds {
  const clock = createFakeClock();
  let known: readonly string[] = [];
  let asked: (readonly string[])[] = [];
  const send: Transport = async ({ target }) => {
    const text = new URL(target, 'http://vendor').searchParams.get('filter[ids]') ?? '';
    const ids = text.split(',');
    asked.push(ids);
    const there = ids.filter((id) => rounds.has.has(id));
    const isRefused = unknown === '404 for all' && there.length < ids.length;
    return rounds.instead.get(text) ?? (isRefused ? notFound : appsOf(there));
  };
  const { source } = aRestSource(send, { clock });
  const rounds: Rounds = {
    clock,
    has: new Set(has),
    instead: new Map(),
    asked: [],
    discover: async (ids = wanted) => {
      await clock.advance(minuteMs);
      asked = [];
      const discovery = await source.discover({ selectors: byIds(...ids) }, known, neverAborted);
      expect(discovery.calls).toBe(asked.length);
      rounds.asked = asked;
      const found = discovery.applications.map(({ id }) => id);
      const unclear = new Set([...found, ...discovery.pendingIds]);
      if (discovery.complete)
        known = ids.filter((id) => found.includes(id) || (unclear.has(id) && known.includes(id)));
      return { ...discovery, ids: found };
    },
  };
  return rounds;
}

/** The ids that were asked for alone, because an answer for several ids left them out. */
function alone({ asked }: Rounds): string[] {
  return asked.filter((ids) => ids.length === 1).flat();
}

describe('many ids that the account no longer has', () => {
  const good = idsFrom(1, 50);
  const gone = idsFrom(900_000, 1500);

  it('do not keep the others from being found at once, and cost a few calls a discovery', async () => {
    const vendor = aVendor([...gone, ...good], good);

    const first = await vendor.discover();
    const second = await vendor.discover();

    expect(first).toMatchObject({ complete: true, error: undefined, calls: 8 + 10 });
    expect([first.lookUpCalls, second.lookUpCalls]).toEqual([10, 10]);
    expect(new Set(first.ids)).toEqual(new Set(good));
    expect(first.pendingIds).toHaveLength(1490);
    // One call each for the known, the unknown and the absent ids, and ten for single ids.
    expect(second).toMatchObject({ complete: true, calls: 1 + 8 + 1 + 10 });
    expect(new Set(second.ids)).toEqual(new Set(good));
    expect(second.pendingIds).toHaveLength(1480);
  });

  it('are all found to be absent in the end; each is asked for alone once before any of them twice', async () => {
    const vendor = aVendor([...gone, ...good], good);
    const asked: string[] = [];
    const calls: number[] = [];

    for (let round = 0; round < 150; round += 1) {
      const { complete, calls: made } = await vendor.discover();
      expect(complete).toBe(true);
      calls.push(made);
      asked.push(...alone(vendor));
    }
    const last = await vendor.discover();

    expect(new Set(asked)).toEqual(new Set(gone));
    expect(asked).toHaveLength(1500);
    expect(Math.max(...calls)).toBeLessThanOrEqual(20);
    expect(last).toMatchObject({ pendingIds: [], complete: true, calls: 1 + 8 + 10 });
    // An hour later it begins again, within the same bound.
    expect(alone(vendor)).toEqual(asked.slice(0, 10));
  });
});

describe('an id that was asked for alone', () => {
  it('is not asked for alone again for an hour', async () => {
    const vendor = aVendor(['1', '8', '9'], ['1']);
    const rounds: string[][] = [];

    for (let round = 0; round < 62; round += 1) {
      await vendor.discover();
      rounds.push(alone(vendor).filter((id) => id !== '1'));
    }

    const isAsked = rounds.map((ids) => ids.length > 0);
    expect(rounds[0]).toEqual(['8', '9']);
    expect(rounds[60]).toEqual(['8', '9']);
    expect(isAsked.filter(Boolean)).toHaveLength(2);
  });

  it('is asked for alone again if it was back in between', async () => {
    const vendor = aVendor(['1', '8', '9'], ['1']);
    await vendor.discover();
    vendor.has.add('8');
    await vendor.discover();
    vendor.has.delete('8');

    const after = await vendor.discover();

    expect(alone(vendor)).toContain('8');
    expect(after).toMatchObject({ complete: true, pendingIds: [] });
  });

  it('is forgotten with its entry', async () => {
    const vendor = aVendor(['1', '8', '9'], ['1']);
    await vendor.discover();

    await vendor.discover(['1', '8']);
    await vendor.discover(['1', '8', '9']);

    expect(alone(vendor)).toContain('9');
    expect(vendor.asked.filter((ids) => ids.includes('8'))).toHaveLength(1);
  });

  it('is not taken for absent if everything is answered with 404', async () => {
    const vendor = aVendor(['1', '8', '9'], ['1']);
    for (const ids of ['1,8,9', '1,8', '1', '8', '9']) vendor.instead.set(ids, notFound);

    const outage = await vendor.discover();
    vendor.instead.clear();
    const after = await vendor.discover();

    expect(outage).toMatchObject({ ids: [], complete: false, error: { reason: 'not_found' } });
    expect(after).toMatchObject({ ids: ['1'], complete: true, pendingIds: [] });
    expect(alone(vendor)).toEqual(['8', '9']);
  });
});

describe('a known id that an answer left out', () => {
  it('is not absent before it was asked for alone, and is asked for before the others', async () => {
    const known = idsFrom(1, 13);
    const vendor = aVendor([...idsFrom(500, 20), ...known], known);
    await vendor.discover();

    for (const id of known.slice(1)) vendor.has.delete(id);
    const first = await vendor.discover();
    const asked = alone(vendor);
    const second = await vendor.discover();

    expect(first).toMatchObject({ ids: ['1'], complete: true });
    expect(asked).toEqual(known.slice(1, 11));
    expect(first.pendingIds).toEqual(expect.arrayContaining(['12', '13']));
    expect(alone(vendor).slice(0, 2)).toEqual(['12', '13']);
    expect(second.pendingIds).not.toContain('12');
  });
});

describe('a vendor that answers 404 for all ids when it lacks one of them', () => {
  it('is asked for other ids first next time if it had none of these', async () => {
    const gone = idsFrom(700, 150);
    const vendor = aVendor([...gone, '1'], ['1'], '404 for all');

    const first = await vendor.discover();
    let rounds = 1;
    for (let found = first.ids; found.length === 0 && rounds < 30; rounds += 1) {
      found = (await vendor.discover()).ids;
    }
    const last = await vendor.discover();

    expect(first).toMatchObject({ complete: false, error: { reason: 'not_found' } });
    expect(last).toMatchObject({ ids: ['1'], complete: true });
  });
});

describe('any account, at any vendor', () => {
  it('never has an id that is there called absent, and in the end has every other id', async () => {
    const account = fc.record({
      good: fc.integer({ min: 1, max: 60 }),
      gone: fc.integer({ min: 0, max: 60 }),
      unknown: fc.constantFrom<Unknown>('left out', '404 for all'),
      seed: fc.integer(),
    });

    await fc.assert(
      fc.asyncProperty(account, async ({ good, gone, unknown, seed }) => {
        const there = idsFrom(1, good);
        const all = [...there, ...idsFrom(500, gone)];
        const order = all.toSorted(
          (left, right) =>
            ((Number(left) * 7919 + seed) % 101) - ((Number(right) * 7919 + seed) % 101),
        );
        const vendor = aVendor(order, there, unknown);
        let last = await vendor.discover();
        for (let round = 0; round < 25; round += 1) {
          const clear = new Set([...last.ids, ...last.pendingIds]);
          const absent = last.complete ? there.filter((id) => !clear.has(id)) : [];
          expect(absent).toEqual([]);
          expect(last.calls).toBeLessThanOrEqual(48 + 3 + 10);
          last = await vendor.discover();
        }
        expect(last).toMatchObject({ complete: true, pendingIds: [] });
        expect(new Set(last.ids)).toEqual(new Set(there));
      }),
      { numRuns: 50 },
    );
  });
});

describe('ids beside a name', () => {
  it('that are absent cost only one look-up an hour', async () => {
    const clock = createFakeClock();
    const asked: string[] = [];
    const { source } = aRestSource(
      async ({ target }) => {
        asked.push(target);
        return target.includes('ids') ? appsOf([]) : appsOf(['1']);
      },
      { clock },
    );
    const calls: number[] = [];

    for (let minute = 0; minute <= 60; minute += 1) {
      const discovery = await source.discover(
        { selectors: [{ kind: 'name', name: 'app 1' }, ...byIds('8', '9')] },
        ['1'],
        neverAborted,
      );
      expect(discovery).toMatchObject({ complete: true, pendingIds: [] });
      calls.push(discovery.calls);
      await clock.advance(minuteMs);
    }

    expect(calls).toEqual([4, ...calls.slice(1, 60).map(() => 1), 3]);
  });
});
