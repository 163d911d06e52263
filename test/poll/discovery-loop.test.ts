import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Discovery } from '../../src/model/source.ts';
import { DiscoveryLoop } from '../../src/poll/discovery-loop.ts';
import { type DiscoveryState, initialDiscovery } from '../../src/poll/discovery-state.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const minuteMs = 60_000;
const found: Discovery = {
  applications: [],
  complete: true,
  unreadableIds: [],
  pendingIds: [],
  calls: 1,
  error: undefined,
};

interface Bench {
  readonly clock: FakeClock;
  readonly loop: DiscoveryLoop;
  /** When each discovery began, and what it looked for. */
  readonly begun: { readonly atMs: number; readonly selectors: number }[];
  /** How each discovery ended, if it was reported. */
  readonly told: Discovery[];
  readonly ended: (readonly string[])[];
  /** The time that each list may take. */
  readonly lists: number[];
  readonly stop: () => Promise<unknown>;
}

/** A loop whose discoveries end as the test says. Obeys its signal like a source. */
function aLoop(
  discovery: (begun: number, signal: AbortSignal, clock: FakeClock) => Promise<Discovery>,
  options: { readonly intervalMs?: number; readonly state?: DiscoveryState } = {},
): Bench {
  const { intervalMs = minuteMs, state = { ...initialDiscovery, up: true } } = options;
  const clock = createFakeClock();
  const begun: { readonly atMs: number; readonly selectors: number }[] = [];
  const told: Discovery[] = [];
  const ended: (readonly string[])[] = [];
  const lists: number[] = [];
  const loop = new DiscoveryLoop(
    { selectors: [{ kind: 'id', id: '7' }], intervalMs },
    {
      clock,
      random: () => 0.5,
      calls: { beginList: (periodMs) => lists.push(periodMs) },
      source: {
        discover: async (selectors, _known, signal) => {
          begun.push({ atMs: clock.monotonicMs(), selectors: selectors.length });
          return discovery(begun.length, signal, clock);
        },
      },
      table: {
        states: new Map(),
        discovery: state,
        discovered: async (one) => {
          told.push(one);
          return ['gone'];
        },
      },
      ended: (removed) => {
        ended.push(removed);
      },
    },
  );
  const abort = new AbortController();
  const reason = new Error('stopped');
  let running: Promise<unknown> | undefined;
  const start = (): void => {
    running = loop.run(abort.signal).catch((error: unknown) => error);
  };
  start();
  return {
    clock,
    loop,
    begun,
    told,
    ended,
    lists,
    stop: async () => {
      abort.abort(reason);
      await clock.advance(0);
      expect(clock.pendingTimers()).toBe(0);
      return running;
    },
  };
}

/** Ends when it is aborted; with what it has, if the reason is a deadline. */
async function cutShort(signal: AbortSignal, calls: number): Promise<Discovery> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      const reason: unknown = signal.reason;
      if (reason instanceof ApiError) {
        resolve({ ...found, complete: false, calls, error: reason });
      } else reject(reason);
    });
  });
}

const timesOf = ({ begun }: Bench): readonly number[] => begun.map(({ atMs }) => atMs);
const never = async (): Promise<Discovery> => new Promise(() => undefined);

describe('DiscoveryLoop', () => {
  it('discovers at once, and then an interval after the end of each discovery, as a list of its own', async () => {
    const bench = aLoop(async (_begun, _signal, clock) => {
      await new Promise<void>((resolve) => {
        clock.after(5000, resolve);
      });
      return found;
    });

    await bench.clock.advance(3 * minuteMs);
    const reason = await bench.stop();

    expect(timesOf(bench)).toEqual([0, 65_000, 130_000]);
    expect(bench.ended).toEqual([['gone'], ['gone'], ['gone']]);
    expect(bench.lists).toEqual([minuteMs, minuteMs, minuteMs]);
    expect(reason).toMatchObject({ message: 'stopped' });
  });

  it.each([
    { what: 'complete', one: found, whole: true },
    { what: 'incomplete', one: { ...found, complete: false }, whole: false },
    {
      what: 'without an id that was not asked for yet',
      one: { ...found, pendingIds: ['1'] },
      whole: false,
    },
  ])('resolves to $whole after a single discovery that is $what', async ({ one, whole }) => {
    const bench = aLoop(async () => one);
    await bench.clock.advance(0);

    const isWhole = await bench.loop.discover(new AbortController().signal);

    expect(isWhole).toBe(whole);
    await bench.stop();
  });

  it.each([
    {
      what: 'often while the vendor never answered',
      state: { up: false },
      times: [0, 1500, 4500, 10_500, 22_500, 46_500, 94_500],
    },
    { what: 'once a minute when it did', state: { up: false, answered: true }, times: [0, 60_000] },
    {
      what: 'ever later for what is missing',
      state: { missingSelectors: ['1'] },
      times: [0, 60_000],
    },
  ])('tries again $what', async ({ state, times }) => {
    const bench = aLoop(async () => ({ ...found, complete: false }), {
      intervalMs: 3_600_000,
      state: { ...initialDiscovery, up: true, ...state },
    });

    await bench.clock.advance(100_000);
    await bench.stop();

    expect(timesOf(bench)).toEqual(times);
  });
});

