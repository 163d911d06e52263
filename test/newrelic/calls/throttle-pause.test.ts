import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseOf } from '../../../src/newrelic/calls/throttle-pause.ts';

const answeredAtMs = Date.UTC(2026, 8, 1, 10, 0, 0);
const answeredAtS = answeredAtMs / 1000;
const date = 'Tue, 01 Sep 2026 10:00:00 GMT';
/** An hour off: the result must not depend on it where the answer has a date. */
const wrongClockMs = answeredAtMs + 3_600_000;

/** So many seconds after the answer. */
const inS = (seconds: number): string => String(answeredAtS + seconds);
const [reset, after, older] = [
  'x-ratelimit-reset',
  'retry-after',
  'newrelic-overloadprotection-reset',
];

describe('the pause after a 429', () => {
  it.each<[number, string, Readonly<Record<string, string | readonly string[]>>]>([
    [60_000, 'nothing', {}],
    [20_500, 'a reset time', { [reset]: inS(20) }],
    [300_000, 'a reset time in just a day, the last one to be believed', { [reset]: inS(86_400) }],
    [60_000, 'a reset time a second later', { [reset]: inS(86_401) }],
    [300_000, 'a reset time in an hour', { [reset]: inS(3600) }],
    [1000, 'a reset time that has passed', { [reset]: inS(-20) }],
    [60_000, 'seconds where a reset time belongs, which are not believed', { [reset]: '30' }],
    [60_000, 'an empty value', { [reset]: ' ' }],
    [7500, 'seconds to wait', { [after]: '7' }],
    [7750, 'a fraction of a second', { [after]: '7.25' }],
    [7500, 'blanks around the value', { [after]: ' 7 ' }],
    [7500, 'a header twice', { [after]: ['7', '8'] }],
    [60_000, 'a header without a value', { [after]: [] }],
    [1000, 'negative seconds', { [after]: '-5' }],
    [1000, 'zero seconds', { [after]: '0' }],
    [300_000, 'a whole day', { [after]: '86400' }],
    [300_000, 'a number beyond all numbers', { [after]: '9'.repeat(400) }],
    [60_000, 'words', { [after]: 'soon' }],
    [42_500, 'a date to wait for', { [after]: 'Tue, 01 Sep 2026 10:00:42 GMT' }],
    [1000, 'a date that has passed', { [after]: 'Tue, 01 Sep 2026 09:59:00 GMT' }],
    [60_000, 'a date years away', { [after]: 'Tue, 01 Sep 2037 10:00:42 GMT' }],
    [60_000, 'what only looks like a date', { [after]: 'Xyz, 99 Abc 2026 99:99:99 GMT' }],
    [9500, 'the older reset time', { [older]: inS(9) }],
    [
      20_500,
      'all three: the reset time counts',
      { [reset]: inS(20), [after]: '7', [older]: inS(9) },
    ],
    [7500, 'the last two: Retry-After counts', { [after]: '7', [older]: inS(9) }],
    [
      7500,
      'a reset time in milliseconds',
      { [reset]: String(answeredAtMs + 20_000), [after]: '7' },
    ],
  ])('is %d ms when the answer says %s', (pauseMs, _, headers) => {
    expect(pauseOf({ date, ...headers }, wrongClockMs).ms).toBe(pauseMs);
  });

  it.each([
    undefined,
    'yesterday',
    '2026-09-01T10:00:00Z',
    `x ${date}`,
    `${date}+2`,
    'Tue, 99 Sep 2026 10:00:00 GMT',
  ])('is counted by our own clock when the date of the answer is %s', (wrong) => {
    const until = { [reset]: inS(20) };
    const waiting = { [after]: 'Tue, 01 Sep 2026 10:00:20 GMT' };
    const pauses = [until, waiting].map((one) =>
      pauseOf({ date: wrong, ...one }, answeredAtMs + 5000),
    );

    expect(pauses.map(({ ms }) => ms)).toEqual([15_500, 15_500]);
  });

  it.each([
    ['key_limit', { [reset]: inS(20) }],
    ['key_limit', { 'x-ratelimit-limit': '1000' }],
    ['key_limit', { 'x-ratelimit-docs': 'https://docs.newrelic.com' }],
    ['key_limit', { 'x-ratelimit-remaining': '0', [after]: '7' }],
    ['overload', { [after]: '7' }],
    ['overload', { [older]: '1' }],
    ['unknown', { 'x-request-id': '7' }],
    ['unknown', {}],
  ])('is because of %s with the headers %j', (cause, headers) => {
    expect(pauseOf({ date, ...headers }, wrongClockMs).cause).toBe(cause);
  });

  it('is between one second and five minutes whatever the headers say', () => {
    const near = fc.integer({ min: -400_000, max: 400_000 });
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      near.map(inS),
      near.map((seconds) => new Date(answeredAtMs + seconds * 1000).toUTCString()),
      fc.array(fc.string(), { maxLength: 2 }),
    );
    const names = ['date', reset, after, older, 'x-ratelimit-limit'];
    const headers = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(headers, fc.integer(), (some, wallNowMs) => {
        const { ms } = pauseOf(some, wallNowMs);

        expect(ms).toBeGreaterThanOrEqual(1000);
        expect(ms).toBeLessThanOrEqual(300_000);
      }),
      { numRuns: 500 },
    );
  });
});
