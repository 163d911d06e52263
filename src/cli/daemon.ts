import { setMaxListeners } from 'node:events';
import { type ChunkStore, createChunkStore } from '../exposition/chunk-store.ts';
import { gzipFast } from '../exposition/gzip.ts';
import type { Config } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { AccountStatus, Logger } from '../model/telemetry.ts';
import { createSelfMetrics, type SelfMetrics } from '../telemetry/self-metrics.ts';
import { type AccountRuntime, createAccountRuntime } from './account-runtime.ts';
import type { Machine } from './machine.ts';
import { buildOf } from './version.ts';

export interface DaemonDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  /** Lets a command see what is published. */
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
}

/** Everything but the HTTP server: the accounts, what they publish, and the self-metrics. */
export interface Daemon {
  readonly store: ChunkStore;
  readonly metrics: SelfMetrics;
  status(): readonly AccountStatus[];
  /** Polls until the signal is aborted; rejects only on a fault of our own. */
  run(signal: AbortSignal): Promise<void>;
  /** One poll of everything; whether all that was asked for arrived. */
  runOnce(signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}

export async function createDaemon(
  config: Config,
  { machine, logger, watch }: DaemonDependencies,
): Promise<Daemon> {
  const store = createChunkStore({ gzip: gzipFast, nextTurn: machine.nextTurn });
  const sink = watch === undefined ? store : watch(store);
  const runtimes: AccountRuntime[] = [];
  const status = (): readonly AccountStatus[] => runtimes.map(({ poller }) => poller.status());
  const metrics = createSelfMetrics(buildOf(machine.env), {
    status,
    seriesOf: (account) => store.seriesOf(account),
    droppedSeriesOf: (account) => store.droppedOf(account),
  });
  for (const account of config.accounts) {
    const entries = config.apps.filter((entry) => entry.account === account.name);
    if (entries.length === 0) continue;
    runtimes.push(await createAccountRuntime(account, entries, { machine, sink, metrics, logger }));
  }
  metrics.configReloaded(true, machine.clock.wallMs());

  return {
    store,
    metrics,
    status,
    run: async (signal) => {
      setMaxListeners(0, signal);
      await Promise.all(runtimes.map(async ({ poller }) => poller.run(signal)));
    },
    runOnce: async (signal) => {
      setMaxListeners(0, signal);
      const results = await Promise.all(runtimes.map(async ({ poller }) => poller.runOnce(signal)));
      return results.every((succeeded) => succeeded);
    },
    close: async () => {
      await Promise.all(runtimes.map(async (runtime) => runtime.close()));
    },
  };
}
