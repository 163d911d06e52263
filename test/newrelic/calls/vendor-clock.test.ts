import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, secondMs } from '../../../src/model/time.ts';
import { VendorClock } from '../../../src/newrelic/calls/vendor-clock.ts';

const epochMs = Date.UTC(2026, 8, 1, 10, 0, 0);

/** When the vendor gave an answer, by its own clock. */
function dated(sinceEpochMs: number): { readonly date: string } {
  return { date: new Date(epochMs + sinceEpochMs).toUTCString() };
}

/** A machine whose clocks a test moves. */
class Bench {
  nowMs = 0;
  /** Of our wall clock alone. */
  jumpedMs = 0;
  /** The monotonic clock stands still during a sleep, all others go on. */
  sleptMs = 0;
  readonly vendorClock = new VendorClock({
    monotonicMs: () => this.nowMs,
    uptimeMs: () => this.sleptMs + this.nowMs,
    wallMs: () => epochMs + this.jumpedMs + this.sleptMs + this.nowMs,
  });

  /** One answer a second, given when the vendor's clock was so far ahead of ours. */
  answers(...aheadMs: readonly number[]): this {
    for (const ms of aheadMs) {
      this.vendorClock.answered(dated(this.jumpedMs + this.sleptMs + this.nowMs + ms));
      this.nowMs += secondMs;
    }
    return this;
  }

  /** How far the vendor is ahead, in whole seconds. */
  skewSeconds(): number | undefined {
    const seconds = this.vendorClock.skewSeconds();
    return seconds === undefined ? undefined : Math.round(seconds);
  }
}

function times(count: number, ms: number): readonly number[] {
  return Array<number>(count).fill(ms);
}

const year = 365 * dayMs;

describe('the skew of the vendor clock', () => {
  it.each<[string, readonly number[], number | undefined]>([
    ['the median, whatever odd ones say', [...times(4, hourMs), -57 * year, 72 * year], 3600],
    ['of no matter up to 30 s', times(9, 30_000), undefined],
    ['known beyond', times(9, 31_000), 31],
    ['of no matter up to 30 s behind', times(9, -30_000), undefined],
    ['known beyond, behind', times(9, -31_000), -31],
    ['believed of a day', times(9, dayMs), 86_400],
    ['believed of a day behind', times(9, -dayMs), -86_400],
    [
      'the median, however long some took',
      [1, 2, 3, 4, 5].flatMap(() => [hourMs - 200, hourMs - 50_000]).slice(1),
      3550,
    ],
  ])('is %s', (_, aheadMs, skewSeconds) => {
    expect(new Bench().answers(...aheadMs).skewSeconds()).toBe(skewSeconds);
  });

  it('is not changed by answers without a date', () => {
    const bench = new Bench();
    bench.vendorClock.answered({});
    bench.vendorClock.answered({ date: 'yesterday' });

    expect(bench.skewSeconds()).toBeUndefined();
  });

  it('does not flap: it is over when it has become smaller than 25 s', () => {
    const bench = new Bench();
    const seen = [60, 31, 29, 31, 26, 25, 29].map((seconds) =>
      bench.answers(...times(9, seconds * secondMs)).skewSeconds(),
    );

    expect(seen).toEqual([60, 31, 29, 31, 26, undefined, undefined]);
  });

  it.each([
    { what: 'ours is right', aheadMs: 0, is: undefined },
    { what: 'ours is wrong', aheadMs: hourMs, is: 3600 },
  ])('is right again five answers after a pause that the uptime leaves out, if $what', (row) => {
    const bench = new Bench().answers(...times(9, row.aheadMs));
    bench.jumpedMs = 8 * hourMs;
    const before = bench.answers(...times(4, row.aheadMs)).skewSeconds();
    const after = bench.answers(row.aheadMs).skewSeconds();

    expect([before, after]).toEqual([(row.aheadMs - 8 * hourMs) / secondMs, row.is]);
  });

  it('is measured by the monotonic clock where nothing else goes on during a sleep', () => {
    const clock = { monotonicMs: () => 7000, wallMs: () => epochMs };
    const vendorClock = new VendorClock(clock);
    for (let answer = 0; answer < 3; answer += 1) vendorClock.answered(dated(hourMs));

    expect(vendorClock.skewSeconds()).toBe(hourMs / secondMs);
  });
});

describe('when an answer was given', () => {
  it('is when it arrives, if it does not say when', () => {
    const bench = Object.assign(new Bench(), { nowMs: 2000 });

    expect(bench.vendorClock.answeredAtMs({}, 0)).toBe(2000);
  });

  it.each([
    { what: 'an answer that took long', dateMs: 11_000, answeredAtMs: 11_200 },
    { what: 'a date before the request', dateMs: 5000, answeredAtMs: 10_500 },
    { what: 'a date in the future', dateMs: 60_000, answeredAtMs: 40_000 },
    {
      what: 'a machine that has slept since',
      dateMs: hourMs + 20_000,
      sleptMs: hourMs,
      answeredAtMs: 20_200,
    },
  ])('is right for $what', ({ dateMs, answeredAtMs, sleptMs = 0 }) => {
    const bench = Object.assign(new Bench(), { nowMs: 900 });
    bench.vendorClock.answered(dated(0));
    bench.nowMs = 1200;
    bench.vendorClock.answered(dated(1000));
    Object.assign(bench, { nowMs: 40_000, sleptMs });

    expect(bench.vendorClock.answeredAtMs(dated(dateMs), 10_500)).toBe(answeredAtMs);
  });
});
