import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { ChildEnd } from '../../src/daemon/platform.ts';
import { createFakeChildren, type FakeChild, type FakeChildren } from '../support/fake-child.ts';
import { type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const healthy = '';
const exited = (code: number): ChildEnd => ({ code, signal: null });
const killed = (signal: string): ChildEnd => ({ code: null, signal });

interface Bench {
  readonly clock: FakeClock;
  /** Its lines. */
  readonly log: () => readonly Readonly<Record<string, unknown>>[];
  readonly children: FakeChildren;
  readonly hangup: () => void;
  readonly stop: () => void;
  /** Ends the child that runs. */
  readonly end: (end: ChildEnd) => Promise<void>;
  /** Passes time while the child says every ten seconds that all is well. */
  readonly live: (ms: number) => Promise<void>;
  readonly done: Promise<number>;
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

/** The parent that `serve --respawn` is. */
async function aBench(argv = ['serve', '--respawn'], env = {}): Promise<Bench> {
  const children = createFakeChildren();
  const platform = { ...createFakePlatform({ env }), startChild: children.start };
  const { clock, stderr } = platform;
  const done = run(argv, platform);
  while (children.all.length === 0) await settle();
  const bench: Bench = {
    clock,
    log: () =>
      stderr
        .text()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    children,
    hangup: () => platform.hangup(),
    stop: () => platform.stop(),
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

describe('serve --respawn', () => {
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
    expect(bench.log()).toMatchObject([
      {
        level: 'error',
        msg: 'the daemon ended, starting it again',
        ...facts,
        ran_seconds: 2,
        again_in_seconds: 1,
        remedy: expect.stringContaining(remedy),
      },
    ]);
  });

  it('logs that a child could not be started, and tries again', async () => {
    const { children, clock, log } = await aBench();
    children.last().fail(new Error('spawn EAGAIN'));
    await clock.advance(1000);

    expect(children.all).toHaveLength(2);
    expect(log()).toMatchObject([
      {
        level: 'error',
        error: { message: 'spawn EAGAIN' },
        remedy: expect.stringContaining('more processes'),
      },
    ]);
  });

  it('kills a child that has said nothing for two minutes', async () => {
    const { children, clock, log, live } = await aBench();
    await live(600_000);
    await clock.advance(100_000);
    const before = [...children.last().signals];
    await clock.advance(20_000);

    expect(before).toEqual([]);
    expect(children.all[0]?.signals).toEqual(['SIGKILL']);
    expect(log()).toMatchObject([{ problem: 'no sign of life for 120 seconds' }]);
  });

  it('kills a child that has said for two minutes that it stands still, and says why', async () => {
    const { children, clock, log, live } = await aBench();
    await live(60_000);
    for (let index = 0; index < 12; index += 1) {
      children.all[0]?.tell('account one: polling has stood still');
      await clock.advance(10_000);
    }

    expect(children.all[0]?.signals).toEqual(['SIGKILL']);
    expect(log()).toMatchObject([{ problem: 'account one: polling has stood still' }]);
  });

  it('kills a child that has said nothing two minutes after its start', async () => {
    const { children, clock } = await aBench();
    await clock.advance(119_000);
    const before = [...children.last().signals];
    await clock.advance(1000);

    expect(before).toEqual([]);
    expect(children.last().signals).toEqual(['SIGKILL']);
  });

  it('passes a stop on, and waits for its end', async () => {
    const { children, stop, end, done, clock, log } = await aBench();
    stop();
    const signals = [...children.last().signals];
    await end(exited(0));
    const code = await done;
    await clock.advance(60_000);

    expect([code, signals]).toEqual([0, ['SIGTERM']]);
    expect(children.all).toHaveLength(1);
    expect(log()).toEqual([]);
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
    const { children, hangup, end, clock } = await aBench();
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

    await end(exited(1));
    await clock.advance(1000);
    hangup();

    expect(children.all.map(({ signals }) => signals)).toEqual([['SIGHUP', 'SIGHUP'], []]);
  });

  it.each([
    { what: 'is killed', strike: async ({ end }: Bench) => end(killed('SIGKILL')) },
    { what: 'is silent', strike: async ({ clock }: Bench) => clock.advance(120_000) },
  ])(
    'starts it thirty-one times, one after the other, if it $what thirty times',
    async ({ strike }) => {
      const bench = await aBench();
      const { children, clock, log } = bench;
      for (let times = 1; times <= 30; times += 1) {
        await strike(bench);
        while (children.all.length === times) await clock.advance(1000);
      }

      expect(children.all).toHaveLength(31);
      expect(log().map(({ signal }) => signal)).toEqual(
        Array.from({ length: 30 }, () => 'SIGKILL'),
      );
    },
  );

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

describe('the command line of --respawn', () => {
  it.each([
    { argv: ['serve', '--respawn', '--config.wait'], rest: ['serve', '--config.wait'] },
    {
      argv: ['--respawn=true', '--config.file', 'a.yaml'],
      rest: ['--config.file', 'a.yaml'],
    },
    { argv: ['serve'], rest: ['serve'] },
  ])('is that of its child, except for the flag: $argv', async ({ argv, rest }) => {
    const { children } = await aBench(argv, { NEWRELIC_EXPORTER_RESPAWN: 'true' });

    expect(children.last().args).toEqual(['--respawn=false', ...rest]);
  });

  it.each([
    { argv: ['serve', '--respawn', '--config.wiat'], says: '--config.wait' },
    { argv: ['serve', '--respawn', '--total-shards=2', '--shard=2'], says: 'shard 2' },
    { argv: ['once', '--respawn'], says: 'no meaning for once' },
  ])('is found to be wrong before any child is started: $argv', async ({ argv, says }) => {
    const children = createFakeChildren();
    const platform = { ...createFakePlatform(), startChild: children.start };

    expect(await run(argv, platform)).toBe(2);
    expect(platform.stderr.text()).toContain(says);
    expect(children.all).toEqual([]);
  });
});
