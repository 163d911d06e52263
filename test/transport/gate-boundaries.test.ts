import { describe, expect, it } from 'vitest';
import { createGate, type Gate } from '../../src/transport/gate.ts';
import { aRefusal } from './fakes.ts';

/** Takes all places that are free at this moment, and says how many those were. */
function takeAll(gate: Gate, nowMs: number): number {
  let taken = 0;
  while (gate.blockedForMs(nowMs) === 0) {
    gate.take(nowMs);
    taken += 1;
  }
  return taken;
}

/** Makes so many calls that end at once. */
function call(gate: Gate, calls: number, atMs: number): void {
  for (let one = 0; one < calls; one += 1) gate.take(atMs)(atMs);
}

describe('createGate', () => {
  it('lets a single call go at the end of a pause, and the next ones a second later', () => {
    const gate = createGate(600, 0);
    gate.refused(aRefusal(10_000));

    const taken = [9999, 10_000, 11_000].map((nowMs) => takeAll(gate, nowMs));

    expect(taken).toEqual([0, 1, 10]);
  });

  it('lets a single call go at the end of a pause in which the budget was changed', () => {
    const gate = createGate(600, 0);
    gate.refused(aRefusal(10_000));
    gate.resize(1200, 2000);

    const taken = [9999, 10_000, 11_000].map((nowMs) => takeAll(gate, nowMs));

    expect(taken).toEqual([0, 1, 20]);
  });

  it.each([
    { nowMs: 9999, pausedUntilMs: 10_000 },
    { nowMs: 10_000, pausedUntilMs: undefined },
  ])('says $pausedUntilMs for the end of the pause at $nowMs ms', ({ nowMs, pausedUntilMs }) => {
    const gate = createGate(600, 0);
    gate.refused(aRefusal(10_000));

    expect(gate.pausedUntilMs(nowMs)).toBe(pausedUntilMs);
  });

  it('learns from the part of the minute that had passed, whenever that began', () => {
    const gate = createGate(100, 0);
    call(gate, 50, 600_000);

    // The others made 50 in half a minute: at that rate they leave nothing, so a tenth is tried.
    gate.refused(aRefusal(660_000, { sentMs: 630_000, minuteEndMs: 660_000, limitPerMinute: 100 }));
    const knownAndTrials = takeAll(gate, 780_000);

    expect(knownAndTrials).toBe(10 + 4);
  });

  it('does not count calls that are known to be allowed among the trials', () => {
    const gate = createGate(100, 0);
    call(gate, 80, 0);
    gate.refused(aRefusal(60_000, { sentMs: 59_000, minuteEndMs: 60_000, limitPerMinute: 100 }));

    // Far behind the even distance after the pause: what was learned alone decides.
    const atMs = 300_000;
    const known = 75;
    for (let one = 0; one < known; one += 1) gate.take(atMs);
    const trials = takeAll(gate, atMs);

    expect(trials).toBe(1);
    expect(gate.blockedForMs(atMs)).toBe(Number.POSITIVE_INFINITY);
  });
});
