import type { Flags } from '../cli/flag-table.ts';
import type { Outcome } from '../cli/one-shot.ts';
import { loadConfig } from '../config/load-config.ts';
import { createDaemon } from '../daemon/accounts.ts';
import { logWarnings, orCommandError } from '../daemon/config-files.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import { shardFrom } from '../daemon/sharding.ts';
import { countOf } from '../model/shown-text.ts';
import type { AccountDetails } from '../model/status.ts';
import { commandPatienceMs } from '../newrelic/calls/keys.ts';
import { createLogger } from '../publish/logger.ts';

/** Polls everything once and prints what was polled; with `--all` also the exporter's own metrics. Ends with 1 if anything asked for is missing. */
export async function once(flags: Flags, platform: ToolPlatform): Promise<Outcome> {
  const { config, warnings } = await orCommandError(async () =>
    loadConfig(flags.configFile, platform),
  );
  const logger = await createLogger(flags, platform);
  logWarnings(warnings, flags.configFile, logger);
  const shard = shardFrom(flags, platform);
  const daemon = await createDaemon(config, {
    platform,
    logger,
    shard,
    patienceMs: commandPatienceMs,
  });
  platform.progress.show(() => pollingText(daemon.status()));
  try {
    const succeeded = await daemon.runOnce(platform.stopSignal);
    const { identity } = await daemon.store.page();
    const own = flags.all ? await daemon.metrics.text() : '';
    const output = `${Buffer.concat(identity).toString('utf8')}${own}`;
    return { exitCode: succeeded ? 0 : 1, output };
  } finally {
    await daemon.close();
  }
}

/** How far the one poll of everything has come. */
export function pollingText(accounts: readonly AccountDetails[]): string {
  const unlisted = accounts.filter(
    ({ up, hasApplications }) => hasApplications && up === undefined,
  );
  const [first] = unlisted;
  if (first !== undefined) {
    return unlisted.length === 1
      ? `reading the list of applications of account ${first.name}`
      : `reading the lists of applications of ${unlisted.length} accounts`;
  }
  const polled = accounts.reduce((sum, one) => sum + one.polledApplications, 0);
  const all = accounts.reduce((sum, one) => sum + one.applications, 0);
  const queries = accounts.flatMap((one) => one.queries ?? []);
  const asked = queries.filter(({ state }) => state !== 'waiting').length;
  const done = [
    ...(all === 0 && queries.length > 0 ? [] : [`${polled} of ${countOf(all, 'application')}`]),
    ...(queries.length > 0 ? [`${asked} of ${countOf(queries.length, 'query', 'queries')}`] : []),
  ];
  return `polling: ${done.join(' and ')} done`;
}
