import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseOf, retryAfterMs } from '../../../src/newrelic/calls/throttle-pause.ts';

const answeredAtMs = Date.UTC(2026, 8, 1, 10, 0, 0);
const answeredAtS = answeredAtMs / 1000;
const date = 'Tue, 01 Sep 2026 10:00:00 GMT';
/** An hour off: the result must not depend on it where the answer has a date. */
const wrongClockMs = answeredAtMs + 3_600_000;

describe('pauseOf', () => {
  it.each([
    { says: 'nothing', headers: {}, pauseMs: 60_000 },
    {
      says: 'a reset time',
      headers: { 'x-ratelimit-reset': String(answeredAtS + 20) },
      pauseMs: 20_500,
    },
    {
      says: 'a reset time in just a day, the last one to be believed',
      headers: { 'x-ratelimit-reset': String(answeredAtS + 86_400) },
      pauseMs: 300_000,
    },
    { says: 'a fraction of a second', headers: { 'retry-after': '7.25' }, pauseMs: 7750 },
    { says: 'blanks around the value', headers: { 'retry-after': ' 7 ' }, pauseMs: 7500 },
    { says: 'seconds to wait', headers: { 'retry-after': '7' }, pauseMs: 7500 },
    {
      says: 'a date to wait for',
      headers: { 'retry-after': 'Tue, 01 Sep 2026 10:00:42 GMT' },
      pauseMs: 42_500,
    },
    {
      says: 'the older reset time',
      headers: { 'newrelic-overloadprotection-reset': String(answeredAtS + 9) },
      pauseMs: 9500,
    },
    {
      says: 'all three, of which the reset time counts',
      headers: {
        'x-ratelimit-reset': String(answeredAtS + 20),
        'retry-after': '7',
        'newrelic-overloadprotection-reset': String(answeredAtS + 9),
      },
      pauseMs: 20_500,
    },
    {
      says: 'both of the last two, of which Retry-After counts',
      headers: {
        'retry-after': '7',
        'newrelic-overloadprotection-reset': String(answeredAtS + 9),
      },
      pauseMs: 7500,
    },
    {
      says: 'a reset time in milliseconds, which is not believed, and seconds',
      headers: { 'x-ratelimit-reset': String(answeredAtMs + 20_000), 'retry-after': '7' },
      pauseMs: 7500,
    },
    {
      says: 'seconds where a reset time belongs, which are not believed',
      headers: { 'x-ratelimit-reset': '30' },
      pauseMs: 60_000,
    },
    {
      says: 'a reset time that has passed',
      headers: { 'x-ratelimit-reset': String(answeredAtS - 20) },
      pauseMs: 1000,
    },
    {
      says: 'a date that has passed',
      headers: { 'retry-after': 'Tue, 01 Sep 2026 09:59:00 GMT' },
      pauseMs: 1000,
    },
    { says: 'negative seconds', headers: { 'retry-after': '-5' }, pauseMs: 1000 },
    { says: 'zero seconds', headers: { 'retry-after': '0' }, pauseMs: 1000 },
    { says: 'a whole day', headers: { 'retry-after': '86400' }, pauseMs: 300_000 },
    {
      says: 'a number beyond all numbers',
      headers: { 'retry-after': '9'.repeat(400) },
      pauseMs: 300_000,
    },
    {
      says: 'a reset time in an hour',
      headers: { 'x-ratelimit-reset': String(answeredAtS + 3600) },
      pauseMs: 300_000,
    },
    { says: 'words', headers: { 'retry-after': 'soon' }, pauseMs: 60_000 },
    {
      says: 'something that only looks like a date',
      headers: { 'retry-after': 'Xyz, 99 Abc 2026 99:99:99 GMT' },
      pauseMs: 60_000,
    },
    { says: 'an empty value', headers: { 'x-ratelimit-reset': ' ' }, pauseMs: 60_000 },
    { says: 'a header twice', headers: { 'retry-after': ['7', '8'] }, pauseMs: 7500 },
  ])('stays away $pauseMs ms when the answer says $says', ({ headers, pauseMs }) => {
    expect(pauseOf({ date, ...headers }, wrongClockMs).ms).toBe(pauseMs);
  });

  it.each([{ date: undefined }, { date: 'yesterday' }, { date: 'Tue, 99 Sep 2026 10:00:00 GMT' }])(
    'compares with our own clock when the date of the answer is $date',
    (headers) => {
      const reset = String(answeredAtS + 20);

      const pause = pauseOf({ ...headers, 'x-ratelimit-reset': reset }, answeredAtMs + 5000);

      expect(pause.ms).toBe(15_500);
    },
  );

  it.each([
    { headers: { 'x-ratelimit-reset': String(answeredAtS + 20) }, cause: 'key_limit' },
    { headers: { 'x-ratelimit-limit': '1000' }, cause: 'key_limit' },
    { headers: { 'x-ratelimit-docs': 'https://docs.newrelic.com' }, cause: 'key_limit' },
    { headers: { 'x-ratelimit-remaining': '0', 'retry-after': '7' }, cause: 'key_limit' },
    { headers: { 'retry-after': '7' }, cause: 'overload' },
    { headers: { 'newrelic-overloadprotection-reset': '1' }, cause: 'overload' },
    { headers: { 'x-request-id': '7' }, cause: 'unknown' },
    { headers: {}, cause: 'unknown' },
  ])('takes $cause for the cause of $headers', ({ headers, cause }) => {
    expect(pauseOf({ date, ...headers }, wrongClockMs).cause).toBe(cause);
  });

  it('stays away between one second and five minutes whatever the headers say', () => {
    const near = fc.integer({ min: -400_000, max: 400_000 });
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      near.map((offsetS) => String(answeredAtS + offsetS)),
      near.map((offsetS) => new Date(answeredAtMs + offsetS * 1000).toUTCString()),
      fc.array(fc.string(), { maxLength: 2 }),
    );
    const headers = fc.record(
      {
        date: value,
        'x-ratelimit-reset': value,
        'retry-after': value,
        'newrelic-overloadprotection-reset': value,
        'x-ratelimit-limit': value,
      },
      { requiredKeys: [] },
    );
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

describe('retryAfterMs', () => {
  it.each([
    { text: '7', waitMs: 7000 },
    { text: '-5', waitMs: -5000 },
    { text: 'Tue, 01 Sep 2026 10:00:42 GMT', waitMs: 42_000 },
    { text: 'Tue, 01 Sep 2026 09:59:42 GMT', waitMs: -18_000 },
    { text: 'Tue, 01 Sep 2037 10:00:42 GMT', waitMs: undefined },
    { text: 'soon', waitMs: undefined },
    { text: '', waitMs: undefined },
  ])('reads "$text" as $waitMs ms', ({ text, waitMs }) => {
    expect(retryAfterMs({ date, 'retry-after': text }, wrongClockMs)).toBe(waitMs);
  });

  it('compares a date with our own clock when the answer has none', () => {
    const headers = { 'retry-after': 'Tue, 01 Sep 2026 10:00:42 GMT' };

    expect(retryAfterMs(headers, answeredAtMs + 2000)).toBe(40_000);
  });
});
