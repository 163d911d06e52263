import { describe, expect, it } from 'vitest';
import { isWorthPolling } from '../../src/model/selected-application.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { WindowSetting } from '../../src/model/window.ts';
import { aSelected } from '../support/builders.ts';

function range(minutes: number): WindowSetting {
  return { kind: 'range', lengthMs: minutes * minuteMs };
}

describe('an application that is silent, so that nothing of it is younger than ten minutes', () => {
  it.each([
    { what: 'a window that begins when it was silent', window: range(5), delayMs: 3 * minuteMs },
    { what: 'a window that begins just then', window: range(5), delayMs: 5 * minuteMs },
  ])('is not polled with $what', ({ window, delayMs }) => {
    const selected = aSelected({ reporting: false }, { poll: { window, delayMs } });

    expect(isWorthPolling(selected)).toBe(false);
  });

  it.each([
    { what: 'a delay', window: range(5), delayMs: 5 * minuteMs + 1 },
    { what: 'a long delay', window: range(1), delayMs: 30 * minuteMs },
    { what: 'a long window', window: range(10), delayMs: 1 },
    { what: "the vendor's own window", window: { kind: 'vendor_default' } as const, delayMs: 0 },
  ])('is polled as long as $what reaches back to when it reported', ({ window, delayMs }) => {
    const selected = aSelected({ reporting: false }, { poll: { window, delayMs } });

    expect(isWorthPolling(selected)).toBe(true);
  });
});

describe('an application of which the list does not say that it is silent', () => {
  it.each([true, undefined])('is polled with any window: reporting is %s', (reporting) => {
    const selected = aSelected({ reporting }, { poll: { window: range(1), delayMs: 0 } });

    expect(isWorthPolling(selected)).toBe(true);
  });
});
