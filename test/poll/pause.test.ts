import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { LoopPause } from '../../src/poll/pause.ts';
import { dependantsOf } from '../support/dependants.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly pause: LoopPause;
  readonly abort: AbortController;
  /** When it ended, or why it was broken off. */
  readonly ended: readonly unknown[];
}

/** A pause from 1 s until 10 s, which is 2 s old. */
async function aPause(): Promise<Bench> {
  const clock = createFakeClock();
  const pause = new LoopPause(clock);
  const abort = new AbortController();
  const ended: unknown[] = [];
  await clock.advance(1000);
  void pause
    .until(10_000, abort.signal)
    .then(() => clock.monotonicMs())
    .catch((error: unknown) => error)
    .then((end) => ended.push(end));
  await clock.advance(2000);
  return { clock, pause, abort, ended };
}

describe('Pause', () => {
  it.each([
    { what: 'in time', cut: () => undefined, endMs: 10_000 },
    { what: 'after its least time', cut: (pause) => pause.endAfter(4000), endMs: 5000 },
    { what: 'at once after its least time', cut: (pause) => pause.endAfter(1500), endMs: 3000 },
    { what: 'no later than before', cut: (pause) => pause.endAfter(60_000), endMs: 10_000 },
    {
      what: 'as early as anybody wants',
      cut: (pause) => {
        for (const leastMs of [6000, 5000, 7000]) pause.endAfter(leastMs);
      },
      endMs: 6000,
    },
  ] satisfies {
    readonly what: string;
    readonly cut: (pause: LoopPause) => void;
    readonly endMs: number;
  }[])('ends $what', async ({ cut, endMs }) => {
    const { clock, pause, ended } = await aPause();

    cut(pause);
    await clock.advance(20_000);

    expect(ended).toEqual([endMs]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('rejects with the reason of an abort, at once', async () => {
    const { clock, pause, abort, ended } = await aPause();
    const reason = new Error('stopped');

    const before = pause.endMs;
    abort.abort(reason);
    await clock.advance(0);

    expect(ended).toEqual([reason]);
    expect([before, pause.endMs]).toEqual([10_000, undefined]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('takes a turn of the event loop if its end has passed, and then there is nothing to cut short', async () => {
    const clock = createFakeClock();
    const pause = new LoopPause(clock);

    const ended = pause.until(0, new AbortController().signal);
    expect(clock.pendingTimers()).toBe(1);
    await clock.advance(0);
    await ended;
    pause.endAfter(0);

    expect(pause.endMs).toBeUndefined();
    expect(clock.pendingTimers()).toBe(0);
  });

  it('leaves nothing at a signal that outlives it', async () => {
    const clock = createFakeClock();
    const pause = new LoopPause(clock);
    const abort = new AbortController();
    for (let count = 0; count < 100; count += 1) {
      const ended = pause.until(clock.monotonicMs() + 10, abort.signal);
      pause.endAfter(5);
      await clock.advance(10);
      await ended;
    }

    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
    expect(dependantsOf(abort.signal)).toBe(0);
    // So Node.js would show one. From version 24 on, once somebody listens to it.
    AbortSignal.any([abort.signal]).addEventListener('abort', () => undefined);
    expect(dependantsOf(abort.signal)).toBe(1);
  });
});
