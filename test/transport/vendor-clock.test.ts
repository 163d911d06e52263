import { describe, expect, it } from 'vitest';
import { createVendorClock } from '../../src/transport/vendor-clock.ts';

const epochMs = Date.UTC(2026, 8, 1, 10, 0, 0);

function dated(offsetMs: number): { readonly date: string } {
  return { date: new Date(epochMs + offsetMs).toUTCString() };
}

describe('createVendorClock', () => {
  it('knows nothing before enough answers had a date', () => {
    const vendorClock = createVendorClock();

    vendorClock.answered(dated(0), 100);
    vendorClock.answered({}, 200);
    vendorClock.answered({ date: 'yesterday' }, 300);
    vendorClock.answered(dated(1000), 1100);

    expect(vendorClock.wallMs(2000)).toBeUndefined();
    expect(vendorClock.givenAtMs({}, 0, 2000)).toBe(2000);
  });

  it('shows the time at the vendor, whatever a single odd answer says', () => {
    const vendorClock = createVendorClock();

    for (const atMs of [0, 1000, 2000, 3000]) vendorClock.answered(dated(atMs), atMs + 150);
    vendorClock.answered({ date: 'Thu, 01 Jan 1970 00:00:00 GMT' }, 4000);
    vendorClock.answered({ date: 'Fri, 01 Jan 2099 00:00:00 GMT' }, 5000);

    expect(vendorClock.wallMs(6150)).toBe(epochMs + 6000);
  });

  it('counts one answer a second, so that a burst does not outvote the rest', () => {
    const vendorClock = createVendorClock();
    for (const atMs of [0, 1000, 2000, 3000, 4000]) vendorClock.answered(dated(atMs), atMs + 100);

    for (let call = 0; call < 50; call += 1) vendorClock.answered(dated(5000), 65_000);

    expect(vendorClock.wallMs(66_100)).toBe(epochMs + 66_000);
  });

  it('takes the middle of three answers of one second, and no fourth one', () => {
    const vendorClock = createVendorClock();

    for (const offsetMs of [100, 5000, 300]) vendorClock.answered(dated(0), offsetMs);
    const ofThree = vendorClock.wallMs(10_300);
    vendorClock.answered(dated(0), 400);

    expect(ofThree).toBe(epochMs + 10_000);
    expect(vendorClock.wallMs(10_300)).toBe(epochMs + 10_000);
  });

  it('follows the nine last answers, however many there were before', () => {
    const vendorClock = createVendorClock();
    for (let atMs = 0; atMs < 60_000; atMs += 1000) vendorClock.answered(dated(atMs), atMs);

    for (let atMs = 60_000; atMs < 65_000; atMs += 1000) {
      vendorClock.answered(dated(atMs + 3_600_000), atMs);
    }

    expect(vendorClock.wallMs(70_000)).toBe(epochMs + 3_670_000);
  });

  it('keeps the fastest way for five minutes, however many slower ones follow', () => {
    const vendorClock = createVendorClock();
    for (const tookMs of [200, 900, 900, 900]) vendorClock.answered(dated(0), tookMs);

    expect(vendorClock.givenAtMs(dated(20_000), 0, 30_000)).toBe(20_200);
  });

  it('follows when the clock at the vendor is set', () => {
    const vendorClock = createVendorClock();
    for (const atMs of [0, 1000, 2000]) vendorClock.answered(dated(atMs), atMs);

    for (let atMs = 3000; atMs < 13_000; atMs += 1000) {
      vendorClock.answered(dated(atMs + 3_600_000), atMs);
    }

    expect(vendorClock.wallMs(20_000)).toBe(epochMs + 3_620_000);
  });

  it.each([
    { what: 'an answer that took long', dateMs: 11_000, sentMs: 10_500, givenAtMs: 11_200 },
    { what: 'a date before the request', dateMs: 5000, sentMs: 10_500, givenAtMs: 10_500 },
    { what: 'a date in the future', dateMs: 60_000, sentMs: 10_500, givenAtMs: 40_000 },
  ])('tells when $what was given', ({ dateMs, sentMs, givenAtMs }) => {
    const vendorClock = createVendorClock();
    vendorClock.answered(dated(0), 900);
    vendorClock.answered(dated(1000), 1200);

    expect(vendorClock.givenAtMs(dated(dateMs), sentMs, 40_000)).toBe(givenAtMs);
  });

  it.each([
    { after: 'five minutes', atMs: 300_500, leastMs: 200 },
    { after: 'ten minutes', atMs: 600_200, leastMs: 5000 },
    { after: 'more than ten minutes', atMs: 600_500, leastMs: 5000 },
  ])('takes the fastest way for $leastMs ms $after later', ({ atMs, leastMs }) => {
    const vendorClock = createVendorClock();
    vendorClock.answered(dated(0), 200);

    vendorClock.answered(dated(atMs - 5000), atMs);

    const dateMs = Math.floor((atMs + 10_000) / 1000) * 1000;
    const expectedMs =
      leastMs === 200 ? dateMs + 200 : dateMs + atMs - Math.floor((atMs - 5000) / 1000) * 1000;
    expect(vendorClock.givenAtMs(dated(dateMs), 0, 1_000_000)).toBe(expectedMs);
  });
});
