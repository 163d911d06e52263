import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../../src/model/source.ts';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import { AccountPlanner, CallRate, plannedCapacityOf } from '../../src/poll/account-plan.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aContext, aSilentSource } from '../support/a-context.ts';
import { aSelected } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;

describe('plannedCapacityOf', () => {
  it.each([
    { what: 'the limit of the key', limit: 800, carried: 4800, expected: 800 },
    { what: 'nine tenths of what the connections carry', limit: 800, carried: 240, expected: 216 },
    {
      what: 'the limit before any call was answered',
      limit: 800,
      carried: Infinity,
      expected: 800,
    },
    { what: 'the limit when both are the same', limit: 720, carried: 800, expected: 720 },
    {
      what: 'nine tenths of what is carried, though that is the limit',
      limit: 800,
      carried: 800,
      expected: 720,
    },
  ])('is $what', ({ limit, carried, expected }) => {
    const capacity = { limitPerMinute: limit, carriedPerMinute: carried };

    expect(plannedCapacityOf(capacity)).toBe(expected);
  });
});

interface Bench {
  readonly clock: FakeClock;
  readonly planner: AccountPlanner;
  /** What the account can do. A test may change it. */
  readonly now: { limitPerMinute: number; carriedPerMinute: number; costChanges: number };
}

function aPlanner(): Bench {
  const clock = createFakeClock();
  const now = { limitPerMinute: 800, carriedPerMinute: Infinity, costChanges: 0 };
  const source = aSilentSource({ ...restCosts, costChanges: () => now.costChanges });
  const calls = Object.assign(accountCalls(clock), {
    limitPerMinute: () => now.limitPerMinute,
    carriedPerMinute: () => now.carriedPerMinute,
  });
  const planner = new AccountPlanner(minuteMs, aContext({ clock, source, calls }));
  return { clock, planner, now };
}

/** An application that takes this many calls a minute. */
function taking(perMinute: number): readonly Subject[] {
  const hostIds = Array.from({ length: perMinute - 1 }, (_, index) => `${index}`);
  return [{ kind: 'application', selected: aSelected({ id: '1', hostIds }) }];
}

describe('other calls', () => {
  /** The demand if there are only other calls, a minute after the start. */
  const demandOf = ({ planner, clock }: Bench): number => {
    planner.replan([]);
    expect(clock.monotonicMs()).toBe(minuteMs);
    // The nine minutes before the start count as well.
    return planner.plan.demandPerMinute * 9;
  };

  it('include look-ups that a discovery makes once an hour, at their recent rate', async () => {
    const bench = aPlanner();
    await bench.clock.advance(minuteMs);

    bench.planner.discovered({ calls: 9, lookUpCalls: 9, complete: true }, 2 * minuteMs);

    expect(demandOf(bench)).toBeCloseTo(9, 9);
    await bench.clock.advance(10 * minuteMs);
    bench.planner.discovered({ calls: 1, complete: true }, 2 * minuteMs);
    bench.planner.replan([]);
    expect(bench.planner.plan.demandPerMinute).toBe(0.5);
  });
});

describe('what a plan leaves for what has failed', () => {
  it.each([
    { what: 'what the demand leaves', taken: 100, free: 700 },
    { what: 'what is kept back, if that is more', taken: 795, free: 12 },
    { what: 'what is kept back where the budget does not suffice', taken: 2000, free: 12 },
  ])('is $what', ({ taken, free }) => {
    const { planner } = aPlanner();

    planner.replan(taking(taken));

    expect(planner.plan.freePerMinute).toBeCloseTo(free, 9);
  });
});

describe('isOutdated', () => {
  it.each([
    { what: 'a call more may be sent', change: { limitPerMinute: 801 }, outdated: true },
    { what: 'a call less may be sent', change: { limitPerMinute: 799 }, outdated: true },
    { what: 'polls cost something else', change: { costChanges: 1 }, outdated: true },
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
    {
      what: 'carries one and a half times what may be sent',
      carriedPerMinute: 1200,
      outdated: true,
    },
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
});

/** The rate by its definition: counted each time from a list of all calls. */
function rateOf(
  calls: readonly { readonly atMs: number; readonly count: number }[],
  nowMs: number,
): number {
  const minute = Math.floor(nowMs / minuteMs);
  const sinceMs = (minute - 9) * minuteMs;
  const lately = calls.filter(({ atMs }) => atMs >= sinceMs);
  const sum = lately.reduce((total, { count }) => total + count, 0);
  return (sum * minuteMs) / (nowMs - sinceMs);
}

describe('CallRate', () => {
  it('is the mean over the last nine whole minutes and the part of the present one that has passed', () => {
    fc.assert(
      fc.property(
        fc.nat(20 * minuteMs),
        fc.array(
          fc.record({
            afterMs: fc.oneof(fc.nat(1000), fc.nat(3 * minuteMs), fc.nat(30 * minuteMs)),
            count: fc.nat(500),
            isAdded: fc.boolean(),
          }),
          { maxLength: 40 },
        ),
        (startMs, steps) => {
          const rate = new CallRate();
          const calls: { atMs: number; count: number }[] = [];
          let nowMs = startMs;
          for (const { afterMs, count, isAdded } of steps) {
            nowMs += afterMs;
            if (isAdded) {
              rate.add(count, nowMs);
              calls.push({ atMs: nowMs, count });
            }
            expect(rate.perMinute(nowMs)).toBeCloseTo(rateOf(calls, nowMs), 9);
          }
        },
      ),
      { examples: [[0, [{ afterMs: 0, count: 3, isAdded: true }]]] },
    );
  });

  it.each([
    { what: 'is steady where the calls are', perMinute: 30, minutes: 30, expected: 30 },
    { what: 'forgets what was ten minutes ago', perMinute: 0, minutes: 10, expected: 0 },
  ])('$what', ({ perMinute, minutes, expected }) => {
    const rate = new CallRate();
    for (let minute = 0; minute < 20; minute += 1) rate.add(30, minute * minuteMs);

    for (let minute = 20; minute < 20 + minutes; minute += 1) {
      rate.add(perMinute, minute * minuteMs + 1);
    }

    expect(rate.perMinute((20 + minutes) * minuteMs)).toBe(expected);
  });
});
