import { buildOf } from '../daemon/build.ts';
import type { Platform } from '../daemon/platform.ts';
import { deflate } from '../exposition/gzip.ts';
import { createSeriesStore } from '../exposition/series-store.ts';
import {
  hostsToPoll,
  isWorthPolling,
  type SelectedApplication,
} from '../model/selected-application.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { operations } from '../model/telemetry.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';
import type { MirroredStatus } from '../telemetry/status-metrics.ts';

/** The facts of an account that decide how many series it has. */
export interface SeriesInput {
  readonly account: string;
  readonly applications: readonly SelectedApplication[];
  readonly missing: readonly string[];
}

export interface ExpectedSeries {
  /** New Relic data of each account, `newrelic_up` included, if the vendor has every value. */
  readonly byAccount: ReadonlyMap<string, number>;
  /** The exporter's own, of all accounts together. */
  readonly own: number;
}

/** Counts the series by rendering them as the daemon would if every answer held every value. */
export async function expectedSeries(
  inputs: readonly SeriesInput[],
  platform: Platform,
): Promise<ExpectedSeries> {
  const store = createSeriesStore({ deflate, nextTurn: platform.nextTurn });
  for (const { account, applications } of inputs) {
    store.accountUp(account, true);
    for (const selected of applications) store.publish(fullSnapshot(account, selected));
  }
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status: () => inputs.map(statusOf),
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: () => 0,
    loopLagSeconds: () => 0,
  });
  for (const { account } of inputs) {
    const calls = metrics.apiObserver(account);
    for (const operation of operations) calls.ended(operation, '200', 0);
    metrics.pollObserver(account).polled(0, true);
  }
  metrics.configReloaded(true, 0);
  const own = (await metrics.text()).split('\n').filter((line) => /^[a-z]/u.test(line)).length;
  return {
    byAccount: new Map(inputs.map(({ account }) => [account, store.seriesOf(account)])),
    own,
  };
}

function fullSnapshot(account: string, selected: SelectedApplication): AppSnapshot {
  const { application, entry } = selected;
  const isPolled = isWorthPolling(selected);
  const values = entry.series.map(() => 0);
  const hosts = isPolled ? hostsToPoll(selected) : [];
  return {
    account,
    application,
    hostsOnly: !entry.application,
    labels: entry.labels,
    hostNames: new Map(),
    reading: {
      windowEndMs: isPolled ? 0 : undefined,
      series: entry.series,
      application: isPolled ? values : [],
      hosts: new Map(hosts.map((id) => [id, values])),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: 0,
  };
}

function statusOf({ account, missing }: SeriesInput): MirroredStatus {
  return {
    name: account,
    up: true,
    error: undefined,
    firstCycleEnded: true,
    applications: 0,
    hosts: 0,
    polledApplications: 0,
    requestsInFlight: 0,
    budgetRequestsPerMinute: 0,
    demandRequestsPerMinute: 0,
    pollIntervalSeconds: 0,
    backoffUntilMs: undefined,
    missingSelectors: missing,
    missingMetrics: [],
    listedApplications: 0,
    lastDiscoveryMs: 0,
    key: { location: '', problem: undefined, sinceMs: 0, readMs: 0 },
  };
}
