import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPacer } from '../../src/transport/create-pacer.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { aRefusal } from './fakes.ts';

const signal = new AbortController().signal;
setMaxListeners(0, signal);

interface Run {
  readonly sentAtMs: number[];
  readonly send: (latencyMs: number) => void;
}

/** Sends through a pacer on a fake clock and notes when each call was let go. */
function aRun(clock: FakeClock, requestsPerMinute: number): Run {
  const pacer = createPacer({ requestsPerMinute }, { clock });
  const sentAtMs: number[] = [];
  return {
    sentAtMs,
    send: (latencyMs) => {
      void (async () => {
        const release = await pacer.acquire(false, signal);
        sentAtMs.push(clock.monotonicMs());
        clock.after(latencyMs, release);
      })();
    },
  };
}

/** The most entries of a sorted list that any closed window of this length holds. */
function mostInAnyWindow(timesMs: readonly number[], windowMs: number): number {
  let first = 0;
  let most = 0;
  for (const [index, timeMs] of timesMs.entries()) {
    while (timeMs - (timesMs[first] ?? 0) > windowMs) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}

describe('createPacer', () => {
  it('lets the whole unused budget go at once at the start', async () => {
    const clock = createFakeClock();
    const run = aRun(clock, 800);

    for (let call = 0; call < 900; call += 1) run.send(200);
    await clock.advance(0);

    expect(run.sentAtMs).toHaveLength(800);
  });

  it('lets what a pause has held up go evenly for a minute, and then goes back to normal', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 600 }, { clock });
    const sentAtMs: number[] = [];
    const send = async (): Promise<void> => {
      const release = await pacer.acquire(false, signal);
      sentAtMs.push(clock.monotonicMs());
      release();
    };

    pacer.refused(aRefusal(10_000));
    for (let call = 0; call < 100; call += 1) void send();
    await clock.advance(70_000);
    const heldUp = sentAtMs.splice(0);
    for (let call = 0; call < 100; call += 1) void send();
    await clock.advance(1000);

    expect(heldUp).toHaveLength(100);
    expect(mostInAnyWindow(heldUp, 4900)).toBeLessThanOrEqual(60);
    expect(mostInAnyWindow(sentAtMs, 100)).toBe(100);
  });

  it('uses at least 98.5 % of the budget when there is always something to send', async () => {
    const clock = createFakeClock();
    const run = aRun(clock, 990);

    for (let call = 0; call < 990 * 12; call += 1) run.send(300);
    await clock.advance(10 * 60_000);

    expect(run.sentAtMs.length).toBeGreaterThanOrEqual(990 * 10 * 0.985);
  });

  it('never lets more than the budget go, nor arrive at the vendor, in any 60 seconds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 40 }),
        fc.array(fc.record({ gapMs: fc.nat(9000), latencyMs: fc.nat(20_000) }), {
          minLength: 1,
          maxLength: 120,
        }),
        async (requestsPerMinute, calls) => {
          const clock = createFakeClock();
          const pacer = createPacer({ requestsPerMinute }, { clock });
          const sent: number[] = [];
          const arrived: number[] = [];
          let atMs = 0;
          for (const { gapMs, latencyMs } of calls) {
            atMs += gapMs;
            clock.after(atMs, () => {
              void (async () => {
                const release = await pacer.acquire(false, signal);
                sent.push(clock.monotonicMs());
                clock.after(latencyMs / 2, () => arrived.push(clock.monotonicMs()));
                clock.after(latencyMs, release);
              })();
            });
          }

          await clock.advance(atMs + 121 * 90_000);

          expect(sent).toHaveLength(calls.length);
          expect(mostInAnyWindow(sent, 60_000)).toBeLessThanOrEqual(requestsPerMinute);
          expect(mostInAnyWindow(arrived, 60_000)).toBeLessThanOrEqual(requestsPerMinute);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('keeps to another budget from the moment it is set, counting what was sent before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 30 }),
        fc.nat(90_000),
        fc.nat(2000),
        async (before, after, resizeAtMs, latencyMs) => {
          const clock = createFakeClock();
          const pacer = createPacer({ requestsPerMinute: before }, { clock });
          const sent: number[] = [];
          const budgets: number[] = [];
          let budget = before;
          clock.after(resizeAtMs, () => {
            budget = after;
            pacer.resize(after);
          });
          for (let call = 0; call < 80; call += 1) {
            void (async () => {
              const release = await pacer.acquire(false, signal);
              sent.push(clock.monotonicMs());
              budgets.push(budget);
              clock.after(latencyMs, release);
            })();
          }

          await clock.advance(300_000);

          const inMinuteBefore = sent.map(
            (atMs, index) => sent.slice(0, index + 1).filter((ms) => atMs - ms <= 60_000).length,
          );
          expect(inMinuteBefore.every((count, index) => count <= (budgets[index] ?? 0))).toBe(true);
          const isDone = sent.length === 80;
          const isBusy = (sent.at(-1) ?? 0) > 180_000;
          expect(isDone || isBusy).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('lets urgent calls go before the others that wait', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 1 }, { clock });
    const order: string[] = [];
    const call = async (name: string, urgent: boolean): Promise<void> => {
      const release = await pacer.acquire(urgent, signal);
      order.push(name);
      release();
    };

    const calls = [call('first', false), call('patient', false), call('urgent', true)];
    await clock.advance(180_000);
    await Promise.all(calls);

    expect(order).toEqual(['first', 'urgent', 'patient']);
  });

  it('lets nothing go during a pause, and goes on after it', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 60 }, { clock });
    pacer.refused(aRefusal(30_000));
    pacer.refused(aRefusal(10_000));
    let goneAtMs = -1;

    void (async () => {
      await pacer.acquire(false, signal);
      goneAtMs = clock.monotonicMs();
    })();
    const during = pacer.pausedUntilMs();
    await clock.advance(40_000);

    expect(during).toBe(30_000);
    expect(goneAtMs).toBe(30_000);
    expect(pacer.pausedUntilMs()).toBeUndefined();
  });

  it('sends what may be too much after a refusal one call at a time', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 100 }, { clock });
    const atOnce: number[] = [];
    let underWay = 0;
    const send = async (): Promise<void> => {
      const release = await pacer.acquire(false, signal);
      underWay += 1;
      atOnce.push(underWay);
      clock.after(5000, () => {
        underWay -= 1;
        release();
      });
    };
    for (let call = 0; call < 80; call += 1) void send();
    await clock.advance(20_000);
    pacer.refused(aRefusal(60_500, { sentMs: 20_000, minuteEndMs: 60_000, limitPerMinute: 100 }));
    atOnce.splice(0);

    for (let call = 0; call < 100; call += 1) void send();
    await clock.advance(100_000);

    expect(atOnce.slice(0, 38).some((calls) => calls > 4)).toBe(true);
    expect(Math.max(...atOnce.slice(45))).toBeLessThanOrEqual(4);
    expect(pacer.allowedPerMinute()).toBe(100);
  });

  it('allows less for an hour when more was refused again', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 100 }, { clock });
    const send = async (): Promise<void> => {
      (await pacer.acquire(false, signal))();
    };
    const refuseAt = async (sentMs: number): Promise<void> => {
      for (let call = 0; call < 80; call += 1) void send();
      await clock.advance(sentMs - clock.monotonicMs());
      const minuteEndMs = Math.ceil(sentMs / 60_000) * 60_000;
      pacer.refused(aRefusal(minuteEndMs, { sentMs, minuteEndMs, limitPerMinute: 100 }));
    };

    await refuseAt(59_000);
    const before = pacer.allowedPerMinute();
    await refuseAt(119_000);
    const after = pacer.allowedPerMinute();
    await clock.advance(3_601_000);

    expect([before, after, pacer.allowedPerMinute()]).toEqual([100, 75, 100]);
  });

  it('forgets a call that is aborted while it waits, and leaves no timer behind', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 1 }, { clock });
    (await pacer.acquire(false, signal))();
    const abort = new AbortController();

    const waiting = pacer.acquire(false, abort.signal);
    await settle();
    abort.abort(new Error('stopping'));

    await expect(waiting).rejects.toThrow('stopping');
    expect(clock.pendingTimers()).toBe(0);
  });

  it('wakes when a call in flight ends, if that was all that blocked it', async () => {
    const clock = createFakeClock();
    const pacer = createPacer({ requestsPerMinute: 1 }, { clock });
    const release = await pacer.acquire(false, signal);
    let gone = false;

    void (async () => {
      await pacer.acquire(false, signal);
      gone = true;
    })();
    await clock.advance(100_000);
    const whileInFlight = gone;
    release();
    await clock.advance(60_001);

    expect(whileInFlight).toBe(false);
    expect(gone).toBe(true);
  });
});
