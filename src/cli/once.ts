import { firstOf } from '../config/diagnostic.ts';
import { createDaemon } from '../daemon/daemon.ts';
import { loadForCommand, logWarnings } from '../daemon/load.ts';
import { createLogging } from '../daemon/logging.ts';
import type { Machine } from '../daemon/platform.ts';
import { shardFrom, withShard } from '../daemon/sharding.ts';
import type { Flags } from './flags.ts';
import type { Outcome } from './one-shot.ts';

/** Polls everything once and prints the exposition; 1 if anything that was asked for is missing. */
export async function once(flags: Flags, machine: Machine): Promise<Outcome> {
  const { config, warnings } = await loadForCommand(flags.configFile, machine);
  const logger = await createLogging(flags, machine);
  logWarnings(firstOf(warnings), logger);
  const sharded = withShard(config, shardFrom(flags, machine));
  const daemon = await createDaemon(sharded, { machine, logger });
  try {
    const succeeded = await daemon.runOnce(machine.stopSignal);
    const { identity } = await daemon.store.page();
    const output = `${identity.toString('utf8')}${await daemon.metrics.text()}`;
    return { exitCode: succeeded ? 0 : 1, output };
  } finally {
    await daemon.close();
  }
}
