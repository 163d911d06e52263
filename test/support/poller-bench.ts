import { setMaxListeners } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import { type AccountPoller, createAccountPoller } from '../../src/poller/account-poller.ts';
import { anAccount, anApplication, anEntry } from './builders.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createFakeLogger, type FakeLogger } from './fake-logger.ts';
import { createFakeSink, type FakeSink } from './fake-sink.ts';
import { createFakeSource, type FakeSource, webOf } from './fake-source.ts';

export interface PollerBench {
  readonly clock: FakeClock;
  readonly source: FakeSource;
  readonly sink: FakeSink;
  readonly logger: FakeLogger;
  readonly polls: boolean[];
  readonly pollSeconds: number[];
  readonly skipped: number[];
  readonly poller: AccountPoller;
  readonly start: () => void;
  /** What the key may send; to be changed at will. */
  readonly limit: { perMinute: number };
  /** Requests that were sent again; to be changed at will. */
  readonly retried: { total: number };
}

/** A poller with fakes all around; every test that starts one ends with no timer left. */
export function aBench(
  entries: readonly AppEntry[] = [anEntry()],
  account: Partial<AccountConfig> = {},
): PollerBench {
  const clock = createFakeClock();
  const source = createFakeSource(clock);
  const sink = createFakeSink();
  const logger = createFakeLogger();
  const polls: boolean[] = [];
  const pollSeconds: number[] = [];
  const skipped: number[] = [];
  const limit = { perMinute: anAccount(account).requestsPerMinute };
  const retried = { total: 0 };
  const poller = createAccountPoller(
    { account: anAccount(account), entries },
    {
      limitPerMinute: () => limit.perMinute,
      retries: () => retried.total,
      source,
      clock,
      random: () => 0.5,
      sink,
      logger,
      observer: {
        polled: (seconds, succeeded) => {
          pollSeconds.push(seconds);
          polls.push(succeeded);
        },
        skipped: (count) => skipped.push(count),
      },
      requestsInFlight: () => 0,
      backoffUntilMs: () => undefined,
    },
  );
  return {
    clock,
    source,
    sink,
    logger,
    polls,
    pollSeconds,
    skipped,
    limit,
    retried,
    poller,
    start: () => {
      const abort = new AbortController();
      setMaxListeners(0, abort.signal);
      const done = poller.run(abort.signal);
      onTestFinished(async () => {
        abort.abort(new Error('test over'));
        await clock.advance(0);
        await done;
        expect(clock.pendingTimers()).toBe(0);
      });
    },
  };
}

/** Runs the poller over a shop with two hosts that all answered once. */
export async function aRunningShop(
  entry: Parameters<typeof anEntry>[0] = {},
): Promise<PollerBench> {
  const bench = aBench([anEntry(entry)]);
  bench.source.list(anApplication({ id: '1', hostIds: ['11', '12'] }));
  bench.source.answer('1', webOf(30));
  bench.source.answer('1/11', webOf(10));
  bench.source.answer('1/12', webOf(20));
  bench.start();
  await bench.clock.advance(1000);
  return bench;
}
