import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { ChildEnd } from '../../src/daemon/platform.ts';
import { childArguments, keepRunning } from '../../src/daemon/respawn.ts';
import { createFakeChildren, type FakeChild, type FakeChildren } from '../support/fake-child.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const healthy = '';
const exited = (code: number): ChildEnd => ({ code, signal: null });
const killed = (signal: string): ChildEnd => ({ code: null, signal });

interface Bench {
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly children: FakeChildren;
  readonly hangup: () => void;
  readonly stop: () => void;
  /** Ends the child that runs. */
  readonly end: (end: ChildEnd) => Promise<void>;
  /** Passes time while the child says every ten seconds that all is well. */
  readonly live: (ms: number) => Promise<void>;
  readonly done: Promise<void>;
}

const running: Bench[] = [];

afterEach(async () => {
  for (const { stop, children, clock, done } of running.splice(0)) {
    stop();
    children.all.at(-1)?.end(exited(0));
    await done;
    expect(clock.pendingTimers()).toBe(0);
  }
});

async function aBench(): Promise<Bench> {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const children = createFakeChildren();
  const stopper = new AbortController();
  const listeners: (() => void)[] = [];
  const onHangup = (listener: () => void): void => {
    listeners.push(listener);
  };
  const done = keepRunning(
    ['serve'],
    { startChild: children.start, clock, logger, onHangup },
    stopper.signal,
  );
  await settle();
  const bench: Bench = {
    clock,
    logger,
    children,
    hangup: () => {
      for (const listener of listeners) listener();
    },
    stop: () => {
      stopper.abort(new Error('stopped by the test'));
    },
    end: async (end) => {
      children.last().end(end);
      await settle();
    },
    live: async (ms) => {
      for (let passedMs = 0; passedMs < ms; passedMs += 10_000) {
        children.last().tell(healthy);
        await clock.advance(10_000);
      }
    },
    done,
  };
  running.push(bench);
  return bench;
}

