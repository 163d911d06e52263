import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fairShares, KeyTable, type Member } from '../../src/rate-limit/key-table.ts';
import { anAccount } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';
import { neverAborted } from '../transport/fakes.ts';

const place = anAccount();

const member: Member = {
  name: 'production',
  requestsPerMinute: 5,
  demandPerMinute: 5,
  isWatching: false,
  shareMayHaveChanged: () => undefined,
};

describe('KeyTable', () => {
  it('forgets a key without accounts that nothing distinguishes from a new one', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });

    const first = keys.find(place, 'key-1', 5);
    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5)).not.toBe(first);
  });

  it('keeps a key that an account uses', () => {
    const keys = new KeyTable({ clock: createFakeClock(), logger: createFakeLogger() });
    const first = keys.find(place, 'key-1', 5);
    keys.add(first, member);

    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5)).toBe(first);
  });

  it.each([
    { afterMs: 60_000, isKept: true },
    { afterMs: 60_001, isKept: false },
  ])('keeps a key that was used $afterMs ms ago: $isKept', async ({ afterMs, isKept }) => {
    const clock = createFakeClock();
    const keys = new KeyTable({ clock, logger: createFakeLogger() });
    const first = keys.find(place, 'key-1', 5);
    const permit = await first.limiter.acquire({ urgent: false, owner: {} }, neverAborted);
    permit?.release();

    await clock.advance(afterMs);
    keys.find(place, 'key-2', 5);

    expect(keys.find(place, 'key-1', 5) === first).toBe(isKept);
  });
});

describe('fairShares', () => {
  it.each([
    { what: 'all of it to one alone', limit: 800, demands: [20], shares: [800] },
    {
      what: 'equal shares to those that want everything',
      limit: 90,
      demands: [800, 500, 100],
      shares: [30, 30, 30],
    },
    {
      what: 'those that want little what they want',
      limit: 100,
      demands: [10, 500, 20],
      shares: [10, 70, 20],
    },
    {
      what: 'what nobody wants to all in equal shares',
      limit: 100,
      demands: [10, 30],
      shares: [40, 60],
    },
    {
      what: 'equal shares while no demand is known',
      limit: 100,
      demands: [Infinity, Infinity],
      shares: [50, 50],
    },
    {
      what: 'the rest to one with an unknown demand',
      limit: 100,
      demands: [Infinity, 10],
      shares: [90, 10],
    },
    { what: 'nothing to nobody', limit: 100, demands: [], shares: [] },
  ])('gives $what', ({ limit, demands, shares }) => {
    expect(fairShares(limit, demands)).toEqual(shares);
  });

  it('divides exactly the limit, gives nobody less than an equal share or the demand, and treats equals alike', () => {
    const demand = fc.oneof(fc.nat(1000), fc.constant(Number.POSITIVE_INFINITY));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(demand, { minLength: 1, maxLength: 8 }),
        (limit, demands) => {
          const shares = fairShares(limit, demands);

          expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(limit);
          for (const [index, share] of shares.entries()) {
            const own = demands[index] ?? 0;
            expect(share).toBeGreaterThan(Math.min(own, limit / demands.length) - 1e-6);
            for (const [other, otherShare] of shares.entries()) {
              const isNoSmaller = (demands[other] ?? 0) >= own;
              expect(isNoSmaller ? otherShare : limit).toBeGreaterThan(share - 1e-6);
            }
          }
        },
      ),
    );
  });
});
