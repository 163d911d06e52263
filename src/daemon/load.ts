import {
  ConfigError,
  type Diagnostic,
  renderDiagnostics,
  type ShownDiagnostics,
} from '../config/diagnostic.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import type { Logger } from '../model/telemetry.ts';
import { CommandError, type Platform } from './platform.ts';

/** Reads the configuration for a command; all its errors become one message and exit code 2. */
export async function loadForCommand(path: string, platform: Platform): Promise<LoadedConfig> {
  try {
    return await loadConfig(path, platform);
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(2, error.message, { cause: error });
    throw error;
  }
}

export function logWarnings({ shown, more }: ShownDiagnostics, logger: Logger): void {
  for (const { line, column, message, help } of shown) {
    logger.warn({ line, column, problem: message, remedy: help }, 'configuration warning');
  }
  if (more > 0) logger.warn({ more }, 'more configuration warnings: see check-config');
}

export function renderWarnings(warnings: readonly Diagnostic[]): string {
  return warnings.length === 0 ? '' : `${renderDiagnostics(warnings)}\n`;
}
