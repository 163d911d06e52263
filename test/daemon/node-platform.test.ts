import { describe, expect, it } from 'vitest';
import { timerDelayMs } from '../../src/daemon/node-platform.ts';

describe('timerDelayMs', () => {
  it.each([
    { what: 'a usual delay', delayMs: 60_000, expected: 60_000 },
    { what: 'a delay in the past', delayMs: -5, expected: 0 },
    { what: 'the longest that a timer can wait', delayMs: 2 ** 31 - 1, expected: 2 ** 31 - 1 },
    { what: 'more than that, which would fire at once', delayMs: 2 ** 31, expected: 2 ** 31 - 1 },
  ])('is $expected for $what', ({ delayMs, expected }) => {
    expect(timerDelayMs(delayMs)).toBe(expected);
  });
});
