import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import type { Discovery } from '../../../src/model/source.ts';
import { minuteMs } from '../../../src/model/time.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { slow } from '../../support/slow.ts';
import { neverAborted } from '../calls/fakes.ts';
import { appsOf, aRestSource, byIds, idsFrom, notFound } from './a-rest-source.ts';

/** How the vendor answers a call for ids if it does not have all of them. */
type Unknown = 'left out' | '404 for all';

/** A vendor that has some of the wanted ids, and a source whose discoveries follow each other. */
class Rounds {
  /** Those that the vendor has; a test may change them. */
  readonly has: Set<string>;
  /** Ids, as they are asked for, that are answered with 404. */
  readonly missed = new Set<string>();
  /** The ids of each call of the last discovery; none of a list. */
  asked: (readonly string[])[] = [];
  readonly #wanted: readonly string[];
  readonly #clock = createFakeClock();
  #known: readonly string[] = [];
  readonly #source;

  constructor(wanted: readonly string[], has: readonly string[], unknown: Unknown = 'left out') {
    this.#wanted = wanted;
    this.has = new Set(has);
    const { source } = aRestSource(
      async ({ target }) => {
        const text = new URL(target, 'http://vendor').searchParams.get('filter[ids]') ?? '';
        const ids = text === '' ? [] : text.split(',');
        this.asked.push(ids);
        if (text === '') return appsOf([...this.has]);
        const there = ids.filter((id) => this.has.has(id));
        const isRefused = unknown === '404 for all' && there.length < ids.length;
        return isRefused || this.missed.has(text) ? notFound : appsOf(there);
      },
      { clock: this.#clock },
    );
    this.#source = source;
  }

  /** Makes one discovery, a minute after the one before. What it finds is known from then on. */
  async discover(
    wanted = this.#wanted,
    others: readonly Selector[] = [],
  ): Promise<Discovery & { readonly ids: readonly string[] }> {
    await this.#clock.advance(minuteMs);
    this.asked = [];
    const selectors = [...byIds(...wanted), ...others];
    const found = await this.#source.discover({ selectors }, this.#known, neverAborted);
    expect(found.calls).toBe(this.asked.length);
    const ids = found.applications.map(({ id }) => id);
    const [there, unclear] = [new Set(ids), new Set(found.pendingIds)];
    const known = new Set(this.#known);
    if (found.complete) {
      this.#known = wanted.filter((id) => there.has(id) || (unclear.has(id) && known.has(id)));
    }
    return { ...found, ids };
  }

  /** The ids that were asked for alone, because an answer for several ids left them out. */
  alone(): readonly string[] {
    return this.asked.filter((ids) => ids.length === 1).flat();
  }
}

describe('many ids that the account no longer has', () => {
  const good = idsFrom(1, 50);
  const gone = idsFrom(900_000, 800);

  it('do not keep the others from being found at once, and cost a few calls a discovery', async () => {
    const vendor = new Rounds([...gone, ...good], good);
    const first = await vendor.discover();
    const second = await vendor.discover();

    const whole = { complete: true, error: undefined, lookUpCalls: 10 };
    // One call each for the known, the unknown and the absent ids, and ten for single ids.
    expect(first).toMatchObject({ ...whole, calls: 5 + 10 });
    expect(second).toMatchObject({ ...whole, calls: 1 + 4 + 1 + 10 });
    expect([first, second].map(({ pendingIds }) => pendingIds.length)).toEqual([790, 780]);
    expect([first, second].map(({ ids }) => ids.toSorted())).toEqual(
      [good, good].map((ids) => ids.toSorted()),
    );
  });

  it(
    'are all found to be absent in the end; each is asked for alone once before any of them twice',
    slow,
    async () => {
      const vendor = new Rounds([...gone, ...good], good);
      const asked: string[] = [];
      let most = 0;
      for (let round = 0; round < 80; round += 1) {
        const { complete, calls } = await vendor.discover();
        expect(complete).toBe(true);
        most = Math.max(most, calls);
        asked.push(...vendor.alone());
      }
      const last = await vendor.discover();

      expect(new Set(asked)).toEqual(new Set(gone));
      expect([asked.length, most <= 17]).toEqual([800, true]);
      expect(last).toMatchObject({ pendingIds: [], complete: true, calls: 1 + 4 + 10 });
      // An hour later it begins again, within the same bound.
      expect(vendor.alone()).toEqual(asked.slice(0, 10));
    },
  );
});

describe('an id that was asked for alone', () => {
  it('is not asked for alone again for an hour', async () => {
    const vendor = new Rounds(['1', '8', '9'], ['1']);
    const rounds: string[] = [];
    for (let round = 0; round < 62; round += 1) {
      await vendor.discover();
      rounds.push(vendor.alone().join().replace(/^1,?/u, ''));
    }

    const asked = [...rounds.entries()].filter(([, ids]) => ids !== '');
    expect(asked).toEqual([
      [0, '8,9'],
      [60, '8,9'],
    ]);
  });

  it('is asked for alone again if it was back in between', async () => {
    const vendor = new Rounds(['1', '8', '9'], ['1']);
    await vendor.discover();
    vendor.has.add('8');
    await vendor.discover();
    vendor.has.delete('8');

    expect(await vendor.discover()).toMatchObject({ complete: true, pendingIds: [] });
    expect(vendor.alone()).toContain('8');
  });

  it('is forgotten with its entry', async () => {
    const vendor = new Rounds(['1', '8', '9'], ['1']);
    await vendor.discover();
    await vendor.discover(['1', '8']);
    await vendor.discover(['1', '8', '9']);

    expect(vendor.alone()).toContain('9');
    expect(vendor.asked.filter((ids) => ids.includes('8'))).toHaveLength(1);
  });

  it('is not taken for absent if everything is answered with 404', async () => {
    const vendor = new Rounds(['1', '8', '9'], ['1']);
    for (const ids of ['1,8,9', '1,8', '1', '8', '9']) vendor.missed.add(ids);
    const outage = await vendor.discover();
    vendor.missed.clear();
    const after = await vendor.discover();

    expect(outage).toMatchObject({ ids: [], complete: false, error: { reason: 'not_found' } });
    expect(after).toMatchObject({ ids: ['1'], complete: true, pendingIds: [] });
    expect(vendor.alone()).toEqual(['8', '9']);
  });

  it('costs only one look-up an hour beside a name', async () => {
    const vendor = new Rounds(['8', '9'], ['1']);
    const calls: number[] = [];
    for (let minute = 0; minute <= 60; minute += 1) {
      const found = await vendor.discover(undefined, [{ kind: 'name', name: 'app 1' }]);
      expect(found).toMatchObject({ complete: true, pendingIds: [] });
      calls.push(found.calls);
    }

    expect(calls).toEqual([4, ...Array<number>(59).fill(1), 3]);
  });
});

describe('a known id that an answer left out', () => {
  it('is not absent before it was asked for alone, and is asked for before the others', async () => {
    const known = idsFrom(1, 13);
    const vendor = new Rounds([...idsFrom(500, 20), ...known], known);
    await vendor.discover();
    for (const id of known.slice(1)) vendor.has.delete(id);
    const first = await vendor.discover();
    const asked = vendor.alone();
    const second = await vendor.discover();

    expect(first).toMatchObject({ ids: ['1'], complete: true });
    expect(asked).toEqual(known.slice(1, 11));
    expect(first.pendingIds).toEqual(expect.arrayContaining(['12', '13']));
    expect(vendor.alone().slice(0, 2)).toEqual(['12', '13']);
    expect(second.pendingIds).not.toContain('12');
  });
});

describe('a vendor that answers 404 for all ids when it lacks one of them', () => {
  it('is asked for other ids first next time if it had none of these', async () => {
    const vendor = new Rounds([...idsFrom(700, 150), '1'], ['1'], '404 for all');
    const first = await vendor.discover();
    let { ids } = first;
    for (let round = 0; ids.length === 0 && round < 30; round += 1)
      ({ ids } = await vendor.discover());

    expect(first).toMatchObject({ complete: false, error: { reason: 'not_found' } });
    expect(await vendor.discover()).toMatchObject({ ids: ['1'], complete: true });
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
        const placeOf = (id: string): number => (Number(id) * 7919 + seed) % 101;
        const all = [...there, ...idsFrom(500, gone)].toSorted((a, b) => placeOf(a) - placeOf(b));
        const vendor = new Rounds(all, there, unknown);
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
