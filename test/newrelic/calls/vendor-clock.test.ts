import { describe, expect, it } from 'vitest';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/model/time.ts';
import {
  headerText,
  parseHttpDate,
  VendorClock,
} from '../../../src/newrelic/calls/vendor-clock.ts';

const epochMs = Date.UTC(2026, 8, 1, 10, 0, 0);

/** When the vendor gave an answer, by its own clock. */
function dated(sinceEpochMs: number): { readonly date: string } {
  return { date: new Date(epochMs + sinceEpochMs).toUTCString() };
}

interface Bench {
  readonly vendorClock: VendorClock;
  /** What was reported: seconds ahead and whether believed, or that it is over. */
  readonly told: readonly string[];
  /** An answer arrives at this monotonic time; the vendor's clock is this far ahead of ours. */
  readonly answer: (atMs: number, aheadMs?: number, tookMs?: number) => void;
  readonly at: (atMs: number) => void;
  /** Moves our wall clock alone. */
  readonly jumpWall: (ms: number) => void;
  /** The machine sleeps: its monotonic clock stands still, all others go on. */
  readonly sleep: (ms: number) => void;
  /** How far the vendor is ahead, in whole seconds. */
  readonly skewSeconds: () => number | undefined;
}

function aBench(): Bench {
  let nowMs = 0;
  let wallOffsetMs = epochMs;
  let sleptMs = 0;
  const told: string[] = [];
  const vendorClock = new VendorClock(
    {
      monotonicMs: () => nowMs,
      uptimeMs: () => sleptMs + nowMs,
      wallMs: () => wallOffsetMs + sleptMs + nowMs,
    },
    (skew) => {
      const seconds = Math.round((skew?.ms ?? 0) / secondMs);
      told.push(skew === undefined ? 'over' : `${seconds} ${skew.isBelieved}`);
    },
  );
  return {
    vendorClock,
    told,
    answer: (atMs, aheadMs = 0, tookMs = 0) => {
      nowMs = atMs;
      vendorClock.answered(dated(wallOffsetMs - epochMs + sleptMs + atMs - tookMs + aheadMs));
    },
    at: (atMs) => {
      nowMs = atMs;
    },
    jumpWall: (ms) => {
      wallOffsetMs += ms;
    },
    sleep: (ms) => {
      sleptMs += ms;
    },
    skewSeconds: () => {
      const seconds = vendorClock.skewSeconds();
      return seconds === undefined ? undefined : Math.round(seconds);
    },
  };
}

/** Answers, one a second. */
function answers(bench: Bench, fromMs: number, count: number, aheadMs: number): void {
  for (let one = 0; one < count; one += 1) bench.answer(fromMs + one * secondMs, aheadMs);
}

