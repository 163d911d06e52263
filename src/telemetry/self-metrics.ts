import { Registry } from 'prom-client';
import type { Shard } from '../model/shard.ts';
import type { ApiObserver, PollObserver } from '../model/telemetry.ts';
import { createMissingEntries, createMissingMetrics } from './missing-families.ts';
import {
  type ApiMetrics,
  createApiMetrics,
  createPollMetrics,
  type PollMetrics,
} from './observer-metrics.ts';
import {
  type BuildOptions,
  createConfigMetrics,
  createScrapeMetrics,
  createShardMetrics,
  type ProcessMetricsDependencies,
  registerBuildMetrics,
  registerProcessMetrics,
} from './process-metrics.ts';
import { type AccountScope, createAccountScope, createCachedRegistry, textOf } from './registry.ts';
import { type AccountSource, createStatusMetrics } from './status-metrics.ts';

/** The exporter's metrics of itself: `newrelic_exporter_*`, `process_*` and `nodejs_*`. */
export interface SelfMetrics {
  /** The account's observer. The first one of an account creates its series at 0. */
  apiObserver(account: string): ApiObserver;
  /** Like `apiObserver`. */
  pollObserver(account: string): PollObserver;
  /** Closes the account's observers, so that a late call does not bring its series back. */
  removeAccount(account: string): void;
  /** Records that the configuration was read, for the first time or again. `wallMs` is the time. */
  configReloaded(succeeded: boolean, wallMs: number): void;
  /** Counts a request for the metrics, by the HTTP status of its answer. */
  scraped(code: number): void;
  /** Records which part of the work this process has from now on. */
  sharded(shard: Shard): void;
  /**
   * All metrics in Prometheus' text format 0.0.4, without blank lines, as parts of whole families: there
   * are always as many, in the same order. Most series are in parts that hardly ever change.
   */
  parts(): Promise<readonly string[]>;
  /** All parts together. */
  text(): Promise<string>;
  /** Names of the families, to compare them with the documentation. */
  readonly metricNames: readonly string[];
}

export interface SelfMetricsDependencies extends AccountSource, ProcessMetricsDependencies {}

interface Observers {
  readonly scope: AccountScope;
  readonly api: ApiObserver;
  readonly poll: PollObserver;
}

interface ObserverTable {
  of(account: string): Observers;
  remove(account: string): void;
}

function createObservers(api: ApiMetrics, poll: PollMetrics): ObserverTable {
  const byAccount = new Map<string, Observers>();
  return {
    of: (account) => {
      const known = byAccount.get(account);
      if (known !== undefined) return known;
      const scope = createAccountScope(account);
      const created = { scope, api: api.observer(scope), poll: poll.observer(scope) };
      byAccount.set(account, created);
      return created;
    },
    remove: (account) => {
      byAccount.get(account)?.scope.close();
      byAccount.delete(account);
      api.removeAccount(account);
      poll.removeAccount(account);
    },
  };
}

export function createSelfMetrics(
  options: BuildOptions,
  dependencies: SelfMetricsDependencies,
): SelfMetrics {
  const busy = createCachedRegistry();
  const quiet = createCachedRegistry();
  const api = createApiMetrics({ busy, quiet });
  const poll = createPollMetrics({ busy, quiet });
  const collected = new Registry();
  registerBuildMetrics(collected, options);
  const shards = createShardMetrics(collected);
  const config = createConfigMetrics(collected);
  const scrapes = createScrapeMetrics(collected);
  const status = createStatusMetrics(collected, dependencies);
  const missing = [createMissingEntries(), createMissingMetrics()];
  registerProcessMetrics(collected, dependencies);
  const observers = createObservers(api, poll);

  const parts = async (): Promise<readonly string[]> => {
    const accounts = dependencies.status();
    status.refresh(accounts);
    return [
      ...(await Promise.all([quiet.text(), busy.text(), textOf(collected)])),
      ...missing.map((family) => family.text(accounts)),
    ];
  };

  return {
    apiObserver: (account) => observers.of(account).api,
    pollObserver: (account) => observers.of(account).poll,
    removeAccount: (account) => {
      observers.remove(account);
    },
    configReloaded: (succeeded, wallMs) => {
      config.reloaded(succeeded, wallMs);
    },
    scraped: (code) => {
      scrapes.scraped(code);
    },
    sharded: (shard) => {
      shards.sharded(shard);
    },
    parts,
    text: async () => (await parts()).join(''),
    metricNames: [
      ...[quiet.registry, busy.registry, collected].flatMap((registry) =>
        registry.getMetricsAsArray().map(({ name }) => name),
      ),
      ...missing.map(({ name }) => name),
    ],
  };
}
