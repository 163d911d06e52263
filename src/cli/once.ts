import { firstOf } from '../config/diagnostic.ts';
import { loadForCommand, logWarnings } from '../daemon/config-reader.ts';
import { createDaemon } from '../daemon/daemon.ts';
import type { Platform } from '../daemon/platform.ts';
import { shardFrom } from '../daemon/sharding.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { Flags } from './flag-table.ts';
import type { Outcome } from './one-shot.ts';

/** Polls everything once and prints the exposition. Ends with 1 if anything asked for is missing. */
export async function once(flags: Flags, platform: Platform): Promise<Outcome> {
  const { config, warnings } = await loadForCommand(flags.configFile, platform);
  const logger = await createLogger(flags, platform);
  logWarnings(firstOf(warnings), flags.configFile, logger);
  const shard = shardFrom(flags, platform);
  const daemon = await createDaemon(config, { platform, logger, shard });
  try {
    const succeeded = await daemon.runOnce(platform.stopSignal);
    const { identity } = await daemon.store.page();
    const output = `${identity.toString('utf8')}${await daemon.metrics.text()}`;
    return { exitCode: succeeded ? 0 : 1, output };
  } finally {
    await daemon.close();
  }
}
