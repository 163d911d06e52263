import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Allowance,
  createQuotaEstimate,
  type QuotaEstimate,
  type RefusedMinute,
} from '../../src/transport/quota-estimate.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** The 51st second of a minute in which somebody else makes 200 calls, beside our 990. */
function aMinute(overrides: Partial<RefusedMinute> = {}): RefusedMinute {
  return {
    sentMs: 50_400,
    untilMs: 60_000,
    answered: 832,
    elapsedMs: 50_400,
    limitPerMinute: 1000,
    ...overrides,
  };
}

function held(perMinute: number): Allowance {
  return { perMinute, trialsAtOnce: undefined };
}

/** Sends so many calls at this moment. */
function send(estimate: QuotaEstimate, calls: number, atMs: number): void {
  for (let call = 0; call < calls; call += 1) estimate.sent(atMs);
}

/** Tries more than is known in the minute that begins at `atMs`, and is refused like before. */
function failTrial(estimate: QuotaEstimate, atMs: number): void {
  send(estimate, 800, atMs);
  estimate.refused(
    aMinute({ sentMs: atMs + 59_000, untilMs: atMs + minuteMs, answered: 800, elapsedMs: 59_000 }),
  );
}

describe('createQuotaEstimate', () => {
  it('allows the budget as long as nothing is refused', () => {
    const estimate = createQuotaEstimate(990);

    send(estimate, 2000, 0);

    expect(estimate.allowance(0)).toEqual(held(990));
  });

  it.each([
    { what: 'somebody else takes 200 a minute', answered: 832, elapsedMs: 50_400, known: 760 },
    { what: 'a burst of somebody else', answered: 3, elapsedMs: 1000, known: 99 },
    { what: 'a minute of unknown begin', answered: 990, elapsedMs: minuteMs, known: 940 },
    { what: 'a minute that has just begun', answered: 0, elapsedMs: 0, known: 99 },
  ])('takes $known a minute for sure when $what', ({ answered, elapsedMs, known }) => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute({ answered, elapsedMs }));

    send(estimate, known - 1, 60_000);
    const below = estimate.allowance(60_000);
    send(estimate, 1, 60_000);

    expect(below).toEqual(held(990));
    expect(estimate.allowance(60_000).trialsAtOnce).toBe(known < 495 ? 4 : 1);
  });

  it('takes refusals of calls that were under way together for one', () => {
    const estimate = createQuotaEstimate(990);

    estimate.refused(aMinute({ sentMs: 50_000 }));
    estimate.refused(aMinute({ sentMs: 50_000, answered: 5 }));
    estimate.refused(aMinute({ sentMs: 59_999, answered: 5 }));
    send(estimate, 759, 60_000);

    expect(estimate.allowance(60_000)).toEqual(held(990));
  });

  it('has it all back when as much was sent in a minute without a refusal', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());

    send(estimate, 850, 60_000);
    send(estimate, 849, 120_000);
    const afterOneMinute = estimate.allowance(179_999);
    send(estimate, 120, 179_999);
    const beyond = estimate.allowance(179_999);
    const whole = estimate.allowance(180_000);
    send(estimate, 2000, 180_000);

    expect(afterOneMinute).toEqual(held(990));
    expect(beyond.trialsAtOnce).toBe(1);
    expect(whole).toEqual(held(990));
    expect(estimate.allowance(180_000)).toEqual(held(990));
  });

  it('forgets nothing as long as nobody wants more than is known', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());

    send(estimate, 500, 60_000);
    send(estimate, 760, 9 * hourMs);

    expect(estimate.allowance(9 * hourMs).trialsAtOnce).toBe(1);
  });

  it('waits for an hour, two, and then four after trials that were refused', () => {
    const estimate = createQuotaEstimate(990);
    const holds: number[] = [];
    estimate.refused(aMinute());
    let atMs = 60_000;

    for (let trial = 0; trial < 5; trial += 1) {
      const fromMs = atMs;
      while (estimate.allowance(atMs).perMinute < 990) atMs += minuteMs;
      holds.push((atMs - fromMs) / minuteMs);
      failTrial(estimate, atMs);
      atMs += minuteMs;
    }

    expect(holds).toEqual([0, 60, 120, 240, 240]);
  });

  it('asks for no more than what is known while it waits', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());

    failTrial(estimate, 60_000);
    send(estimate, 2000, 120_000);

    expect(estimate.allowance(120_000)).toEqual(held(756));
  });

  it('asks for less when even that is refused', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());
    failTrial(estimate, 60_000);

    const minute = { sentMs: 1_230_000, untilMs: 1_260_000, answered: 700, elapsedMs: 59_000 };
    estimate.refused(aMinute(minute));

    expect(estimate.allowance(1_260_000)).toEqual(held(660));
  });

  it('tries again in every minute of a storm, since nobody storms for hours', () => {
    const estimate = createQuotaEstimate(990);
    let atMs = 0;

    for (let minute = 0; minute < 10; minute += 1) {
      estimate.refused(
        aMinute({
          sentMs: atMs + 20_000,
          untilMs: atMs + minuteMs,
          answered: 200,
          elapsedMs: 20_000,
        }),
      );
      atMs += minuteMs;
      send(estimate, 200, atMs);
    }

    expect(estimate.allowance(atMs)).toEqual({ perMinute: 990, trialsAtOnce: 4 });
  });

  it('starts with a trial at once again after one that succeeded', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());
    failTrial(estimate, 60_000);
    const secondTrialMs = 120_000 + hourMs;
    send(estimate, 980, secondTrialMs);

    const againMs = secondTrialMs + 5 * minuteMs;
    estimate.refused(aMinute({ sentMs: againMs, untilMs: againMs + 10_000 }));

    expect(estimate.allowance(againMs + 10_000).perMinute).toBe(990);
  });

  it('keeps to a budget that becomes smaller than what was learned, and to what was learned', () => {
    const estimate = createQuotaEstimate(990);
    estimate.refused(aMinute());
    failTrial(estimate, 60_000);

    estimate.resize(500);
    const smaller = estimate.allowance(120_000);
    estimate.resize(1000);

    expect(smaller).toEqual(held(500));
    expect(estimate.allowance(120_000)).toEqual(held(756));
  });

  it('never allows more than the budget nor nothing at all, whatever is refused', () => {
    const minute = fc.record({
      gapMs: fc.nat(10 * hourMs),
      pauseMs: fc.nat(300_000),
      answered: fc.nat(2000),
      elapsedMs: fc.nat(minuteMs),
      limitPerMinute: fc.integer({ min: 1, max: 5000 }),
      sent: fc.nat(50),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(minute), (budget, minutes) => {
        const estimate = createQuotaEstimate(budget);
        let nowMs = 0;
        for (const { gapMs, pauseMs, sent, ...rest } of minutes) {
          nowMs += gapMs;
          send(estimate, sent, nowMs);
          estimate.refused({ ...rest, sentMs: nowMs, untilMs: nowMs + pauseMs });

          const { perMinute, trialsAtOnce = 1 } = estimate.allowance(nowMs);

          expect(perMinute).toBeGreaterThanOrEqual(1);
          expect(perMinute).toBeLessThanOrEqual(budget);
          expect(trialsAtOnce).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
