import { type Diagnostic, renderDiagnostics } from '../config/diagnostic.ts';
import { loadConfig, type ParsedConfig } from '../config/load-config.ts';
import { orCommandError } from '../daemon/config-files.ts';
import type { AccountPlatform } from '../daemon/platform.ts';

/** Reads the configuration for a command; all its errors become one message and exit code 2. */
export async function loadForCommand(
  path: string,
  platform: AccountPlatform,
): Promise<ParsedConfig> {
  return orCommandError(async () => loadConfig(path, platform));
}

/** For standard error, the first of them in full; empty if there are none. */
export function renderWarnings(warnings: readonly Diagnostic[]): string {
  return warnings.length === 0 ? '' : `${renderDiagnostics(warnings)}\n`;
}
