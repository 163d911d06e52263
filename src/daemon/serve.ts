import { effectiveConfigText } from '../config/effective-config.ts';
import { type Clock, sleep } from '../model/clock.ts';
import type { Config } from '../model/config.ts';
import type { ReloadStatus, StatusSource } from '../model/status.ts';
import { createLogger, type LoggerOptions } from '../publish/logger.ts';
import { ListenError } from '../web/listen-address.ts';
import {
  type BoundAddress,
  MetricsServer,
  type MetricsServerOptions,
} from '../web/metrics-server.ts';
import { Daemon } from './accounts.ts';
import { buildOf } from './build.ts';
import {
  type AccountPlatform,
  CommandError,
  type ExitCode,
  heartbeatMs,
  type Platform,
} from './platform.ts';
import { Reloader, type ReloaderOptions } from './reload.ts';
import { type ShardingFlags, shardFrom } from './sharding.ts';
import { openWebAccess } from './web-access.ts';

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

/**
 * Runs the daemon from its start to its stop: polls and serves until the process is asked to stop.
 *
 * @param onListening called with the addresses that it listens on from now on
 */
export async function serve(
  options: ServeOptions,
  platform: Platform,
  onListening?: (addresses: readonly BoundAddress[]) => void,
): Promise<ExitCode> {
  const { clock, stopSignal, tellParent } = platform;
  const { logger, daemon, reloader, web, server } = await daemonParts(options, platform);
  const beginStop = (): void => server.setNotReady();
  stopSignal.addEventListener('abort', beginStop, { once: true });
  try {
    if (!options.configWait) await reloader.reload('start');
    const addresses = await listenOrEnd(server);
    const { version } = buildOf(platform.env);
    const config = web?.config();
    const protection = config && {
      tls: config.tls !== undefined,
      passwords: config.users.size > 0,
    };
    logger.info({ version, addresses, path: options.telemetryPath, ...protection }, 'listening');
    onListening?.(addresses);
    await Promise.all([
      daemon.run(stopSignal),
      reloader.watch(stopSignal),
      web?.watch((tls) => server.renewTls(tls), stopSignal),
      tellParent && sendHeartbeats(clock, tellParent, () => daemon.stalled(), stopSignal),
    ]);
    logger.info({}, 'stopping');
    return 0;
  } finally {
    stopSignal.removeEventListener('abort', beginStop);
    await daemon.close();
    await server.close();
  }
}

/** Sends a heartbeat at once, and then every ten seconds until the signal is aborted. */
export async function sendHeartbeats(
  clock: Clock,
  tellParent: (stalled: string) => void,
  stalled: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    tellParent(stalled() ?? '');
    await sleep(clock, heartbeatMs, signal).catch(() => {});
  }
}

/** All parts, put together, and none of them started. */
async function daemonParts(options: ServeOptions, platform: Platform) {
  const shard = shardFrom(options, platform);
  const logger = await createLogger(options, platform);
  const daemon: Daemon = new Daemon({ platform, logger, shard, reload: () => reloader.status() });
  daemon.metrics.sharded(shard);
  const reloader: Reloader = new Reloader(options, {
    platform,
    logger,
    metrics: daemon.metrics,
    apply: async (config) => daemon.apply(config),
  });
  const status = createStatusSource(daemon, () => reloader.status(), platform);
  const web =
    options.webConfigFile === ''
      ? undefined
      : await openWebAccess(options.webConfigFile, platform, logger);
  const { clock, comparePassword, nextTurn } = platform;
  const server = new MetricsServer(options, {
    page: async () => daemon.store.page(),
    selfMetrics: async () => daemon.metrics.text(),
    scraped: (code) => daemon.metrics.scraped(code),
    status,
    nextTurn,
    stalled: () => daemon.stalled(),
    reload: options.enableLifecycle ? async () => reloader.reload('http') : undefined,
    access: web && { config: web.config, comparePassword },
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

/** What is known of the running daemon, for people and programs. Its start is now. */
export function createStatusSource(
  daemon: Daemon,
  reload: () => ReloadStatus,
  { clock, env, redactor }: AccountPlatform,
): StatusSource {
  const build = buildOf(env);
  const startedMs = clock.wallMs();
  let written: { readonly config: Config; readonly text: string } | undefined;
  return {
    process: () => {
      const { problem, brokenFiles, ...others } = reload();
      const broken = brokenFiles.map((one) => ({ ...one, problem: redactor.redact(one.problem) }));
      const shownProblem = problem === undefined ? undefined : redactor.redact(problem);
      const shown = { brokenFiles: broken, problem: shownProblem };
      const state = { ...others, ...shown };
      const { shard, log } = daemon;
      const now = { nowMs: clock.wallMs(), problemsSinceMs: log.sinceMs() };
      return { ...now, startedMs, build, shard, reload: state };
    },
    accounts: () => daemon.status(),
    applications: () => daemon.applications(),
    effectiveConfig: () => {
      const { config } = daemon;
      if (config === undefined) return undefined;
      // Thousands of entries take a while, and they rarely change.
      if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
      return redactor.redact(written.text);
    },
  };
}
