import { describe, expect, it } from 'vitest';
import {
  createQuotaEstimate,
  type QuotaEstimate,
  type RefusedMinute,
} from '../../src/transport/quota-estimate.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A whole minute in which we made 80 calls, and somebody else 20 of the 100 that are allowed. */
function aMinute(overrides: Partial<RefusedMinute> = {}): RefusedMinute {
  return {
    sentMs: 59_000,
    untilMs: minuteMs,
    answered: 80,
    elapsedMs: minuteMs,
    limitPerMinute: 100,
    ...overrides,
  };
}

function send(estimate: QuotaEstimate, calls: number, atMs: number): void {
  for (let call = 0; call < calls; call += 1) estimate.sent(atMs);
}

/** An estimate that takes 76 of 100 calls for known, and tries more from 60 s on. */
function refusedOnce(): QuotaEstimate {
  const estimate = createQuotaEstimate(100);
  estimate.refused(aMinute());
  return estimate;
}

/** An estimate that allows 76 of 100 calls until an hour after 120 s. */
function refusedTwice(): QuotaEstimate {
  const estimate = refusedOnce();
  estimate.refused(aMinute({ sentMs: 119_000, untilMs: 2 * minuteMs }));
  return estimate;
}

describe('createQuotaEstimate, at its edges', () => {
  it.each([
    { what: 'sent before the pause ended is old news', sentMs: 59_999, perMinute: 100 },
    { what: 'sent when the pause ended is a trial that failed', sentMs: 60_000, perMinute: 76 },
  ])('a refusal of a call $what', ({ sentMs, perMinute }) => {
    const estimate = refusedOnce();

    estimate.refused(aMinute({ sentMs, untilMs: 2 * minuteMs }));

    expect(estimate.allowance(2 * minuteMs).perMinute).toBe(perMinute);
  });

  it('takes off a little when it asked for no more than it knew and was refused all the same', () => {
    const estimate = refusedTwice();

    estimate.refused(aMinute({ sentMs: hourMs, untilMs: hourMs + 1000, answered: 95 }));

    expect(estimate.allowance(hourMs + 1000).perMinute).toBe(Math.floor(0.95 * 76));
  });

  it('does not let a refusal within the hold make the next hold longer', () => {
    const estimate = refusedTwice();

    estimate.refused(aMinute({ sentMs: hourMs, untilMs: hourMs + 1000, answered: 95 }));

    expect(estimate.allowance(2 * hourMs + 999).perMinute).toBe(72);
    expect(estimate.allowance(2 * hourMs + 1000).perMinute).toBe(100);
  });

  it('does not take a share off a budget that is smaller than what was left', () => {
    const estimate = createQuotaEstimate(50);

    estimate.refused(aMinute());
    send(estimate, 49, minuteMs);

    expect(estimate.allowance(minuteMs)).toEqual({ perMinute: 50, trialsAtOnce: undefined });
  });

  it('does not take what was sent during a hold for a trial', () => {
    const estimate = refusedTwice();
    const holdEndsMs = 2 * minuteMs + hourMs;

    for (let atMs = 2 * minuteMs; atMs < holdEndsMs; atMs += minuteMs) send(estimate, 76, atMs);
    send(estimate, 76, holdEndsMs);

    expect(estimate.allowance(holdEndsMs)).toEqual({ perMinute: 100, trialsAtOnce: 1 });
  });

  it.each([
    { sent: 96, trialsAtOnce: 1 },
    { sent: 97, trialsAtOnce: undefined },
  ])('tries $trialsAtOnce at once after a minute of $sent calls', ({ sent, trialsAtOnce }) => {
    const estimate = refusedOnce();

    send(estimate, sent, minuteMs);
    send(estimate, 98, 2 * minuteMs);

    expect(estimate.allowance(2 * minuteMs)).toEqual({ perMinute: 100, trialsAtOnce });
  });

  it.each([
    { answered: 52, known: 49, trialsAtOnce: 4 },
    { answered: 53, known: 50, trialsAtOnce: 1 },
  ])('tries $trialsAtOnce at once when $known of 100 are known', (row) => {
    const estimate = createQuotaEstimate(100);
    estimate.refused(aMinute({ answered: row.answered }));

    send(estimate, row.known, minuteMs);

    expect(estimate.allowance(minuteMs).trialsAtOnce).toBe(row.trialsAtOnce);
  });

  it.each([
    { what: 'a storm that leaves little', budget: 95, answered: 24, perMinute: 95 },
    { what: 'somebody who leaves just a quarter', budget: 95, answered: 25, perMinute: 23 },
    { what: 'somebody who leaves more', budget: 100, answered: 27, perMinute: 25 },
  ])('allows $perMinute after a trial refused for $what', ({ budget, answered, perMinute }) => {
    const estimate = createQuotaEstimate(budget);
    estimate.refused(aMinute());

    estimate.refused(aMinute({ sentMs: 119_000, untilMs: 2 * minuteMs, answered }));

    expect(estimate.allowance(2 * minuteMs).perMinute).toBe(perMinute);
  });
});
