import { firstOf } from '../config/diagnostic.ts';
import type { ParsedConfig } from '../config/parse-config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Logger } from '../model/telemetry.ts';
import { type BoundAddress, createMetricsServer } from '../server/create-server.ts';
import { ListenError } from '../server/listen-address.ts';
import { createDaemon } from './daemon.ts';
import { CommandError, type ExitCode } from './exit-code.ts';
import type { Flags } from './flags.ts';
import { loadForCommand, logWarnings } from './load.ts';
import { createLogging } from './logging.ts';
import type { Machine } from './machine.ts';
import { createReloading } from './reloading.ts';
import { shardFrom, withShard } from './sharding.ts';
import { buildOf } from './version.ts';
import { watchedFilesOf } from './watched-files.ts';

/** What else a command that serves wants to do. */
export interface ServeHooks {
  readonly watch?: ((sink: SnapshotSink) => SnapshotSink) | undefined;
  readonly listening?: ((addresses: readonly BoundAddress[]) => void) | undefined;
  /** The file that was read and can be read again; without it there is no reload. */
  readonly configFile?: { readonly path: string; readonly digest: string } | undefined;
}

/** Scrapes in flight are answered until then; five seconds is what the whole stop may take. */
const closeDeadlineMs = 3000;

/** The daemon: polls and serves until it is asked to stop. */
export async function serve(flags: Flags, machine: Machine): Promise<ExitCode> {
  const parsed = await loadForCommand(flags.configFile, machine);
  const logger = await createLogging(flags, machine);
  const configFile = { path: flags.configFile, digest: parsed.digest };
  return serveConfig(parsed, flags, machine, logger, { configFile });
}

export async function serveConfig(
  { config, warnings }: ParsedConfig,
  flags: Flags,
  machine: Machine,
  logger: Logger,
  hooks: ServeHooks,
): Promise<ExitCode> {
  logWarnings(firstOf(warnings), logger);
  const { configFile } = hooks;
  // Before the files are put into force, which takes a while: what changes meanwhile is seen.
  const initialFiles = configFile && (await watchedFilesOf(configFile, config, machine));
  const shard = shardFrom(flags, machine);
  const { watch } = hooks;
  const daemon = await createDaemon(withShard(config, shard), { machine, logger, watch });
  daemon.metrics.sharded(shard);
  const build = buildOf(machine.env);
  const reloading =
    configFile &&
    createReloading({ path: configFile.path, initialFiles }, flags, {
      machine,
      logger,
      metrics: daemon.metrics,
      apply: async (next) => daemon.apply(withShard(next, shard)),
    });
  const server = createMetricsServer(flags, {
    page: async () => daemon.store.page(),
    selfMetrics: async () => daemon.metrics.text(),
    status: () => daemon.status(),
    stalled: () => daemon.stalled(),
    reload: flags.enableLifecycle ? reloading?.byHttp : undefined,
    build,
    logger,
    clock: machine.clock,
  });
  const { stopSignal } = machine;
  const beginStop = (): void => {
    server.setNotReady();
  };
  stopSignal.addEventListener('abort', beginStop, { once: true });
  try {
    const addresses = await server.listen();
    logger.info({ version: build.version, addresses, path: flags.telemetryPath }, 'listening');
    hooks.listening?.(addresses);
    await Promise.all([daemon.run(stopSignal), reloading?.watch(stopSignal)]);
    logger.info({}, 'stopping');
    return 0;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    throw new CommandError(1, error.message, { cause: error });
  } finally {
    stopSignal.removeEventListener('abort', beginStop);
    await daemon.close();
    await server.close(closeDeadlineMs);
  }
}