describe('the skew of the vendor clock', () => {
  it('is unknown until three answers have had a date', () => {
    const bench = aBench();

    bench.answer(0, hourMs);
    bench.vendorClock.answered({});
    bench.vendorClock.answered({ date: 'yesterday' });
    bench.answer(secondMs, hourMs);
    const ofTwo = bench.skewSeconds();
    bench.answer(2 * secondMs, hourMs);

    expect(ofTwo).toBeUndefined();
    expect(bench.skewSeconds()).toBe(3600);
    expect(bench.told).toEqual(['3600 true']);
  });

  it('is the median of the last answers, whatever odd ones say', () => {
    const bench = aBench();
    answers(bench, 0, 4, hourMs);

    bench.answer(4 * secondMs, -57 * 365 * dayMs);
    bench.answer(5 * secondMs, 72 * 365 * dayMs);

    expect(bench.skewSeconds()).toBe(3600);
    expect(bench.told).toEqual(['3600 true']);
  });

  it.each([
    { aheadMs: 30_000, isKnown: false },
    { aheadMs: 31_000, isKnown: true },
    { aheadMs: -30_000, isKnown: false },
    { aheadMs: -31_000, isKnown: true },
  ])('matters only beyond 30 s: $aheadMs ms', ({ aheadMs, isKnown }) => {
    const bench = aBench();

    answers(bench, 0, 9, aheadMs);

    expect(bench.skewSeconds() !== undefined).toBe(isKnown);
    expect(bench.told).toHaveLength(isKnown ? 1 : 0);
  });

  it('is reported once when it begins and once when it ends, and does not flap in between', () => {
    const bench = aBench();

    for (const [minute, aheadMs] of [60_000, 31_000, 29_000, 31_000, 26_000].entries()) {
      answers(bench, minute * minuteMs, 9, aheadMs);
    }
    const before = bench.told.length;
    answers(bench, 5 * minuteMs, 9, 25_000);
    answers(bench, 6 * minuteMs, 9, 29_000);

    expect(before).toBe(1);
    expect(bench.told).toEqual(['60 true', 'over']);
  });

  it.each([
    { what: 'a day', aheadMs: dayMs, isBelieved: true },
    { what: 'a day behind', aheadMs: -dayMs, isBelieved: true },
    { what: 'a year', aheadMs: 365 * dayMs, isBelieved: false },
    { what: 'a year behind', aheadMs: -365 * dayMs, isBelieved: false },
  ])('of $what is believed: $isBelieved', ({ aheadMs, isBelieved }) => {
    const bench = aBench();

    answers(bench, 0, 9, aheadMs);

    expect(bench.vendorClock.skewSeconds() !== undefined).toBe(isBelieved);
    expect(bench.told).toEqual([`${aheadMs / secondMs} ${isBelieved}`]);
  });

  it('is unknown when all answers disagree', () => {
    const bench = aBench();
    const oddHours = [5, -20, 11, 2, -7, 17, -1, 23, -13];

    for (const [index, hours] of oddHours.entries()) {
      bench.answer(index * secondMs, hours * hourMs);
    }

    expect(bench.skewSeconds()).toBeUndefined();
    expect(bench.told).toEqual([]);
  });

  it('is unknown when exactly half of the answers agree', () => {
    const bench = aBench();

    for (const [index, hours] of [1, 3, 3, 5].entries()) {
      bench.answer(index * secondMs, hours * hourMs);
    }

    expect(bench.skewSeconds()).toBeUndefined();
  });

  it('is known when most answers agree, however long some took', () => {
    const bench = aBench();

    for (let second = 0; second < 9; second += 1) {
      bench.answer(minuteMs + second * secondMs, hourMs, second % 2 === 0 ? 200 : 50_000);
    }

    expect(bench.skewSeconds()).toBe(3599);
  });
});

describe('the clock', () => {
  it.each([
    { ahead: [], isInDoubt: false, what: 'no answer' },
    { ahead: [180], isInDoubt: true, what: 'one that contradicts it' },
    { ahead: [-180, -180], isInDoubt: true, what: 'two that contradict it' },
    { ahead: [180, 180, 180], isInDoubt: false, what: 'three, which are believed' },
    { ahead: [60], isInDoubt: false, what: 'one that took a minute' },
    { ahead: [25 * 3600], isInDoubt: true, what: 'one that is a day ahead' },
    { ahead: [25 * 3600 + 1], isInDoubt: false, what: 'one beyond reason' },
  ])('is in doubt after $what: $isInDoubt', ({ ahead, isInDoubt }) => {
    const bench = aBench();

    for (const [second, seconds] of ahead.entries()) {
      bench.answer(second * secondMs, seconds * secondMs);
    }

    expect(bench.vendorClock.isInDoubt()).toBe(isInDoubt);
  });
});

