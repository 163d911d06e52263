import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Values } from '../../src/model/polled-series.ts';
import type { SnapshotSink } from '../../src/model/snapshot.ts';
import type { Discovery, Source } from '../../src/model/source.ts';
import type { AccountCalls } from '../../src/newrelic/calls/account-calls.ts';
import { AccountTable } from '../../src/poll/account-table.ts';
import { type PollRequest, pollRequest } from '../../src/poll/poll-request.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aContext } from './a-context.ts';
import { anAccount, anApplication, anEntry, throughputSeries } from './builders.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createFakeLogger, type FakeLogger } from './fake-logger.ts';
import { createFakeSink, type FakeSink } from './fake-sink.ts';
import { createFakeSource, webOf } from './fake-source.ts';

/** A table with fakes all around. */
export interface TableBench {
  readonly table: AccountTable;
  readonly sink: FakeSink;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  readonly calls: AccountCalls;
}

export function aTable(
  options: {
    readonly entries?: readonly AppEntry[];
    readonly clock?: FakeClock;
    readonly sink?: SnapshotSink;
    readonly account?: Partial<AccountConfig>;
    /** The API; without it: the REST API. */
    readonly source?: Source;
    readonly calls?: AccountCalls;
  } = {},
): TableBench {
  const { clock = createFakeClock(), entries = [anEntry()], account } = options;
  const { source = createFakeSource(clock), calls = accountCalls(clock, account) } = options;
  const sink = createFakeSink();
  const logger = createFakeLogger();
  const context = aContext({ clock, source, calls, logger, sink: options.sink ?? sink });
  const table = new AccountTable({ account: anAccount(account), entries }, context);
  return { table, sink, clock, logger, calls };
}

/** Takes in what a discovery found, and publishes it. */
export async function discover({ table, clock }: TableBench, discovery: Discovery): Promise<void> {
  await ended(clock, table.discovered(discovery, signal));
  await ended(clock, table.publishAll(signal));
}

/** What the promise gives, though it may wait for other turns of the event loop. */
export async function ended<Value>(clock: FakeClock, promise: Promise<Value>): Promise<Value> {
  await clock.advance(0);
  return promise;
}

/** Of something that is never aborted. */
export const signal: AbortSignal = new AbortController().signal;

/** New objects every time, as the vendor's answers are. */
export function shop(id: string, overrides: Partial<Application> = {}, hosts = 3): Application {
  const hostIds = Array.from({ length: hosts }, (_, index) => `${id}0${index}`);
  return anApplication({
    id,
    name: `shop ${id}`,
    hostIds,
    instances: hostIds.length,
    summary: {
      requestsPerMinute: 5,
      responseTimeSeconds: 0.1,
      errorRatio: 0,
      apdexScore: 1,
      apdexTargetSeconds: 0.5,
    },
    ...overrides,
  });
}

export function found(...applications: Application[]): Discovery {
  return {
    applications,
    complete: true,
    unreadableIds: [],
    pendingIds: [],
    calls: 1,
    error: undefined,
  };
}

export function failed(...applications: Application[]): Discovery {
  const error = new ApiError('server', 'HTTP 500', { status: 500 });
  return { applications, complete: false, unreadableIds: [], pendingIds: [], calls: 1, error };
}

/** The outcome of a poll that got everything. */
export function wholeOutcome(hostIds: readonly string[] = []): PollOutcome {
  const hosts = new Map(hostIds.map((host): [string, Values] => [host, webOf(1)]));
  return {
    reading: { windowEndMs: 1, series: throughputSeries, application: webOf(2), hosts },
    error: undefined,
    failed: new Set(),
    partCount: 1 + hosts.size,
    gone: false,
    unauthorized: false,
  };
}

/** Ends a poll of an application that was begun 100 ms ago. */
export function endPoll(
  { table, clock }: TableBench,
  question: PollRequest,
  outcome: PollOutcome,
): void {
  if (question.kind !== 'application') throw new Error('it is about a query');
  const queuedMs = clock.monotonicMs() - 100;
  table.ended({ ...question, queuedMs }, { kind: 'application', question, outcome });
}

/** Polls every application once, with success. */
export function pollAll(bench: TableBench): void {
  for (const [id, { selected }] of bench.table.states.applications) {
    endPoll(bench, anyRequest(bench, id), wholeOutcome(selected.application.hostIds));
  }
}

export function anyRequest({ table, clock }: TableBench, id: string): PollRequest {
  const request = pollRequest(id, table.states, clock.monotonicMs());
  if (request === undefined) throw new Error(`there is no application ${id}`);
  return request;
}

/** The ids published since the last call. */
export function publishedIds({ sink }: TableBench): readonly string[] {
  return sink.published.splice(0).map(({ application }) => application.id);
}
