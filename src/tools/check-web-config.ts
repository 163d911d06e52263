import { countOf } from '../cli/one-shot.ts';
import { ConfigError, type Diagnostic } from '../config/diagnostic.ts';
import { loadWebConfig } from '../config/load-web-config.ts';
import type { Platform } from '../daemon/platform.ts';

/** What a check of the web configuration file has found. */
export interface CheckedWebConfig {
  readonly diagnostics: readonly Diagnostic[];
  /** What is good about it, on a line; empty if it has errors, or if there is no such file. */
  readonly verdict: string;
}

/** Checks the web configuration file, if one is named, and the certificates that it names. */
export async function checkWebConfig(
  path: string,
  platform: Pick<Platform, 'clock' | 'readFile'>,
): Promise<CheckedWebConfig> {
  if (path === '') return { diagnostics: [], verdict: '' };
  try {
    const { config, warnings } = await loadWebConfig(path, platform);
    const tls = config.tls === undefined ? 'no TLS' : 'TLS';
    const users = countOf(config.users.size, 'user');
    const verdict = `${path}: ok, ${tls}, ${users}, ${countOf(warnings.length, 'warning')}\n`;
    return { diagnostics: warnings, verdict };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { diagnostics: error.diagnostics, verdict: '' };
  }
}
