import { setMaxListeners } from 'node:events';
import { expect, onTestFinished } from 'vitest';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import type { Source } from '../../src/model/source.ts';
import type { AccountCalls } from '../../src/newrelic/calls/account-calls.ts';
import { AccountPoller } from '../../src/poll/account-poller.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aContext } from './a-context.ts';
import { anAccount, anEntry } from './builders.ts';
import { inBatches } from './fake-batch-source.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createFakeLogger, type FakeLogger } from './fake-logger.ts';
import { createFakeSink, type FakeSink } from './fake-sink.ts';
import { createFakeSource, type FakeSource } from './fake-source.ts';

export interface PollerBench<Asked extends Source = FakeSource> {
  readonly clock: FakeClock;
  readonly source: Asked;
  readonly sink: FakeSink;
  readonly logger: FakeLogger;
  readonly polls: boolean[];
  readonly pollSeconds: number[];
  readonly skipped: number[];
  readonly poller: AccountPoller;
  readonly start: () => void;
  readonly calls: AccountCalls;
}

/** What a poller may be tested with: a source that has such batches. */
export interface PollerApi {
  readonly name: 'by the REST API' | 'in batches';
  readonly sourceOf: (clock: FakeClock, calls: AccountCalls) => FakeSource;
}

/** A batch for each application, with a call for each host. */
export const rest: PollerApi = { name: 'by the REST API', sourceOf: createFakeSource };

/** One call for many applications. */
const batches: PollerApi = {
  name: 'in batches',
  sourceOf: (...how) => inBatches(createFakeSource(...how)),
};

/** The poller knows nothing of the API: what is true of it is true with all of them. */
export const apis: readonly PollerApi[] = [rest, batches];

/** An entry for each of the applications, which share no batch: each wants a window of its own. */
export function unlikeEntries(
  ids: readonly string[],
  poll: Partial<AppEntry['poll']> = {},
): readonly AppEntry[] {
  return ids.map((id, index) => {
    const window = { kind: 'range', lengthMs: 60_000 * (index + 1) } as const;
    return anEntry({ selector: { kind: 'id', id }, poll: { ...poll, window } });
  });
}

/** A poller with fakes all around; every test that starts one ends with no timer left. */
export function aBench(
  api: PollerApi,
  entries: readonly AppEntry[] = [anEntry()],
  account: Partial<AccountConfig> = {},
): PollerBench {
  const clock = createFakeClock();
  const calls = accountCalls(clock, account);
  return aBenchOf(api.sourceOf(clock, calls), clock, entries, account, calls);
}

/** The same over any source of the test's own. */
export function aBenchOf<Asked extends Source>(
  source: Asked,
  clock: FakeClock,
  entries: readonly AppEntry[] = [anEntry()],
  account: Partial<AccountConfig> = {},
  calls: AccountCalls = accountCalls(clock, account),
): PollerBench<Asked> {
  const sink = createFakeSink();
  const logger = createFakeLogger();
  const polls: boolean[] = [];
  const pollSeconds: number[] = [];
  const skipped: number[] = [];
  const observer = {
    polled: (seconds: number, succeeded: boolean): void => {
      pollSeconds.push(seconds);
      polls.push(succeeded);
    },
    skipped: (count: number): void => {
      skipped.push(count);
    },
  };
  const poller = new AccountPoller(
    { account: anAccount(account), entries },
    aContext({ calls, source, clock, sink, logger, observer }),
  );
  return {
    clock,
    source,
    sink,
    logger,
    polls,
    pollSeconds,
    skipped,
    calls,
    poller,
    start: () => {
      const abort = new AbortController();
      setMaxListeners(0, abort.signal);
      const done = poller.run(abort.signal);
      onTestFinished(async () => {
        abort.abort(new Error('test over'));
        await clock.advance(0);
        await done;
        calls.leave();
        await clock.advance(0);
        expect(clock.pendingTimers()).toBe(0);
      });
    },
  };
}
