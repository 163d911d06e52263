import { effectiveConfigText } from '../config/effective-config.ts';
import { SeriesStore } from '../exposition/series-store.ts';
import type { Config } from '../model/config.ts';
import type { Shard } from '../model/shard.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { AccountDetails, PolledStatus, ReloadStatus, StatusSource } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import { Keys } from '../newrelic/calls/keys.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import { createSelfMetrics, type SelfMetrics } from '../telemetry/self-metrics.ts';
import { buildOf } from './build.ts';
import type { AccountPlatform, Machine } from './platform.ts';
import { withShard } from './sharding.ts';
import { Supervisor } from './supervisor.ts';

export interface DaemonDependencies {
  readonly platform: AccountPlatform;
  readonly logger: Logger;
  /** Which of the shards this process is; without it: the only one. */
  readonly shard?: Shard | undefined;
  /** Puts a sink in front of the store, which sees all that pollers publish. */
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
}

/**
 * Everything but the HTTP server: the accounts, the series that they publish, and the self-metrics. What it
 * says of accounts and applications holds no secret.
 */
export interface Daemon extends Pick<Supervisor, keyof Supervisor> {
  readonly store: SeriesStore;
  readonly metrics: SelfMetrics;
  /** The active configuration, without shards; `undefined` while there is none. */
  config(): Config | undefined;
}

/** A daemon with an active configuration. Rejects as `apply` does. */
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
  const store = new SeriesStore({ ...platform, logger });
  let inForce: Config | undefined;
  const redact = createPageRedaction(platform.redactor);
  const status = (): readonly AccountDetails[] => supervisor.status().map(redact.account);
  const metrics = createSelfMetrics(buildOf(platform.env), {
    status,
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: (account, reason) => store.droppedOf(account, reason),
    nextTurn: platform.nextTurn,
  });
  const sink = watch === undefined ? store : watch(store);
  const keys = new Keys({ clock: platform.clock, logger });
  const supervisor = new Supervisor({ platform, sink, metrics, logger, keys });

  return {
    store,
    metrics,
    config: () => inForce,
    status,
    applications: () => supervisor.applications().map(redact.polled),
    apply: async (config) => {
      await supervisor.apply(withShard(config, shard));
      inForce = config;
    },
    run: async (signal) => supervisor.run(signal),
    runOnce: async (signal) => supervisor.runOnce(signal),
    stalled: () => supervisor.stalled(),
    close: async () => supervisor.close(),
  };
}

/** What is known of the running daemon, for people and programs. Its start is now. */
export function createStatusSource({
  daemon,
  shard,
  reload,
  platform: { clock, env, redactor },
}: {
  readonly daemon: Pick<Daemon, 'status' | 'applications' | 'config'>;
  readonly shard: Shard;
  readonly reload: () => ReloadStatus;
  readonly platform: Pick<Machine, 'clock' | 'env' | 'redactor'>;
}): StatusSource {
  const build = buildOf(env);
  const startedMs = clock.wallMs();
  const redact = createPageRedaction(redactor);
  let written: { readonly config: Config; readonly text: string } | undefined;

  return {
    process: () => {
      const { configFile, inForceSinceMs, lastAttemptMs, problem } = reload();
      const state = { configFile, inForceSinceMs, lastAttemptMs, problem: redact.text(problem) };
      return { nowMs: clock.wallMs(), startedMs, build, shard, reload: state };
    },
    accounts: () => daemon.status(),
    applications: () => daemon.applications(),
    effectiveConfig: () => {
      const config = daemon.config();
      if (config === undefined) return undefined;
      // Thousands of entries take a while, and they rarely change.
      if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
      return redactor.redact(written.text);
    },
  };
}

/** The vendor's words in an error may hold a key: pages are redacted as the log is. */
function createPageRedaction(redactor: Redactor) {
  const redact = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : redactor.redact(text);
  const polled = <One extends PolledStatus>(one: One): One => {
    if (one.failure === undefined) return one;
    const { message, ...rest } = one.failure;
    const failure = {
      ...rest,
      // Only once it is read: a page shows 200 of ten thousand.
      get message() {
        return redactor.redact(message);
      },
    };
    return { ...one, failure };
  };
  return {
    text: redact,
    account: ({ error, key, queries, ...rest }: AccountDetails): AccountDetails => ({
      ...rest,
      error: redact(error),
      ...(queries && { queries: queries.map(polled) }),
      key: { ...key, problem: redact(key.problem) },
    }),
    polled,
  };
}