describe('an interval that is shorter than the pause before another try', () => {
  it.each([
    {
      what: 'the first answer',
      state: { up: false },
      times: [0, 1500, 4500, 10_500, 22_500, 42_500, 62_500],
    },
    {
      what: 'an end to failures',
      state: { up: false, answered: true },
      times: [0, 20_000, 40_000, 60_000],
    },
    {
      what: 'something that is configured',
      state: { up: true, missingSelectors: ['id=1'] },
      times: [0, 20_000, 40_000, 60_000],
    },
  ])('counts while it waits for $what', async ({ state, times }) => {
    const bench = aLoop(async () => ({ ...found, complete: state.up }), {
      intervalMs: 20_000,
      state: { ...initialDiscovery, ...state },
    });

    await bench.clock.advance(62_500);
    await bench.stop();

    expect(timesOf(bench)).toEqual(times);
  });
});

describe('the deadline of a discovery', () => {
  const hour = 3_600_000;

  it.each([
    {
      what: 'doubles, up to an hour, each time when it is cut short after a first page',
      calls: 2,
      intervalMs: minuteMs,
      // Between two of them are the deadline and an interval.
      deadlines: [120_000, 240_000, 480_000, 960_000, 1_920_000, hour, hour],
    },
    {
      what: 'stays when not even a first page came',
      calls: 1,
      intervalMs: minuteMs,
      deadlines: [120_000, 120_000, 120_000],
    },
    {
      what: 'is as long as the interval at least',
      calls: 2,
      intervalMs: 300_000,
      deadlines: [300_000, 600_000],
    },
  ])('$what', async ({ calls, intervalMs, deadlines }) => {
    const bench = aLoop(async (_begun, signal) => cutShort(signal, calls), { intervalMs });

    await bench.clock.advance(
      deadlines.reduce((sum, deadlineMs) => sum + deadlineMs + intervalMs, 0),
    );
    await bench.stop();

    const times = timesOf(bench);
    const seen = deadlines.map(
      (_, index) => (times[index + 1] ?? 0) - (times[index] ?? 0) - intervalMs,
    );
    expect(seen).toEqual(deadlines);
    expect(bench.told[0]?.error).toMatchObject({ reason: 'timeout' });
  });
});

describe('a restart', () => {
  const selectors = [
    { kind: 'id', id: '1' },
    { kind: 'id', id: '2' },
  ] as const;
  const next = { selectors, intervalMs: minuteMs };

  it.each([
    { what: 'obeys', obeys: true },
    { what: 'had its last answer just before', obeys: false },
  ])(
    'drops the discovery under way, whose source $what, and begins the next at once',
    async ({ obeys }) => {
      const bench = aLoop(async (begun, signal) => {
        if (begun > 1) return found;
        return obeys
          ? cutShort(signal, 1)
          : new Promise((resolve) => {
              signal.addEventListener('abort', () => {
                resolve({ ...found, calls: 77 });
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
      expect(bench.told).toEqual([found]);
      await bench.stop();
    },
  );

  it('ends the pause at once', async () => {
    const bench = aLoop(async () => found, { intervalMs: 3_600_000 });
    await bench.clock.advance(5000);

    bench.loop.follow(next, false);
    await bench.clock.advance(minuteMs);

    expect(bench.begun).toEqual([
      { atMs: 0, selectors: 1 },
      { atMs: 5000, selectors: 2 },
      { atMs: 65_000, selectors: 2 },
    ]);
    await bench.stop();
  });
});

describe('a discovery that is wanted soon', () => {
  it('comes ten seconds after the last one, however often it is asked for', async () => {
    const bench = aLoop(async () => found);
    await bench.clock.advance(3000);

    for (const ms of [0, 2000, 2000]) {
      await bench.clock.advance(ms);
      bench.loop.soon();
    }
    await bench.clock.advance(minuteMs);
    await bench.stop();

    expect(timesOf(bench)).toEqual([0, 10_000]);
  });
});

describe('lateSinceMs', () => {
  it.each([
    { what: 'a discovery that outlives its deadline twice', discovery: never, sinceMs: 240_000 },
    { what: 'a pause that does not end', discovery: async () => found, sinceMs: minuteMs },
  ])('is the time at which $what should have ended', async ({ discovery, sinceMs }) => {
    const bench = aLoop(discovery);
    await bench.clock.advance(0);
    // The timer of the pause is set again, and lost.
    Object.assign(bench.clock, { after: () => () => undefined });
    bench.loop.soon();

    await bench.clock.advance(sinceMs - 1);
    const before = bench.loop.lateSinceMs();
    await bench.clock.advance(1000);

    expect([before, bench.loop.lateSinceMs()]).toEqual([undefined, sinceMs]);
  });
});
