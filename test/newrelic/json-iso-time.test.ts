import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowAt } from '../../src/model/window.ts';
import { epochMsOf, minuteTextOf, windowEndMsOf } from '../../src/newrelic/json.ts';

describe('epochMsOf', () => {
  it.each([
    { value: '2015-06-08T14:44:26+00:00', epochMs: Date.UTC(2015, 5, 8, 14, 44, 26) },
    { value: '2026-09-01T10:00:00Z', epochMs: Date.UTC(2026, 8, 1, 10) },
    { value: '2026-09-01T12:30:00+02:30', epochMs: Date.UTC(2026, 8, 1, 10) },
    { value: '2026-09-01T10:00:00.250Z', epochMs: Date.UTC(2026, 8, 1, 10) + 250 },
    { value: '2026-09-01T10:00:00', epochMs: undefined },
    { value: '2026-13-01T10:00:00Z', epochMs: undefined },
    { value: '2026-09-01', epochMs: undefined },
    { value: '1', epochMs: undefined },
    { value: '', epochMs: undefined },
    { value: 1_700_000_000, epochMs: undefined },
    { value: null, epochMs: undefined },
    { value: undefined, epochMs: undefined },
  ])('reads $value as $epochMs', ({ value, epochMs }) => {
    expect(epochMsOf(value)).toBe(epochMs);
  });
});

describe('windowEndMsOf', () => {
  it.each([
    { to: '2026-09-01T10:30:00+00:00', end: Date.UTC(2026, 8, 1, 10, 30) },
    { to: '2026-09-01T10:29:59+00:00', end: Date.UTC(2026, 8, 1, 10, 30) },
    { to: '2026-12-31T23:59:59.999Z', end: Date.UTC(2027, 0, 1) },
    { to: '2026-09-01T10:29:58+00:00', end: Date.UTC(2026, 8, 1, 10, 29, 58) },
    { to: 'soon', end: undefined },
  ])('takes $to as the end $end', ({ to, end }) => {
    expect(windowEndMsOf(to)).toBe(end);
  });
});

describe('minuteTextOf', () => {
  it('is a whole minute in UTC', () => {
    expect(minuteTextOf(Date.UTC(2026, 8, 1, 10, 5, 59, 999))).toBe('2026-09-01T10:05:00Z');
  });

  it('gives back every window, in whole minutes at least 60 seconds apart', () => {
    const nowMs = fc.date({
      noInvalidDate: true,
      min: new Date('2001-01-01'),
      max: new Date('2099-01-01'),
    });
    const durationMs = fc.integer({ min: 1, max: 86_400_000 });

    fc.assert(
      fc.property(nowMs, durationMs, durationMs, (now, lengthMs, delayMs) => {
        const window = windowAt(now.getTime(), { kind: 'range', lengthMs }, delayMs);
        const [from, to] = [window?.fromMs, window?.toMs].map((ms = Number.NaN) =>
          minuteTextOf(ms),
        );

        expect(from).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00Z$/);
        expect({ fromMs: epochMsOf(from), toMs: epochMsOf(to) }).toEqual(window);
        expect(Number(epochMsOf(to)) - Number(epochMsOf(from))).toBeGreaterThanOrEqual(60_000);
      }),
    );
  });
});
