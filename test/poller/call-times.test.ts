import { describe, expect, it } from 'vitest';
import { createCallTimes } from '../../src/poller/call-times.ts';

describe('createCallTimes', () => {
  it('takes nothing for slow that ends within a second', () => {
    const times = createCallTimes();

    for (let call = 0; call < 100; call += 1) times.ended(5);

    expect(times.slowAfterMs()).toBe(1000);
  });

  it('learns within some tens of calls that everything takes long', () => {
    const times = createCallTimes();

    for (let call = 0; call < 40; call += 1) times.ended(10_000);

    expect(times.slowAfterMs()).toBeGreaterThan(10_000);
    expect(times.slowAfterMs()).toBeLessThan(100_000);
  });

  it('is not moved by a tenth of the calls that hang', () => {
    const times = createCallTimes();

    for (let call = 0; call < 1000; call += 1) times.ended(call % 10 === 0 ? 90_000 : 200);

    expect(times.slowAfterMs()).toBeLessThan(2000);
  });

  it('recovers as fast when everything is quick again, however long it was slow', () => {
    const times = createCallTimes();
    for (let call = 0; call < 1000; call += 1) times.ended(90_000);

    for (let call = 0; call < 40; call += 1) times.ended(200);

    expect(times.slowAfterMs()).toBeLessThan(2000);
  });
});
