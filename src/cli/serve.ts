import { buildOf } from '../daemon/build.ts';
import { sendHeartbeats } from '../daemon/child-program.ts';
import { createIdleDaemon, type Daemon } from '../daemon/daemon.ts';
import { keepListening } from '../daemon/listening.ts';
import { createLogging } from '../daemon/logging.ts';
import { CommandError, type ExitCode, type Platform } from '../daemon/platform.ts';
import { createReloading, type Reloading } from '../daemon/reloader.ts';
import { shardFrom, withShard } from '../daemon/sharding.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Logger } from '../model/telemetry.ts';
import { ListenError } from '../server/listen-address.ts';
import {
  type BoundAddress,
  createMetricsServer,
  type MetricsServer,
} from '../server/metrics-server.ts';
import type { Flags } from './flags.ts';

/** What else a command that serves wants to do. */
export interface ServeHooks {
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
  readonly listening?: ((addresses: readonly BoundAddress[]) => void) | undefined;
}

/** Scrapes in flight are answered until then; five seconds is what the whole stop may take. */
const closeDeadlineMs = 3000;

/** The daemon: polls and serves until it is asked to stop. */
export async function serve(
  flags: Flags,
  platform: Platform,
  hooks: ServeHooks = {},
): Promise<ExitCode> {
  const shard = shardFrom(flags, platform);
  const logger = await createLogging(flags, platform);
  const { clock, stopSignal, tellParent } = platform;
  const daemon = createIdleDaemon({ platform, logger, watch: hooks.watch });
  daemon.metrics.sharded(shard);
  const reloading = createReloading(flags, {
    platform,
    logger,
    metrics: daemon.metrics,
    apply: async (next) => daemon.apply(withShard(next, shard)),
  });
  const server = serverOf(flags, { platform, logger, daemon, reloading });
  const listening = (addresses: readonly BoundAddress[]): void => {
    const { version } = buildOf(platform.env);
    logger.info({ version, addresses, path: flags.telemetryPath }, 'listening');
    hooks.listening?.(addresses);
  };
  const beginStop = (): void => {
    server.setNotReady();
  };
  stopSignal.addEventListener('abort', beginStop, { once: true });
  try {
    if (!flags.configWait) {
      await reloading.start();
      listening(await listenOrEnd(server));
    }
    await Promise.all([
      flags.configWait &&
        keepListening(flags.listenAddresses, { server, clock, logger, listening }, stopSignal),
      daemon.run(stopSignal),
      reloading.watch(stopSignal),
      tellParent &&
        sendHeartbeats({ clock, tellParent, stalled: () => daemon.stalled() }, stopSignal),
    ]);
    logger.info({}, 'stopping');
    return 0;
  } finally {
    stopSignal.removeEventListener('abort', beginStop);
    await daemon.close();
    await server.close(closeDeadlineMs);
  }
}

interface ServerParts {
  readonly platform: Platform;
  readonly logger: Logger;
  readonly daemon: Daemon;
  readonly reloading: Reloading;
}

function serverOf(
  flags: Flags,
  { platform, logger, daemon, reloading }: ServerParts,
): MetricsServer {
  const { clock, env, redactor } = platform;
  return createMetricsServer(flags, {
    page: async () => daemon.store.page(),
    selfMetrics: async () => daemon.metrics.text(),
    status: () => daemon.status(),
    config: () => {
      const { isInForce, problem } = reloading.status();
      return { isInForce, problem: problem === undefined ? undefined : redactor.redact(problem) };
    },
    stalled: () => daemon.stalled(),
    reload: flags.enableLifecycle ? reloading.byHttp : undefined,
    build: buildOf(env),
    logger,
    clock,
  });
}

async function listenOrEnd(server: MetricsServer): Promise<readonly BoundAddress[]> {
  try {
    return await server.listen();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    throw new CommandError(1, error.message, { cause: error });
  }
}
