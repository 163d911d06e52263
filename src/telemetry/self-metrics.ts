import { Registry } from 'prom-client';
import type { Shard } from '../model/shard.ts';
import type { ApiObserver, PollObserver } from '../model/telemetry.ts';
import { createApiMetrics, createPollMetrics } from './observer-metrics.ts';
import {
  type BuildOptions,
  createConfigMetrics,
  createShardMetrics,
  registerBuildMetrics,
  registerProcessMetrics,
} from './process-metrics.ts';
import { type AccountScope, createAccountScope, createCachedRegistry } from './registry.ts';
import { createMissingMetric, createStatusMetrics, type StatusSource } from './status-metrics.ts';

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
  /** Records which part of the work this process has from now on. */
  sharded(shard: Shard): void;
  /** All metrics in Prometheus' text format 0.0.4, without blank lines. */
  text(): Promise<string>;
  /** Names of the families in `text()`, to compare them with the documentation. */
  readonly metricNames: readonly string[];
}

interface Observers {
  readonly scope: AccountScope;
  readonly api: ApiObserver;
  readonly poll: PollObserver;
}

export function createSelfMetrics(options: BuildOptions, dependencies: StatusSource): SelfMetrics {
  const observed = createCachedRegistry();
  const api = createApiMetrics(observed.registry);
  const poll = createPollMetrics(observed.registry);
  const collected = new Registry();
  registerBuildMetrics(collected, options);
  const shards = createShardMetrics(collected);
  const config = createConfigMetrics(collected);
  const status = createStatusMetrics(collected, dependencies);
  const missing = createMissingMetric();
  registerProcessMetrics(collected);
  const observersByAccount = new Map<string, Observers>();

  const observersOf = (account: string): Observers => {
    const known = observersByAccount.get(account);
    if (known !== undefined) return known;
    const scope = createAccountScope(account, () => {
      observed.invalidate();
    });
    const created = { scope, api: api.observer(scope), poll: poll.observer(scope) };
    observersByAccount.set(account, created);
    observed.invalidate();
    return created;
  };

  return {
    apiObserver: (account) => observersOf(account).api,
    pollObserver: (account) => observersOf(account).poll,
    removeAccount: (account) => {
      observersByAccount.get(account)?.scope.close();
      observersByAccount.delete(account);
      api.removeAccount(account);
      poll.removeAccount(account);
      observed.invalidate();
    },
    configReloaded: (succeeded, wallMs) => {
      config.reloaded(succeeded, wallMs);
    },
    sharded: (shard) => {
      shards.sharded(shard);
    },
    text: async () => {
      status.refresh();
      const texts = await Promise.all([observed.text(), collected.metrics()]);
      return texts.join('').replaceAll('\n\n', '\n') + missing.text(dependencies.status());
    },
    metricNames: [
      ...[observed.registry, collected].flatMap((registry) =>
        registry.getMetricsAsArray().map(({ name }) => name),
      ),
      missing.name,
    ],
  };
}
