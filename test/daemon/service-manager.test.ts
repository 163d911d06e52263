import { describe, expect, it } from 'vitest';
import {
  createServiceManager,
  type ServiceManager,
  type ServiceManagerChannel,
} from '../../src/daemon/service-manager.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

interface Bench {
  readonly manager: ServiceManager;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  /** The messages that arrived, in order. */
  readonly told: string[][];
  /** What the process says of itself. */
  readonly state: { sentence: string; stalled: string | undefined; failure: Error | undefined };
}

function aBench({ watchdogMs }: { readonly watchdogMs?: number } = {}): Bench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const told: string[][] = [];
  const state: Bench['state'] = { sentence: 'Polling.', stalled: undefined, failure: undefined };
  const channel: ServiceManagerChannel = {
    tell: async (assignments) => {
      await Promise.resolve();
      if (state.failure !== undefined) throw state.failure;
      told.push([...assignments]);
    },
    monotonicMicroseconds: () => BigInt(clock.monotonicMs()) * 1000n,
    watchdogMs,
  };
  const manager = createServiceManager({
    channel,
    clock,
    logger,
    sentence: () => state.sentence,
    stalled: () => state.stalled,
  });
  return { manager, clock, logger, told, state };
}

/** Runs `watch` for so long. */
async function watchFor(bench: Bench, ms: number): Promise<void> {
  const abort = new AbortController();
  const watching = bench.manager.watch(abort.signal);
  await bench.clock.advance(ms);
  await settle();
  await settle();
  abort.abort();
  await watching;
}

describe('what the service manager is told', () => {
  it('is that the process is ready, once', async () => {
    const bench = aBench();

    bench.manager.ready();
    bench.manager.ready();
    await bench.clock.advance(1000);

    expect(bench.told).toEqual([['READY=1']]);
  });

  it('is the state in a sentence, whenever it has changed', async () => {
    const bench = aBench();

    await watchFor(bench, 25_000);
    bench.state.sentence = 'Account a cannot\nbe discovered.';
    await watchFor(bench, 25_000);

    expect(bench.told).toEqual([['STATUS=Polling.'], ['STATUS=Account a cannot be discovered.']]);
  });

  it('is a sign of life three times in the time of the watchdog', async () => {
    const bench = aBench({ watchdogMs: 9000 });

    await watchFor(bench, 8999);

    expect(bench.told).toEqual([['STATUS=Polling.', 'WATCHDOG=1'], ['WATCHDOG=1'], ['WATCHDOG=1']]);
  });

  it('is no sign of life while the process is stalled, but why', async () => {
    const bench = aBench({ watchdogMs: 9000 });
    bench.state.stalled = 'no poll has begun for 10 minutes';

    await watchFor(bench, 60_000);

    expect(bench.told).toEqual([['STATUS=Stalled: no poll has begun for 10 minutes']]);
  });

  it('is no longer than a line of a terminal or two', async () => {
    const bench = aBench();
    bench.state.sentence = 'x'.repeat(10_000);

    await watchFor(bench, 1);

    expect(bench.told).toEqual([[`STATUS=${'x'.repeat(199)}…`]]);
  });

  it('is the beginning and the end of a reload, in this order, however short it is', async () => {
    const bench = aBench();
    bench.manager.ready();
    await bench.clock.advance(2000);

    await bench.manager.reload(async () => {});
    await bench.clock.advance(1000);

    expect(bench.told).toEqual([
      ['READY=1'],
      ['RELOADING=1', 'MONOTONIC_USEC=2000000'],
      ['READY=1'],
    ]);
  });

  it('is the end of a reload that fails, too', async () => {
    const bench = aBench();
    bench.manager.ready();

    const reload = bench.manager.reload(async () => {
      throw new Error('a typo');
    });

    await expect(reload).rejects.toThrow('a typo');
    await bench.clock.advance(1000);
    expect(bench.told.at(-1)).toEqual(['READY=1']);
  });

  it('is one end of several reloads at a time', async () => {
    const bench = aBench();
    bench.manager.ready();
    const ends: (() => void)[] = [];
    const work = async (): Promise<void> =>
      new Promise((resolve) => {
        ends.push(resolve);
      });

    const reloads = [bench.manager.reload(work), bench.manager.reload(work)];
    ends[0]?.();
    await bench.clock.advance(1000);
    const before = bench.told.length;
    ends[1]?.();
    await Promise.all(reloads);
    await bench.clock.advance(1000);

    expect(before).toBe(3);
    expect(bench.told.slice(before)).toEqual([['READY=1']]);
  });

  it('is nothing of a reload before the process is ready', async () => {
    const bench = aBench();

    await bench.manager.reload(async () => {});
    await bench.clock.advance(1000);

    expect(bench.told).toEqual([]);
  });

  it('is that the process stops, and nothing of a reload that ends later', async () => {
    const bench = aBench();
    let end: (() => void) | undefined;
    bench.manager.ready();
    const reload = bench.manager.reload(
      async () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    await bench.clock.advance(1000);

    bench.manager.stopping();
    end?.();
    await reload;
    await bench.clock.advance(1000);

    expect(bench.told.at(-1)).toEqual(['STOPPING=1', 'STATUS=Stopping.']);
  });
});

describe('when the service manager cannot be told', () => {
  it('says so once in the log, and sends the steps again until they arrive', async () => {
    const bench = aBench({ watchdogMs: 30_000 });
    bench.state.failure = new Error('systemd-notify: there is no such program');

    bench.manager.ready();
    await watchFor(bench, 60_000);
    bench.state.failure = undefined;
    await watchFor(bench, 1);

    expect(bench.logger.lines).toEqual([
      {
        level: 'warn',
        message: 'the service manager cannot be told',
        fields: {
          problem: 'systemd-notify: there is no such program',
          remedy: expect.stringContaining('NotifyAccess=all') as unknown,
        },
      },
    ]);
    expect(bench.told).toEqual([['READY=1'], ['STATUS=Polling.', 'WATCHDOG=1']]);
  });

  it('says so again after it has worked in between', async () => {
    const bench = aBench();
    bench.state.failure = new Error('one');
    await watchFor(bench, 1);
    bench.state.failure = undefined;
    await watchFor(bench, 1);
    bench.state.failure = new Error('two');
    bench.manager.ready();
    await bench.clock.advance(1);

    expect(bench.logger.lines.map(({ fields }) => fields['problem'])).toEqual(['one', 'two']);
  });
});

describe('while the process stops', () => {
  it('says nothing of messages that are lost', async () => {
    const bench = aBench();
    bench.state.failure = new Error('ended by SIGTERM');

    bench.manager.stopping();
    await bench.clock.advance(1);

    expect(bench.logger.lines).toEqual([]);
  });
});

describe('without a service manager', () => {
  it('reloads all the same, and ends at once', async () => {
    const clock = createFakeClock();
    const manager = createServiceManager({
      channel: undefined,
      clock,
      logger: createFakeLogger(),
      sentence: () => '',
      stalled: () => undefined,
    });
    let reloads = 0;

    manager.ready();
    await manager.reload(async () => {
      reloads += 1;
    });
    await manager.watch(new AbortController().signal);
    manager.stopping();

    expect(reloads).toBe(1);
    expect(clock.pendingTimers()).toBe(0);
  });
});
