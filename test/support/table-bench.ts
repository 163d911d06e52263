import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { AccountConfig, AppEntry } from '../../src/model/config.ts';
import type { PollOutcome } from '../../src/model/poll-outcome.ts';
import type { Values } from '../../src/model/polled-series.ts';
import type { SnapshotSink } from '../../src/model/snapshot.ts';
import type { Discovery, Source } from '../../src/model/source.ts';
import { restCosts } from '../../src/newrelic/rest/rest-source.ts';
import { AccountPlanner } from '../../src/poll/account-plan.ts';
import { AccountTable } from '../../src/poll/account-table.ts';
import type { PollRequest } from '../../src/poll/batch-poll.ts';
import { anAccount, anApplication, anEntry, throughputSeries } from './builders.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { createFakeSink, type FakeSink } from './fake-sink.ts';
import { webOf } from './fake-source.ts';

/** A table with fakes all around. */
export interface TableBench {
  readonly table: AccountTable;
  readonly sink: FakeSink;
  readonly clock: FakeClock;
  readonly demands: { readonly budget: number; readonly stretch: number }[];
}

export function aTable(
  options: {
    readonly entries?: readonly AppEntry[];
    readonly budgetPerMinute?: () => number;
    readonly clock?: FakeClock;
    readonly isThrottled?: () => boolean;
    readonly sink?: SnapshotSink;
    readonly account?: AccountConfig;
    /** The API; without it: the REST API. */
    readonly source?: Pick<Source, 'costs' | 'sharesCalls' | 'listsHosts'>;
  } = {},
): TableBench {
  const { clock = createFakeClock(), budgetPerMinute = () => 800 } = options;
  const { source = { costs: restCosts, sharesCalls: false, listsHosts: true } } = options;
  const { costs } = source;
  const sink = createFakeSink();
  const demands: { readonly budget: number; readonly stretch: number }[] = [];
  const table = new AccountTable(
    {
      account: options.account ?? anAccount(),
      entries: options.entries ?? [anEntry()],
    },
    {
      clock,
      sink: options.sink ?? sink,
      source,
      calls: { plan: () => undefined },
      isThrottled: options.isThrottled ?? (() => false),
      planner: new AccountPlanner(60_000, {
        clock,
        costs,
        capacity: () => ({ limitPerMinute: budgetPerMinute(), carriedPerMinute: Infinity }),
      }),
      observer: { polled: () => undefined, skipped: () => undefined },
      log: {
        discovered: () => undefined,
        polled: () => undefined,
        dropped: () => undefined,
        demand: ({ budgetPerMinute: budget, stretch }) => demands.push({ budget, stretch }),
        missingMetrics: () => undefined,
        queryPolled: () => undefined,
        queryMissing: () => undefined,
      },
    },
  );
  return { table, sink, clock, demands };
}

/** Of something that is never aborted. */
export const signal: AbortSignal = new AbortController().signal;

export const noError: Pick<PollOutcome, 'error' | 'hostNames' | 'hostNamesError' | 'extraCalls'> = {
  error: undefined,
  hostNames: undefined,
  hostNamesError: undefined,
  extraCalls: 0,
};

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

/** Polls every application once, with success. */
export function pollAll({ table }: TableBench): void {
  for (const [id, { selected }] of table.states) {
    const request = table.begin(id);
    if (request === undefined) continue;
    const hosts = new Map(
      selected.application.hostIds?.map((host): [string, Values] => [host, webOf(1)]),
    );
    const outcome: PollOutcome = {
      ...noError,
      reading: { windowEndMs: 1, series: throughputSeries, application: webOf(2), hosts },
      failed: new Set(),
      partCount: 1 + hosts.size,
      gone: false,
      unauthorized: false,
    };
    table.polled(id, request, outcome, -100);
  }
}

export function anyRequest({ table }: TableBench, id: string): PollRequest {
  const request = table.begin(id);
  if (request === undefined) throw new Error(`there is no application ${id}`);
  return request;
}

/** The ids published since the last call. */
export function publishedIds({ sink }: TableBench): readonly string[] {
  return sink.published.splice(0).map(({ application }) => application.id);
}
