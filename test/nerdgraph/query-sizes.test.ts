import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createQuerySizes,
  fullSize,
  type QuerySize,
  type QuerySizes,
} from '../../src/nerdgraph/query-sizes.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;

function aBench(...failed: readonly Partial<QuerySize>[]): {
  readonly clock: FakeClock;
  readonly sizes: QuerySizes;
} {
  const clock = createFakeClock();
  const sizes = createQuerySizes({ clock });
  for (const size of failed) sizes.tooLarge(size);
  return { clock, sizes };
}

describe('the size of queries', () => {
  it('is full at first', () => {
    expect(aBench().sizes.current()).toEqual({ applications: 200, rows: 2500 });
  });

  it.each([
    { failed: { rows: 2500 }, is: { applications: 200, rows: 1250 } },
    { failed: { applications: 200 }, is: { applications: 100, rows: 2500 } },
    { failed: { applications: 200, rows: 2500 }, is: { applications: 100, rows: 1250 } },
    { failed: { rows: 12_000 }, is: { applications: 200, rows: 2500 } },
    { failed: { rows: 4000 }, is: { applications: 200, rows: 2000 } },
  ])('after $failed was too large is half of that kind', ({ failed, is }) => {
    expect(aBench(failed).sizes.current()).toEqual(is);
  });

  it.each([
    { failed: { rows: 9 }, is: { applications: 200, rows: 1250 } },
    { failed: { applications: 1 }, is: { applications: 100, rows: 2500 } },
  ])('after the small query $failed falls to the half at most', ({ failed, is }) => {
    expect(aBench(failed).sizes.current()).toEqual(is);
  });

  it('halves again for the parts of a part', () => {
    const { sizes } = aBench({ rows: 2400 }, { rows: 1200 });

    expect(sizes.current()).toEqual({ applications: 200, rows: fullSize.rows / 4 });
  });

  it('does not grow because a larger query fails late', () => {
    const { sizes } = aBench({ rows: 4000 }, { rows: 2000 });

    sizes.tooLarge({ rows: 4000 });

    expect(sizes.current().rows).toBe(1000);
  });

  it('ends at 25 applications and 150 rows', () => {
    const failed = Array.from({ length: 20 }, () => ({ applications: 1, rows: 1 }));

    expect(aBench(...failed).sizes.current()).toEqual({ applications: 25, rows: 150 });
  });
});

describe('the recovery', () => {
  it('doubles the size every ten minutes, up to the full one', async () => {
    const { clock, sizes } = aBench({ rows: 4000 }, { rows: 2000 }, { applications: 200 });
    const seen: QuerySize[] = [];
    for (let step = 0; step < 4; step += 1) {
      await clock.advance(10 * minuteMs - 1);
      seen.push(sizes.current());
      await clock.advance(1);
    }

    expect(seen).toEqual([
      { applications: 100, rows: 1000 },
      { applications: 200, rows: 2000 },
      fullSize,
      fullSize,
    ]);
  });

  it('waits anew after every failure', async () => {
    const { clock, sizes } = aBench({ rows: 4000 });
    await clock.advance(9 * minuteMs);
    sizes.tooLarge({ rows: 2000 });

    await clock.advance(9 * minuteMs);
    expect(sizes.current().rows).toBe(1000);
    await clock.advance(minuteMs);
    expect(sizes.current().rows).toBe(2000);
  });

  it('doubles once after any time without a query', async () => {
    const { clock, sizes } = aBench({ rows: 4000 }, { rows: 2000 });
    await clock.advance(600 * minuteMs);

    expect(sizes.current().rows).toBe(2000);
    expect(sizes.current().rows).toBe(2000);
  });
});

describe('whatever fails', () => {
  it('the size stays within its bounds, and never grows by a failure', () => {
    const failure = fc.record(
      { applications: fc.integer({ min: 1, max: 500 }), rows: fc.integer({ min: 0, max: 20_000 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(failure), (failures) => {
        const { sizes } = aBench();
        for (const failed of failures) {
          const before = sizes.current();
          sizes.tooLarge(failed);
          const { applications, rows } = sizes.current();

          expect(applications).toBeGreaterThanOrEqual(
            Math.max(25, Math.floor(before.applications / 2)),
          );
          expect(applications).toBeLessThanOrEqual(before.applications);
          expect(rows).toBeGreaterThanOrEqual(Math.max(150, Math.floor(before.rows / 2)));
          expect(rows).toBeLessThanOrEqual(before.rows);
        }
      }),
    );
  });
});
