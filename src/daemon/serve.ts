import { type Clock, sleep } from '../model/clock.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Logger } from '../model/telemetry.ts';
import { ListenError } from '../server/listen-address.ts';
import {
  type BoundAddress,
  createMetricsServer,
  type MetricsServer,
  type MetricsServerOptions,
} from '../server/metrics-server.ts';
import { createWebGuard } from '../server/web-guard.ts';
import { createLogger, type LoggerOptions } from '../telemetry/logger.ts';
import { buildOf } from './build.ts';
import { sendHeartbeats } from './child-program.ts';
import { createIdleDaemon } from './daemon.ts';
import { CommandError, type ExitCode, type Platform } from './platform.ts';
import { Reloader, type ReloaderOptions } from './reloader.ts';
import { type ShardingFlags, shardFrom } from './sharding.ts';
import { createStatusSource } from './status-source.ts';
import { openWebAccess, type WebAccess } from './web-access.ts';

export interface ServeOptions
  extends LoggerOptions,
    MetricsServerOptions,
    ReloaderOptions,
    ShardingFlags {
  /** Whether `POST /-/reload` reloads the configuration. */
  readonly enableLifecycle: boolean;
  /** The file with TLS and passwords of the server; empty if there is none. */
  readonly webConfigFile: string;
}

/** What the demo adds to the daemon. */
export interface ServeHooks {
  /** Stands between the pollers and the page. */
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
  readonly listening?: ((addresses: readonly BoundAddress[]) => void) | undefined;
}

/** Scrapes in flight are answered until then; the whole stop may take five seconds. */
const closeDeadlineMs = 3000;

/** Runs the daemon from its start to its stop: polls and serves until the process is asked to stop. */
export async function serve(
  options: ServeOptions,
  platform: Platform,
  hooks: ServeHooks = {},
): Promise<ExitCode> {
  const { clock, stopSignal, tellParent } = platform;
  const { logger, daemon, reloader, web, server } = await partsOf(options, platform, hooks);
  const listening = (addresses: readonly BoundAddress[]): void => {
    logger.info(startFacts(addresses, options, platform, web), 'listening');
    hooks.listening?.(addresses);
  };
  const beginStop = (): void => {
    server.setNotReady();
  };
  stopSignal.addEventListener('abort', beginStop, { once: true });
  try {
    if (!options.configWait) {
      await reloader.reload('start');
      listening(await listenOrEnd(server));
    }
    await Promise.all([
      options.configWait &&
        keepListening(options.listenAddresses, { server, clock, logger, listening }, stopSignal),
      daemon.run(stopSignal),
      reloader.watch(stopSignal),
      web?.watch(server, stopSignal),
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

/** For the log: what is listening, and with a web configuration how it is protected. */
function startFacts(
  addresses: readonly BoundAddress[],
  { telemetryPath: path }: ServeOptions,
  { env }: Platform,
  web: WebAccess | undefined,
): Readonly<Record<string, unknown>> {
  const { version } = buildOf(env);
  if (web === undefined) return { version, addresses, path };
  const { tls, users } = web.current();
  return { version, addresses, path, tls: tls !== undefined, passwords: users.size > 0 };
}

/** All parts, put together, and none of them started. */
async function partsOf(options: ServeOptions, platform: Platform, hooks: ServeHooks) {
  const shard = shardFrom(options, platform);
  const logger = await createLogger(options, platform);
  const daemon = createIdleDaemon({ platform, logger, shard, watch: hooks.watch });
  daemon.metrics.sharded(shard);
  const reloader = new Reloader(options, {
    platform,
    logger,
    metrics: daemon.metrics,
    apply: async (config) => daemon.apply(config),
  });
  const status = createStatusSource({ platform, daemon, shard, reload: () => reloader.status() });
  const web =
    options.webConfigFile === ''
      ? undefined
      : await openWebAccess(options.webConfigFile, { platform, logger });
  const { clock, comparePassword, nextTurn } = platform;
  const server = createMetricsServer(options, {
    page: async () => daemon.store.page(),
    selfMetrics: async () => daemon.metrics.text(),
    scraped: (code) => {
      daemon.metrics.scraped(code);
    },
    status,
    nextTurn,
    stalled: () => daemon.stalled(),
    reload: options.enableLifecycle ? async () => reloader.reload('http') : undefined,
    guard: web && createWebGuard({ config: () => web.current(), comparePassword, clock, logger }),
    tls: web && (() => web.current().tls),
    logger,
    clock,
  });
  return { logger, daemon, reloader, web, server };
}

async function listenOrEnd(server: MetricsServer): Promise<readonly BoundAddress[]> {
  try {
    return await server.listen();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    throw new CommandError(1, error.message, { cause: error });
  }
}

export interface ListeningDependencies {
  readonly server: Pick<MetricsServer, 'listenOn'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the addresses that it listens on from now on, at least one. */
  readonly listening: (addresses: readonly BoundAddress[]) => void;
}

/** The process that holds a port may end at any time. */
const retryMs = 5000;

/**
 * Listens at once on the addresses that are free, and tries the others again until they are, or until
 * the signal is aborted. A problem with an address is logged once, and again when it changes.
 */
export async function keepListening(
  addresses: readonly string[],
  { server, clock, logger, listening }: ListeningDependencies,
  signal: AbortSignal,
): Promise<void> {
  const problems = new Map<string, string>();

  /** `undefined` if it cannot listen on it. */
  const tryAddress = async (address: string): Promise<BoundAddress | undefined> => {
    try {
      const bound = await server.listenOn(address);
      problems.delete(address);
      return bound;
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      if (problems.get(address) !== error.message && !signal.aborted) {
        logger.error({ address, problem: error.message }, 'cannot listen, trying again');
      }
      problems.set(address, error.message);
      return undefined;
    }
  };

  for (let missing = addresses; missing.length > 0; missing = [...problems.keys()]) {
    const bound: BoundAddress[] = [];
    for (const address of missing) {
      const one = await tryAddress(address);
      if (one !== undefined) bound.push(one);
    }
    if (bound.length > 0) listening(bound);
    if (problems.size > 0) await sleep(clock, retryMs, signal).catch(() => {});
    if (signal.aborted) return;
  }
}
