import { ConfigError } from '../config/diagnostic.ts';
import type { Logger } from '../model/telemetry.ts';
import type { WebConfig } from '../model/web-config.ts';
import type { MetricsServer } from '../server/metrics-server.ts';
import { type LoadedWebConfig, loadWebConfig } from '../web-config/load-web-config.ts';
import { logWarnings, orCommandError } from './config-reader.ts';
import { type WatchedFiles, watchFiles } from './file-watcher.ts';
import type { Files, Machine } from './platform.ts';

export interface WebAccessDependencies {
  readonly platform: Pick<Machine & Files, 'clock' | 'readFile'>;
  readonly logger: Logger;
}

/** A password that is taken away must not work for long. The files are small. */
const intervalMs = 5000;

/**
 * What takes a restart. An empty file, or one half of which is written, must not open the exporter to
 * everybody.
 */
function tooLargeChange(before: WebConfig, after: WebConfig): string | undefined {
  if (after.tls === undefined && before.tls !== undefined) return 'TLS cannot be switched off';
  if (after.tls !== undefined && before.tls === undefined) return 'TLS cannot be switched on';
  if (after.users.size === 0 && before.users.size > 0) return 'passwords cannot be switched off';
  if (wantsCertificate(before) && !wantsCertificate(after)) {
    return 'client certificates cannot be switched off';
  }
  return undefined;
}

function wantsCertificate({ tls }: WebConfig): boolean {
  return (
    tls?.clientAuth === 'RequireAndVerifyClientCert' || tls?.clientAuth === 'RequireAnyClientCert'
  );
}

/** The active web configuration, which follows its files. */
export class WebAccess {
  readonly #path: string;
  readonly #dependencies: WebAccessDependencies;
  #loaded: LoadedWebConfig;
  #problem: string | undefined;

  constructor(path: string, loaded: LoadedWebConfig, dependencies: WebAccessDependencies) {
    this.#path = path;
    this.#loaded = loaded;
    this.#dependencies = dependencies;
    this.#logWarnings();
  }

  current(): WebConfig {
    return this.#loaded.config;
  }

  /**
   * Puts every change of the files into force, until the signal is aborted. If anything is wrong with
   * them, the active one stays.
   *
   * @param server is told what new connections get
   */
  async watch(server: Pick<MetricsServer, 'renewTls'>, signal: AbortSignal): Promise<void> {
    const { platform } = this.#dependencies;
    const loaded = (): WatchedFiles | undefined =>
      this.#problem === undefined ? this.#loaded.files : undefined;
    const reload = async (): Promise<void> => this.#reload(server);
    await watchFiles({ intervalMs, platform, loaded, reload }, signal);
  }

  async #reload(server: Pick<MetricsServer, 'renewTls'>): Promise<void> {
    const { platform, logger } = this.#dependencies;
    let next: LoadedWebConfig;
    try {
      next = await loadWebConfig(this.#path, platform);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#keep(error.message, 'correct the file: it is tried again every few seconds');
      return;
    }
    const { tls } = next.config;
    const change = tooLargeChange(this.#loaded.config, next.config);
    if (change !== undefined) {
      this.#keep(`${change} while the exporter runs`, 'restart the exporter, if this is meant');
      return;
    }
    this.#problem = undefined;
    this.#loaded = next;
    if (tls !== undefined) server.renewTls(tls);
    this.#logWarnings();
    const { users } = next.config;
    logger.info(
      { file: this.#path, tls: tls !== undefined, users: users.size },
      'web configuration reloaded',
    );
  }

  /** Each problem is logged once. */
  #keep(problem: string, remedy: string): void {
    if (problem !== this.#problem) {
      this.#dependencies.logger.error(
        { file: this.#path, problem, remedy },
        'web configuration refused, the old one stays active',
      );
    }
    this.#problem = problem;
  }

  #logWarnings(): void {
    const { logger } = this.#dependencies;
    logWarnings(this.#loaded.warnings, this.#path, logger, 'web configuration');
  }
}

/** Reads the web configuration file. Rejects with a `CommandError` that says what is wrong with it. */
export async function openWebAccess(
  path: string,
  dependencies: WebAccessDependencies,
): Promise<WebAccess> {
  const loaded = await orCommandError(async () => loadWebConfig(path, dependencies.platform));
  return new WebAccess(path, loaded, dependencies);
}
