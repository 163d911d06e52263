import { deflate } from '../exposition/gzip.ts';
import { createSeriesStore, type SeriesStore } from '../exposition/series-store.ts';
import type { Config } from '../model/config.ts';
import type { Shard } from '../model/shard.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { AccountStatus, Logger } from '../model/telemetry.ts';
import { createRateLimiters } from '../rate-limit/rate-limiters.ts';
import { createLoopLag, type LoopLag } from '../telemetry/loop-lag.ts';
import { createSelfMetrics, type SelfMetrics } from '../telemetry/self-metrics.ts';
import { buildOf } from './build.ts';
import type { Platform } from './platform.ts';
import { withShard } from './sharding.ts';
import { createSupervisor, type Supervisor } from './supervisor.ts';

export interface DaemonDependencies {
  readonly platform: Platform;
  readonly logger: Logger;
  /** Which of the shards this process is; without it: the only one. */
  readonly shard?: Shard | undefined;
  /** Puts a sink of a command in front of the store. */
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
}

/** Everything but the HTTP server: the accounts, the series that they publish, and the self-metrics. */
export interface Daemon extends Supervisor {
  readonly store: SeriesStore;
  readonly metrics: SelfMetrics;
  /** Shows in the self-metrics while somebody lets it watch. */
  readonly loopLag: LoopLag;
}

/** A daemon with a configuration in force. Rejects as `apply` does. */
export async function createDaemon(
  config: Config,
  dependencies: DaemonDependencies,
): Promise<Daemon> {
  const daemon = createIdleDaemon(dependencies);
  await daemon.apply(config);
  daemon.metrics.configReloaded(true, dependencies.platform.clock.wallMs());
  return daemon;
}

/** A daemon that polls nothing until `apply` puts a configuration into force. */
export function createIdleDaemon({
  platform,
  logger,
  shard = { ordinal: 0, total: 1 },
  watch,
}: DaemonDependencies): Daemon {
  const store = createSeriesStore({ deflate, nextTurn: platform.nextTurn });
  // The vendor's words in an error may hold a key: pages are redacted as the log is.
  const status = (): readonly AccountStatus[] =>
    supervisor.status().map((account) => ({
      ...account,
      error: account.error === undefined ? undefined : platform.redactor.redact(account.error),
    }));
  const loopLag = createLoopLag(platform);
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status,
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: (account) => store.droppedOf(account),
    loopLagSeconds: () => loopLag.worstSeconds(),
  });
  const sink = watch === undefined ? store : watch(store);
  const limiters = createRateLimiters({ clock: platform.clock, logger });
  const supervisor = createSupervisor({ platform, sink, metrics, logger, limiters });

  return {
    store,
    metrics,
    loopLag,
    status,
    apply: async (config) => supervisor.apply(withShard(config, shard)),
    run: async (signal) => supervisor.run(signal),
    runOnce: async (signal) => supervisor.runOnce(signal),
    stalled: () => supervisor.stalled(),
    close: async () => supervisor.close(),
  };
}
