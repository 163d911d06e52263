import { createChunkStore } from '../exposition/chunk-store.ts';
import { gzipFast } from '../exposition/gzip.ts';
import type { Throughput } from '../model/reading.ts';
import type { SelectedApplication } from '../model/selector.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import type { AccountStatus } from '../model/telemetry.ts';
import { hostsToPoll, isWorthPolling } from '../poller/demand.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';
import type { Machine } from './machine.ts';
import { buildOf } from './version.ts';

/** An account as far as its series depend on it. */
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

/** Counts the series by rendering what the daemon would render if every answer held every value. */
export async function expectedSeries(
  inputs: readonly SeriesInput[],
  machine: Machine,
): Promise<ExpectedSeries> {
  const store = createChunkStore({ gzip: gzipFast, nextTurn: machine.nextTurn });
  for (const { account, applications } of inputs) {
    store.accountUp(account, true);
    for (const selected of applications) store.publish(fullSnapshot(account, selected));
  }
  const metrics = createSelfMetrics(buildOf(machine.env), {
    status: () => inputs.map(statusOf),
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: () => 0,
  });
  for (const { account } of inputs) {
    metrics.apiObserver(account);
    metrics.pollObserver(account);
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
  const throughput: Throughput = new Map(entry.transactions.map((type) => [type, 0]));
  const hosts = isPolled ? hostsToPoll(selected) : [];
  return {
    account,
    application,
    hostsOnly: !entry.application,
    labels: entry.labels,
    hostNames: new Map(),
    reading: {
      windowEndMs: isPolled ? 0 : undefined,
      application: isPolled ? throughput : new Map(),
      hosts: new Map(hosts.map((id) => [id, throughput])),
    },
    pollSucceeded: true,
    lastSuccessMs: 0,
  };
}

function statusOf({ account, missing }: SeriesInput): AccountStatus {
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
  };
}
