import type { Config, PlainConfig } from '../model/config.ts';
import { ConfigError, type Diagnostic } from './diagnostic.ts';
import { type ConfigSource, inspectConfig } from './inspect-config.ts';

/** A configuration without errors. */
export interface ParsedConfig<Parsed extends PlainConfig = Config> {
  readonly config: Parsed;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Parses the text of a configuration file into plain data. It reads no other file and does not check
 * whether key files exist. Rejects with a `ConfigError` that holds every problem, and with nothing else.
 *
 * @param takeBreak lets other work have its turn
 */
export async function parseConfig(
  text: string,
  source: ConfigSource,
  takeBreak?: () => Promise<void>,
): Promise<ParsedConfig<PlainConfig>> {
  const { config, errors, warnings, withoutId, diagnose } = await inspectConfig(
    text,
    source,
    takeBreak,
  );
  if (config === undefined || errors.length > 0) throw new ConfigError(diagnose(errors), withoutId);
  return { config, warnings: diagnose(warnings) };
}
