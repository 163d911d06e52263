import { describe, expect, it } from 'vitest';
import { createInterruptibleDelay } from '../../src/model/clock.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

interface Pause {
  readonly clock: FakeClock;
  readonly abort: AbortController;
  readonly cutShort: (minMs: number) => void;
  readonly willEndMs: () => number | undefined;
  /** When the pause ended, and how. */
  readonly ends: { readonly atMs: number; readonly error: unknown }[];
}

/** A pause of a minute that has begun. */
function aPause({ isAborted = false } = {}): Pause {
  const clock = createFakeClock();
  const delay = createInterruptibleDelay(clock);
  const abort = new AbortController();
  if (isAborted) abort.abort(new Error('stopped'));
  const ends: { atMs: number; error: unknown }[] = [];
  void (async () => {
    try {
      await delay.pause(60_000, abort.signal);
      ends.push({ atMs: clock.monotonicMs(), error: undefined });
    } catch (error) {
      ends.push({ atMs: clock.monotonicMs(), error });
    }
  })();
  return {
    clock,
    abort,
    cutShort: (minMs) => delay.cutShort(minMs),
    willEndMs: () => delay.endsAtMs(),
    ends,
  };
}

describe('createInterruptibleDelay', () => {
  it.each([
    { what: 'takes as long as it should', cuts: [], endsAtMs: 60_000 },
    {
      what: 'ends at once when nothing must pass',
      cuts: [{ atMs: 5000, minMs: 0 }],
      endsAtMs: 5000,
    },
    {
      what: 'ends when the least time has passed, counted from its beginning',
      cuts: [{ atMs: 5000, minMs: 10_000 }],
      endsAtMs: 10_000,
    },
    {
      what: 'ends at once when the least time has passed already',
      cuts: [{ atMs: 20_000, minMs: 10_000 }],
      endsAtMs: 20_000,
    },
    {
      what: 'is never made longer',
      cuts: [
        { atMs: 1000, minMs: 10_000 },
        { atMs: 2000, minMs: 30_000 },
        { atMs: 3000, minMs: 90_000 },
      ],
      endsAtMs: 10_000,
    },
    {
      what: 'may be cut shorter again',
      cuts: [
        { atMs: 1000, minMs: 30_000 },
        { atMs: 2000, minMs: 10_000 },
      ],
      endsAtMs: 10_000,
    },
  ])('$what', async ({ cuts, endsAtMs }) => {
    const { clock, cutShort, willEndMs, ends } = aPause();

    for (const { atMs, minMs } of cuts) {
      await clock.advance(atMs - clock.monotonicMs());
      cutShort(minMs);
    }
    const announcedMs = ends.length === 0 ? willEndMs() : endsAtMs;
    await clock.advance(120_000);

    expect(ends).toEqual([{ atMs: endsAtMs, error: undefined }]);
    expect([announcedMs, willEndMs()]).toEqual([endsAtMs, undefined]);
    expect(clock.pendingTimers()).toBe(0);
  });

  it.each([
    { what: 'under way', isAborted: false },
    { what: 'that has not begun', isAborted: true },
  ])(
    'rejects at once with the reason of an abort that ends a pause $what',
    async ({ isAborted }) => {
      const { clock, abort, ends } = aPause({ isAborted });

      abort.abort(new Error('stopped'));
      await clock.advance(0);

      expect(ends).toMatchObject([{ atMs: 0, error: { message: 'stopped' } }]);
      expect(clock.pendingTimers()).toBe(0);
    },
  );

  it('does nothing when there is no pause to cut short', async () => {
    const { clock, cutShort, ends } = aPause();
    await clock.advance(60_000);

    cutShort(0);
    await clock.advance(60_000);

    expect(ends).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('is not cut short by a request from before it began', async () => {
    const clock = createFakeClock();
    const delay = createInterruptibleDelay(clock);
    delay.cutShort(0);
    let isOver = false;

    const pause = (async () => {
      await delay.pause(60_000, new AbortController().signal);
      isOver = true;
    })();
    await clock.advance(59_999);
    const before = isOver;
    await clock.advance(1);

    expect([before, isOver]).toEqual([false, true]);
    await pause;
  });
});
