import { describe, expect, it } from 'vitest';
import { CallLatency } from '../../src/rate-limit/call-latency.ts';

describe('CallLatency', () => {
  it('calls nothing slow that ends within a second', () => {
    const latency = new CallLatency();

    for (let call = 0; call < 100; call += 1) latency.answered(5);

    expect(latency.slowAfterMs()).toBe(1000);
  });

  it('learns within a few dozen calls that everything takes long', () => {
    const latency = new CallLatency();

    for (let call = 0; call < 40; call += 1) latency.answered(10_000);

    expect(latency.slowAfterMs()).toBeGreaterThan(10_000);
    expect(latency.slowAfterMs()).toBeLessThan(100_000);
  });

  it('is not moved by a tenth of the calls that hang', () => {
    const latency = new CallLatency();

    for (let call = 0; call < 1000; call += 1) latency.answered(call % 10 === 0 ? 90_000 : 200);

    expect(latency.slowAfterMs()).toBeLessThan(2000);
  });

  it('recovers as fast when everything is quick again, no matter how long it was slow', () => {
    const latency = new CallLatency();
    for (let call = 0; call < 1000; call += 1) latency.answered(90_000);

    for (let call = 0; call < 40; call += 1) latency.answered(200);

    expect(latency.slowAfterMs()).toBeLessThan(2000);
  });

  it.each([
    { what: 'nothing is known', durations: [], meanMs: undefined },
    { what: 'one request has ended', durations: [300], meanMs: 300 },
    { what: 'several have', durations: [100, 200, 300], meanMs: 200 },
    { what: 'some of them hung', durations: [100, 30_000, 300], meanMs: 200 },
  ])('has a mean of $meanMs ms when $what', ({ durations, meanMs }) => {
    const latency = new CallLatency();

    for (const durationMs of durations) latency.answered(durationMs);

    expect(latency.meanMs()).toBe(meanMs);
  });

  it.each([
    { from: 200, to: 4000 },
    { from: 4000, to: 200 },
  ])('has a mean that moves from $from to $to within some hundred requests', ({ from, to }) => {
    const latency = new CallLatency();
    for (let call = 0; call < 500; call += 1) latency.answered(from);

    for (let call = 0; call < 500; call += 1) latency.answered(to);

    expect(Math.abs((latency.meanMs() ?? 0) - to)).toBeLessThan(0.15 * to);
  });
});
