import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { sleep } from '../../src/model/clock.ts';
import type { Selector } from '../../src/model/config.ts';
import type { Discovery } from '../../src/model/source.ts';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { DiscoveryLoop } from '../../src/poll/discovery-loop.ts';
import type { Sought } from '../../src/poll/discovery-state.ts';
import { aContext, aSilentSource } from '../support/a-context.ts';
import { dependantsOf } from '../support/dependants.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { aTable, found, shop, type TableBench } from '../support/table-bench.ts';

const [one, two] = [found(shop('1')), found(shop('1'), shop('2'))];
const unanswered: Discovery = {
  ...found(),
  complete: false,
  error: new ApiError('connect', 'no connection'),
};

interface Bench extends TableBench {
  readonly loop: DiscoveryLoop;
  /** When each discovery began, and what it looked for. */
  readonly begun: { readonly atMs: number; readonly selectors: number }[];
  /** When each discovery was taken in. */
  readonly ended: number[];
  /** That of its account, which outlives all discoveries. */
  readonly signal: AbortSignal;
  readonly stop: () => Promise<unknown>;
}

/**
 * A loop whose discoveries end as the test says. Obeys its signal like a source.
 *
 * @param taken called when what a discovery found was taken in
 */
function aLoop(
  discovery: (begun: number, signal: AbortSignal) => Promise<Discovery>,
  {
    taken = () => undefined,
    publishingMs = 0,
    ...sought
  }: Partial<Sought> & { readonly taken?: () => void; readonly publishingMs?: number } = {},
): Bench {
  const clock = createFakeClock();
  const begun: { readonly atMs: number; readonly selectors: number }[] = [];
  const ended: number[] = [];
  const context = aContext({
    clock,
    source: aSilentSource({
      discover: async ({ selectors }, _known, aborted) => {
        begun.push({ atMs: clock.monotonicMs(), selectors: selectors.length });
        return discovery(begun.length, aborted);
      },
    }),
  });
  const bench = aTable({ clock });
  const options = { selectors: selectorsOf('1'), intervalMs: minuteMs, ...sought };
  const loop = new DiscoveryLoop(options, bench.table, context);
  const abort = new AbortController();
  const told = async (): Promise<void> => {
    ended.push(clock.monotonicMs());
    taken();
    if (publishingMs > 0) await sleep(clock, publishingMs, abort.signal);
  };
  const running = loop.run(abort.signal, told).catch((error: unknown) => error);
  return {
    ...bench,
    loop,
    begun,
    ended,
    signal: abort.signal,
    stop: async () => {
      abort.abort(new Error('stopped'));
      await clock.advance(0);
      expect(clock.pendingTimers()).toBe(0);
      return running;
    },
  };
}

function selectorsOf(...ids: readonly string[]): readonly Selector[] {
  return ids.map((id) => ({ kind: 'id', id }));
}

/** Ends when it is aborted; with what it has, if the reason is a deadline. */
async function cutShort(aborted: AbortSignal, calls: number): Promise<Discovery> {
  return new Promise((resolve, reject) => {
    aborted.addEventListener('abort', () => {
      const reason: unknown = aborted.reason;
      if (reason instanceof ApiError) resolve({ ...unanswered, calls, error: reason });
      else reject(reason);
    });
  });
}

const timesOf = ({ begun }: Bench): readonly number[] => begun.map(({ atMs }) => atMs);
const never = async (): Promise<Discovery> => new Promise(() => undefined);

describe('a restart', () => {
  const next = { selectors: selectorsOf('1', '2'), intervalMs: minuteMs };

  it.each([
    { what: 'obeys', obeys: true },
    { what: 'had its last answer just before', obeys: false },
  ])(
    'drops the discovery under way, whose source $what, and begins the next at once',
    async ({ obeys }) => {
      const bench = aLoop(async (begun, aborted) => {
        if (begun > 1) return one;
        if (obeys) return cutShort(aborted, 1);
        return new Promise((resolve) => {
          aborted.addEventListener('abort', () => {
            resolve(two);
          });
        });
      });
      await bench.clock.advance(5000);

      bench.loop.follow(next, false);
      await bench.clock.advance(0);

      expect(bench.begun).toEqual([
        { atMs: 0, selectors: 1 },
        { atMs: 5000, selectors: 2 },
      ]);
      expect(bench.ended).toEqual([5000]);
      expect(bench.table.discovery.listed).toBe(1);
      await bench.stop();
    },
  );

  it('between a discovery and the pause after it leaves no pause', async () => {
    const bench: Bench = aLoop(async () => one, {
      intervalMs: 3_600_000,
      taken: () => {
        if (bench.ended.length === 1) bench.loop.follow(next, false);
      },
    });

    await bench.clock.advance(0);

    expect(bench.begun).toEqual([
      { atMs: 0, selectors: 1 },
      { atMs: 0, selectors: 2 },
    ]);
    await bench.stop();
  });
});

describe('a discovery that is wanted soon', () => {
  it('comes ten seconds after the last one, though what that found is still published', async () => {
    const bench = aLoop(async () => one, { publishingMs: 100 });
    await bench.clock.advance(50);

    bench.loop.soon();
    await bench.clock.advance(30_000);
    await bench.stop();

    expect(timesOf(bench)).toEqual([0, 10_000]);
  });
});

describe('discoveries of a day', () => {
  it('leave nothing behind at the signal of their account', async () => {
    const bench = aLoop(async () => one);

    await bench.clock.advance(24 * 60 * minuteMs);

    expect(bench.begun.length).toBeGreaterThan(1000);
    expect(dependantsOf(bench.signal)).toBe(0);
    // That of the pause.
    expect(getEventListeners(bench.signal, 'abort')).toHaveLength(1);
    await bench.stop();
  });
});

describe('lateSinceMs', () => {
  it('is the time at which a pause should have ended that does not', async () => {
    const sinceMs = minuteMs;
    const bench = aLoop(async () => one);
    await bench.clock.advance(0);
    // The timer of the pause is set again, and lost.
    Object.assign(bench.clock, { after: () => () => undefined });
    bench.loop.soon();

    await bench.clock.advance(sinceMs - 1);
    const before = bench.loop.lateSinceMs();
    await bench.clock.advance(1000);

    expect([before, bench.loop.lateSinceMs()]).toEqual([undefined, sinceMs]);
  });

  it('4.3 is never while a discovery waits, however long', async () => {
    const bench = aLoop(never);
    await bench.clock.advance(2 * hourMs);

    expect(bench.loop.lateSinceMs()).toBeUndefined();
    expect(bench.begun).toHaveLength(1);
  });
});