describe('what was learned of the vendor clock', () => {
  it.each([
    { what: 'sleeps for an hour', sleepMs: hourMs, jumpMs: 0, aheadSeconds: -60 },
    { what: 'sets its clock on by an hour', sleepMs: 0, jumpMs: hourMs, aheadSeconds: -3660 },
    { what: 'sets its clock back by an hour', sleepMs: 0, jumpMs: -hourMs, aheadSeconds: 3540 },
  ])('holds when the machine $what', ({ sleepMs, jumpMs, aheadSeconds }) => {
    const bench = aBench();
    answers(bench, 0, 9, -minuteMs);

    bench.sleep(sleepMs);
    bench.jumpWall(jumpMs);

    expect(bench.skewSeconds()).toBe(aheadSeconds);
  });

  it.each([
    { what: 'ours is right', aheadMs: 0, told: [] },
    { what: 'ours is wrong', aheadMs: hourMs, told: ['3600 true'] },
  ])(
    'is that of the next answers after a pause that the uptime leaves out, if $what',
    ({ aheadMs, told }) => {
      const bench = aBench();
      answers(bench, 0, 9, aheadMs);

      bench.jumpWall(8 * hourMs);

      expect(bench.skewSeconds()).toBe((aheadMs - 8 * hourMs) / secondMs);
      bench.answer(10 * secondMs, aheadMs);
      expect(bench.skewSeconds()).toBeUndefined();
      answers(bench, 11 * secondMs, 2, aheadMs);
      expect(bench.skewSeconds()).toBe(aheadMs === 0 ? undefined : aheadMs / secondMs);
      expect(bench.told).toEqual(told);
    },
  );

  it('is measured by the monotonic clock where nothing else goes on during a sleep', () => {
    const clock = { monotonicMs: () => 7000, wallMs: () => epochMs };
    const vendorClock = new VendorClock(clock, () => undefined);

    for (let answer = 0; answer < 3; answer += 1) vendorClock.answered(dated(hourMs));

    expect(vendorClock.skewSeconds()).toBe(hourMs / secondMs);
  });

  it('is told again when the difference becomes one beyond reason, and when it no longer is', () => {
    const bench = aBench();
    answers(bench, 0, 9, hourMs);

    bench.jumpWall(-365 * dayMs);
    answers(bench, 10 * secondMs, 3, hourMs + 365 * dayMs);
    bench.jumpWall(365 * dayMs);
    answers(bench, 20 * secondMs, 3, hourMs);

    expect(bench.told).toEqual(['3600 true', `${3600 + 365 * 86_400} false`, '3600 true']);
  });
});

describe('when an answer was given', () => {
  it('is when it arrives, while nothing is known', () => {
    const { vendorClock, at } = aBench();
    at(2000);

    expect(vendorClock.answeredAtMs({}, 0)).toBe(2000);
    expect(vendorClock.answeredAtMs(dated(1000), 0)).toBe(2000);
  });

  it.each([
    { what: 'an answer that took long', dateMs: 11_000, answeredAtMs: 11_200 },
    { what: 'a date before the request', dateMs: 5000, answeredAtMs: 10_500 },
    { what: 'a date in the future', dateMs: 60_000, answeredAtMs: 40_000 },
  ])('is right for $what', ({ dateMs, answeredAtMs }) => {
    const { vendorClock, at } = aBench();
    at(900);
    vendorClock.answered(dated(0));
    at(1200);
    vendorClock.answered(dated(1000));

    at(40_000);

    expect(vendorClock.answeredAtMs(dated(dateMs), 10_500)).toBe(answeredAtMs);
  });

  it('is right after the machine has slept', () => {
    const { vendorClock, at, sleep } = aBench();
    at(200);
    vendorClock.answered(dated(0));

    sleep(hourMs);
    at(30_000);

    expect(vendorClock.answeredAtMs(dated(hourMs + 20_000), 0)).toBe(20_200);
  });
});

describe('headerText', () => {
  it.each([
    { what: 'a value', value: ' 7 ', text: '7' },
    { what: 'the first of several', value: [' 7', '8'], text: '7' },
    { what: 'none of an empty list', value: [], text: '' },
    { what: 'none of a header that is missing', value: undefined, text: '' },
  ])('is $what', ({ value, text }) => {
    expect(headerText({ 'retry-after': value }, 'retry-after')).toBe(text);
  });
});

describe('parseHttpDate', () => {
  const date = 'Tue, 01 Sep 2026 10:00:00 GMT';

  it('reads a date as HTTP writes it', () => {
    expect(parseHttpDate(date)).toBe(Date.UTC(2026, 8, 1, 10));
  });

  it.each([
    { what: 'another format', text: '2026-09-01T10:00:00Z' },
    { what: 'something before it', text: `x ${date}` },
    { what: 'another zone', text: `${date}+2` },
    { what: 'an impossible day', text: 'Tue, 99 Sep 2026 10:00:00 GMT' },
  ])('reads nothing from $what', ({ text }) => {
    expect(parseHttpDate(text)).toBeUndefined();
  });
});
