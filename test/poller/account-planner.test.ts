import { describe, expect, it } from 'vitest';
import { restCosts } from '../../src/newrelic/rest-source.ts';
import { type AccountPlanner, createAccountPlanner } from '../../src/poller/account-plan.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;

interface Bench {
  readonly clock: FakeClock;
  readonly planner: AccountPlanner;
  /** What the account can do, and what it has retried; to be changed at will. */
  readonly now: { limitPerMinute: number; carriedPerMinute: number; retries: number };
}

function aPlanner(): Bench {
  const clock = createFakeClock();
  const now = { limitPerMinute: 800, carriedPerMinute: Infinity, retries: 5 };
  const planner = createAccountPlanner(
    { discoveryIntervalMs: minuteMs },
    {
      clock,
      costs: restCosts,
      capacity: () => ({ ...now }),
      retries: () => now.retries,
    },
  );
  return { clock, planner, now };
}

/** Applications that take so many calls a minute. */
function taking(perMinute: number): { readonly selected: ReturnType<typeof aSelected> }[] {
  const hostIds = Array.from({ length: perMinute - 1 }, (_, index) => `${index}`);
  return [{ selected: aSelected({ id: '1', hostIds }) }];
}

describe('a plan', () => {
  it('is there before anything is known, for the capacity of now', () => {
    const { planner } = aPlanner();

    expect(planner.plan).toMatchObject({ demandPerMinute: 0, capacityPerMinute: 800, stretch: 1 });
  });

  it('gives the factor by which the intervals have changed', () => {
    const { planner, now } = aPlanner();
    planner.replan(taking(100));
    now.limitPerMinute = 50;

    const longer = planner.replan(taking(100));
    const { stretch } = planner.plan;
    const same = planner.replan(taking(100));
    now.limitPerMinute = 800;
    const shorter = planner.replan(taking(100));

    expect(stretch).toBeCloseTo(100 / (50 * 0.985), 10);
    expect([longer, same, shorter]).toEqual([stretch, 1, 1 / stretch]);
    expect(planner.plan.stretch).toBe(1);
  });

  it.each([
    {
      what: 'keeps the intervals when they would change by less than half a percent',
      limit: 50.2,
      moved: false,
    },
    { what: 'changes them when they would by more', limit: 50.3, moved: true },
  ])('$what', ({ limit, moved }) => {
    const { planner, now } = aPlanner();
    now.limitPerMinute = 50;
    planner.replan(taking(100));
    const { stretch } = planner.plan;

    now.limitPerMinute = limit;
    const factor = planner.replan(taking(100));

    expect(factor !== 1).toBe(moved);
    expect(planner.plan.stretch / stretch).toBeCloseTo(factor, 10);
    expect(planner.plan.budgetPerMinute).toBe(limit);
  });

  it('keeps its capacity while the speed of the vendor moves by less than a tenth', () => {
    const { planner, now } = aPlanner();
    now.carriedPerMinute = 100;
    planner.replan(taking(100));
    const { stretch } = planner.plan;
    const factors = [105, 95, 109, 91].map((carriedPerMinute) => {
      now.carriedPerMinute = carriedPerMinute;
      return planner.replan(taking(100));
    });

    expect(factors).toEqual([1, 1, 1, 1]);
    expect(planner.plan).toMatchObject({ capacityPerMinute: 90, stretch });
    now.carriedPerMinute = 89;
    expect(planner.replan(taking(100))).toBeCloseTo(100 / 89, 10);
  });

  it('ends a stretch, however small it was, and begins one', () => {
    const { planner, now } = aPlanner();
    now.limitPerMinute = 101.4;
    const longer = planner.replan(taking(100));
    now.limitPerMinute = 101.6;

    const shorter = planner.replan(taking(100));

    expect(longer).toBeGreaterThan(1);
    expect(longer).toBeLessThan(1.005);
    expect(shorter).toBeLessThan(1);
    expect(planner.plan.stretch).toBe(1);
  });
});

describe('other calls', () => {
  /** The demand of nothing but other calls, a minute after the start. */
  const demandOf = ({ planner, clock }: Bench): number => {
    planner.replan([]);
    expect(clock.monotonicMs()).toBe(minuteMs);
    // Nine minutes before the start count as well.
    return planner.plan.demandPerMinute * 9;
  };

  it('are the retries since the last plan, each of them once', async () => {
    const bench = aPlanner();
    await bench.clock.advance(minuteMs);
    bench.now.retries = 14;

    const first = demandOf(bench);
    const again = demandOf(bench);
    bench.now.retries = 15;
    const later = demandOf(bench);

    expect([first, again, later]).toEqual([9, 9, 10]);
  });

  it('are the calls for host names', async () => {
    const bench = aPlanner();
    await bench.clock.advance(minuteMs);

    for (const calls of [0, 3, 4]) bench.planner.asked(calls);

    expect(demandOf(bench)).toBe(7);
  });

  it.each([
    { what: 'took five calls every two minutes', calls: [5], demand: 2.5 },
    { what: 'takes fewer than the last one', calls: [5, 1], demand: 0.5 },
    { what: 'failed at once, which tells nothing of the next one', calls: [5, 0], demand: 2.5 },
  ])('are those of a discovery that $what', ({ calls, demand }) => {
    const { planner } = aPlanner();

    for (const one of calls) planner.discovered(one, 2 * minuteMs);
    planner.replan([]);

    expect(planner.plan.demandPerMinute).toBe(demand);
  });
});

describe('isOutdated', () => {
  it.each([
    { what: 'a call more may be sent', change: { limitPerMinute: 801 }, outdated: true },
    { what: 'a call less may be sent', change: { limitPerMinute: 799 }, outdated: true },
    { what: 'the vendor is as fast as before', change: {}, outdated: false },
    { what: 'the vendor is a tenth slower', change: { carriedPerMinute: 450.1 }, outdated: false },
    { what: 'the vendor is still slower', change: { carriedPerMinute: 449.9 }, outdated: true },
    { what: 'the vendor is a tenth faster', change: { carriedPerMinute: 549.9 }, outdated: false },
    { what: 'the vendor is still faster', change: { carriedPerMinute: 550.1 }, outdated: true },
  ])('says $outdated when $what', ({ change, outdated }) => {
    const { planner, now } = aPlanner();
    now.carriedPerMinute = 500;
    planner.replan(taking(100));

    Object.assign(now, change);

    expect(planner.isOutdated()).toBe(outdated);
    planner.replan(taking(100));
    expect(planner.isOutdated()).toBe(false);
  });

  it.each([
    { what: 'carries a little more', carriedPerMinute: 1190, outdated: false },
    { what: 'carries half as much again as may be sent', carriedPerMinute: 1200, outdated: true },
  ])('says $outdated when a vendor that was slightly too slow $what', (row) => {
    const { planner, now } = aPlanner();
    for (const carriedPerMinute of [700, 850]) {
      now.carriedPerMinute = carriedPerMinute;
      planner.replan(taking(800));
    }
    const { stretch } = planner.plan;

    now.carriedPerMinute = row.carriedPerMinute;

    expect(planner.isOutdated()).toBe(row.outdated);
    planner.replan(taking(800));
    expect(planner.plan.stretch < stretch).toBe(row.outdated);
  });

  it('says false while the vendor is so fast that only the limit counts', () => {
    const { planner, now } = aPlanner();
    now.carriedPerMinute = 2000;
    planner.replan(taking(100));

    now.carriedPerMinute = 20_000;

    expect(planner.isOutdated()).toBe(false);
  });
});
