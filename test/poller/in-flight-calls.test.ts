import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createCallLatency,
  createInFlightCalls,
  type InFlightCall,
  type InFlightCalls,
} from '../../src/poller/in-flight-calls.ts';

const concurrency = 4;
/** A call that takes longer is slow, as long as no latency is known. */
const slowMs = 1000;

function someCalls(count: number, calls: InFlightCalls<string>): readonly InFlightCall<string>[] {
  return Array.from({ length: count }, (_, index) => {
    const call = calls.start(`${index}`, 0);
    calls.onWire(call, true, 0);
    return call;
  });
}

function owners(calls: readonly InFlightCall<string>[]): readonly string[] {
  return calls.map(({ owner }) => owner);
}

describe('createInFlightCalls', () => {
  it('has room for as many calls as concurrency says', () => {
    const calls = createInFlightCalls<string>(createCallLatency());

    const room = [0, 1, 2, 3].map((index) => {
      const before = calls.hasRoom(concurrency);
      calls.start(`${index}`, 0);
      return before;
    });

    expect(room).toEqual([true, true, true, true]);
    expect(calls.hasRoom(concurrency)).toBe(false);
  });

  it('reports each call that becomes slow once, in the order in which they were sent', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    const [, second] = someCalls(2, calls);
    const late = calls.start('late', 500);
    calls.onWire(late, true, 500);
    if (second !== undefined) calls.end(second, 100, true);

    const seen = [slowMs, slowMs + 1, slowMs + 1, slowMs + 501].map((nowMs) =>
      owners(calls.newlySlow(nowMs)),
    );

    expect(seen).toEqual([[], ['0'], [], ['late']]);
  });

  it('does not count slow calls, up to half of the concurrency, so that others need not wait for them', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    someCalls(4, calls);
    calls.newlySlow(slowMs + 1);

    const more: boolean[] = [];
    for (let index = 0; index < 3; index += 1) {
      more.push(calls.hasRoom(concurrency));
      calls.start('more', slowMs + 1);
    }

    expect(more).toEqual([true, true, false]);
  });

  it('says when the next call will be slow, unless that would make no room', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    const nothing = calls.nextSlowAtMs(concurrency);
    const [first] = someCalls(3, calls);
    const before = calls.nextSlowAtMs(concurrency);
    if (first !== undefined) calls.onWire(first, false, 10);
    calls.newlySlow(slowMs + 1);

    expect([nothing, before]).toEqual([undefined, slowMs + 1]);
    expect(calls.nextSlowAtMs(concurrency)).toBeUndefined();
  });

  it('gives no time for the next slow call when half of the slots have slow ones already', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    someCalls(1, calls);
    const later = calls.start('later', 500);
    calls.onWire(later, true, 500);
    const before = calls.nextSlowAtMs(2);

    calls.newlySlow(slowMs + 1);

    expect([before, calls.nextSlowAtMs(2)]).toEqual([slowMs + 1, undefined]);
    expect(calls.nextSlowAtMs(4)).toBe(500 + slowMs + 1);
  });

  it('neither counts a call that waits for its retry nor calls it slow', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    const [first] = someCalls(4, calls);
    if (first === undefined) throw new Error('there is a call');

    calls.onWire(first, false, 20);
    const whileWaiting = calls.hasRoom(concurrency);
    calls.newlySlow(0);
    calls.onWire(first, true, 900);
    const sentAgain = calls.hasRoom(concurrency);

    expect([whileWaiting, sentAgain]).toEqual([true, false]);
    expect(owners(calls.newlySlow(slowMs + 1))).toEqual(['1', '2', '3']);
    expect(first).toMatchObject({ sentMs: 900, tookMs: 20 });
  });

  it('never calls a call slow while it waits for the budget', () => {
    const calls = createInFlightCalls<string>(createCallLatency());
    const call = calls.start('waits', 0);

    expect(calls.newlySlow(60_000)).toEqual([]);
    calls.end(call, 60_000, true);
    expect(call.tookMs).toBe(0);
  });

  it('learns the latency from requests that were really sent', () => {
    const latency = createCallLatency();
    const calls = createInFlightCalls<string>(latency);
    const [first] = someCalls(1, calls);
    const neverSent = calls.start('never', 0);
    if (first === undefined) throw new Error('there is a call');

    calls.end(neverSent, 900, true);
    calls.end(first, 300, true);

    expect(latency.meanMs()).toBe(300);
  });

  it('does not count a request without an answer in the mean', () => {
    const latency = createCallLatency();
    const calls = createInFlightCalls<string>(latency);
    const [first] = someCalls(1, calls);
    if (first === undefined) throw new Error('there is a call');

    calls.end(first, 300, false);

    expect(latency.meanMs()).toBeUndefined();
  });

  it('has all of its room again when every call has ended, however it ended', () => {
    const step = fc.record({ call: fc.nat(3), isOnWire: fc.boolean(), afterMs: fc.nat(2000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const calls = createInFlightCalls<string>(createCallLatency());
        const all = [0, 1, 2, 3].map((index) => calls.start(`${index}`, 0));
        let nowMs = 0;
        for (const { call, isOnWire, afterMs } of steps) {
          nowMs += afterMs;
          const one = all[call];
          if (one !== undefined) calls.onWire(one, isOnWire, nowMs);
          calls.newlySlow(nowMs);
        }
        for (const one of all) calls.end(one, nowMs, true);

        const room: boolean[] = [];
        for (let index = 0; index < concurrency; index += 1) {
          room.push(calls.hasRoom(concurrency));
          calls.start('again', nowMs);
        }
        expect(room).toEqual([true, true, true, true]);
        expect(calls.hasRoom(concurrency)).toBe(false);
      }),
    );
  });
});

describe('createCallLatency', () => {
  it('calls nothing slow that ends within a second', () => {
    const latency = createCallLatency();

    for (let call = 0; call < 100; call += 1) latency.answered(5);

    expect(latency.slowAfterMs()).toBe(1000);
  });

  it('learns within a few dozen calls that everything takes long', () => {
    const latency = createCallLatency();

    for (let call = 0; call < 40; call += 1) latency.answered(10_000);

    expect(latency.slowAfterMs()).toBeGreaterThan(10_000);
    expect(latency.slowAfterMs()).toBeLessThan(100_000);
  });

  it('is not moved by a tenth of the calls that hang', () => {
    const latency = createCallLatency();

    for (let call = 0; call < 1000; call += 1) latency.answered(call % 10 === 0 ? 90_000 : 200);

    expect(latency.slowAfterMs()).toBeLessThan(2000);
  });

  it('recovers as fast when everything is quick again, no matter how long it was slow', () => {
    const latency = createCallLatency();
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
    const latency = createCallLatency();

    for (const durationMs of durations) latency.answered(durationMs);

    expect(latency.meanMs()).toBe(meanMs);
  });

  it.each([
    { from: 200, to: 4000 },
    { from: 4000, to: 200 },
  ])('has a mean that moves from $from to $to within some hundred requests', ({ from, to }) => {
    const latency = createCallLatency();
    for (let call = 0; call < 500; call += 1) latency.answered(from);

    for (let call = 0; call < 500; call += 1) latency.answered(to);

    expect(Math.abs((latency.meanMs() ?? 0) - to)).toBeLessThan(0.15 * to);
  });
});