describe('keepRunning', () => {
  it('starts it again after 1 s, then after twice as long each time, up to 30 s', async () => {
    const { children, clock, end } = await aBench();
    const pauses: number[] = [];
    for (let index = 1; index <= 8; index += 1) {
      await end(exited(1));
      const startMs = clock.monotonicMs();
      while (children.all.length === index) await clock.advance(500);
      pauses.push((clock.monotonicMs() - startMs) / 1000);
    }

    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  it('begins again with 1 s after a child has run for a minute', async () => {
    const { children, clock, end, live } = await aBench();
    for (const _ of [1, 2, 3, 4]) {
      await end(exited(1));
      await clock.advance(10_000);
    }
    await live(60_000);
    const before = children.all.length;
    await end(exited(1));
    await clock.advance(1000);

    expect(children.all).toHaveLength(before + 1);
  });

  it.each([
    { end: exited(1), facts: { code: 1, signal: null }, remedy: 'the lines before this one' },
    { end: exited(2), facts: { code: 2 }, remedy: 'correct' },
    { end: exited(0), facts: { code: 0 }, remedy: 'the lines before this one' },
    { end: killed('SIGABRT'), facts: { signal: 'SIGABRT' }, remedy: 'its heap was full' },
    { end: killed('SIGKILL'), facts: { signal: 'SIGKILL' }, remedy: 'somebody killed it' },
    { end: killed('SIGSEGV'), facts: { signal: 'SIGSEGV' }, remedy: 'the lines before this one' },
  ])('logs each end once, with what to do: $end', async ({ end, facts, remedy }) => {
    const bench = await aBench();
    await bench.clock.advance(2000);
    await bench.end(end);
    await bench.clock.advance(1000);

    expect(bench.children.all).toHaveLength(2);
    expect(bench.logger.lines).toMatchObject([
      {
        level: 'error',
        message: 'the daemon ended, starting it again',
        fields: { ...facts, ran_seconds: 2, again_in_seconds: 1 },
      },
    ]);
    expect(bench.logger.lines[0]?.fields['remedy']).toContain(remedy);
  });

  it('logs that a child could not be started, and tries again', async () => {
    const { children, clock, logger } = await aBench();
    const error = new Error('spawn EAGAIN');
    children.last().fail(error);
    await clock.advance(1000);

    expect(children.all).toHaveLength(2);
    expect(logger.lines).toMatchObject([
      { level: 'error', fields: { error, remedy: expect.stringContaining('more processes') } },
    ]);
  });

  it('kills a child that has said nothing for two minutes', async () => {
    const { children, clock, logger, live } = await aBench();
    await live(600_000);
    await clock.advance(100_000);
    const before = [...children.last().signals];
    await clock.advance(20_000);

    expect(before).toEqual([]);
    expect(children.all[0]?.signals).toEqual(['SIGKILL']);
    expect(logger.lines[0]?.fields).toMatchObject({ problem: 'no sign of life for 120 seconds' });
  });

  it('kills a child that has said for two minutes that it stands still, and says why', async () => {
    const { children, clock, logger, live } = await aBench();
    await live(60_000);
    for (let index = 0; index < 12; index += 1) {
      children.all[0]?.tell('account one: polling has stood still');
      await clock.advance(10_000);
    }

    expect(children.all[0]?.signals).toEqual(['SIGKILL']);
    expect(logger.lines[0]?.fields).toMatchObject({
      problem: 'account one: polling has stood still',
    });
  });

  it('waits five minutes for the first heartbeat of a child', async () => {
    const { children, clock } = await aBench();
    await clock.advance(299_000);
    const before = [...children.last().signals];
    await clock.advance(1000);

    expect(before).toEqual([]);
    expect(children.last().signals).toEqual(['SIGKILL']);
  });

  it('passes a stop on, and waits for its end', async () => {
    const { children, stop, end, done, clock, logger } = await aBench();
    stop();
    const signals = [...children.last().signals];
    await end(exited(0));
    await done;
    await clock.advance(60_000);

    expect(signals).toEqual(['SIGTERM']);
    expect(children.all).toHaveLength(1);
    expect(logger.lines).toEqual([]);
  });

  it('kills a child that does not stop in 4.3 seconds', async () => {
    const { children, stop, done, clock } = await aBench();
    stop();
    await clock.advance(4299);
    const before = [...children.last().signals];
    await clock.advance(1);
    await done;

    expect(before).toEqual(['SIGTERM']);
    expect(children.last().signals).toEqual(['SIGTERM', 'SIGKILL']);
  });

  it('ends at once when it is stopped between two children', async () => {
    const { children, stop, end, done, clock } = await aBench();
    await end(exited(1));
    stop();
    await done;

    expect(children.all).toHaveLength(1);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('passes SIGHUP on to a child once it has sent a heartbeat, and not before', async () => {
    const { children, hangup } = await aBench();
    hangup();
    hangup();
    const early = [...children.last().signals];
    children.last().tell(healthy);
    const heard = [...children.last().signals];
    children.last().tell(healthy);
    hangup();

    expect(early).toEqual([]);
    expect(heard).toEqual(['SIGHUP']);
    expect(children.last().signals).toEqual(['SIGHUP', 'SIGHUP']);
  });

  it('never runs two children, never gives up and leaves no timer, whatever they do', async () => {
    const steps = fc.oneof(
      fc.record({ kind: fc.constant('end' as const), code: fc.integer({ min: 0, max: 255 }) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 200_000 }) }),
      fc.record({ kind: fc.constant('live' as const), ms: fc.integer({ min: 1, max: 100_000 }) }),
      fc.record({ kind: fc.constant('hangup' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 20 }), async (plan) => {
        const bench = await aBench();
        const ended = new Set<number>();
        for (const step of plan) {
          const index = bench.children.all.length - 1;
          if (step.kind === 'end') {
            await bench.end(exited(step.code));
            ended.add(index);
          } else if (step.kind === 'wait') await bench.clock.advance(step.ms);
          else if (step.kind === 'live') await bench.live(step.ms);
          else bench.hangup();
        }
        const isOver = (child: FakeChild, index: number): boolean =>
          ended.has(index) || child.signals.includes('SIGKILL');
        const living = (): readonly number[] =>
          [...bench.children.all.entries()].flatMap(([at, child]) =>
            isOver(child, at) ? [] : [at],
          );
        await bench.clock.advance(30_000);
        // One that was silent may have been killed just now: the next one follows within the longest pause.
        if (living().length === 0) await bench.clock.advance(30_000);

        expect(living()).toEqual([bench.children.all.length - 1]);
      }),
      { numRuns: 30 },
    );
  });
});

describe('childArguments', () => {
  it.each([
    { argv: ['serve', '--respawn', '--config.wait'], rest: ['serve', '--config.wait'] },
    { argv: ['--respawn=true', '--config.file', 'a.yaml'], rest: ['--config.file', 'a.yaml'] },
    { argv: [], rest: [] },
  ])('are those of the parent, except for its flag: $argv', ({ argv, rest }) => {
    expect(childArguments(argv)).toEqual(['--respawn=false', ...rest]);
  });
});

describe('serve --respawn', () => {
  it.each([
    { argv: ['serve', '--respawn', '--config.wiat'], says: '--config.wait' },
    { argv: ['serve', '--respawn', '--total-shards=2', '--shard=2'], says: 'shard 2' },
    { argv: ['once', '--respawn'], says: 'no meaning for once' },
  ])('finds a wrong command line before any child is started: $argv', async ({ argv, says }) => {
    const children = createFakeChildren();
    const platform = { ...createFakePlatform(), startChild: children.start };

    expect(await run(argv, platform)).toBe(2);
    expect(platform.stderr.text()).toContain(says);
    expect(children.all).toEqual([]);
  });

  it('ends with success when it is stopped, even if the environment asks for it', async () => {
    const children = createFakeChildren();
    const env = { NEWRELIC_EXPORTER_RESPAWN: 'true' };
    const platform = { ...createFakePlatform({ env }), startChild: children.start };
    const ending = run(['serve', '--config.wait'], platform);
    while (children.all.length === 0) await settle();
    platform.stop();
    children.last().end(exited(0));

    expect(await ending).toBe(0);
    expect(children.last().args).toEqual(['--respawn=false', 'serve', '--config.wait']);
  });
});
