import { ConfigError } from '../config/diagnostic.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ServerTls, WebConfig } from '../model/web-config.ts';
import { type LoadedWebConfig, loadWebConfig } from '../web/config/load-web-config.ts';
import {
  digestAt,
  follow,
  logWarnings,
  orCommandError,
  type WatchedFiles,
} from './config-files.ts';
import type { AccountPlatform } from './platform.ts';

/** A password that is taken away must not work for long. The files are small. */
const intervalMs = 5000;
/** For the log. */
const webConfigWords = 'web configuration';

/**
 * What takes a restart. An empty file, or one half of which is written, must not open the exporter to
 * everybody.
 */
function tooLargeChange(before: WebConfig, after: WebConfig): string | undefined {
  if (after.tls === undefined && before.tls !== undefined) return 'TLS cannot be switched off';
  if (after.tls !== undefined && before.tls === undefined) return 'TLS cannot be switched on';
  if (after.users.size === 0 && before.users.size > 0) return 'passwords cannot be switched off';
  if (asksForCertificate(before) && !asksForCertificate(after)) {
    return 'client certificates cannot be switched off';
  }
  return undefined;
}

function asksForCertificate({ tls }: WebConfig): boolean {
  return (
    tls?.clientAuth === 'RequireAndVerifyClientCert' || tls?.clientAuth === 'RequireAnyClientCert'
  );
}

type RenewTls = (tls: ServerTls) => void;

/** The active web configuration, which follows its files. */
export interface WebAccess {
  readonly config: () => WebConfig;
  /**
   * Puts every change of the files into force, until the signal is aborted. If anything is wrong with
   * them, the active one stays.
   *
   * @param renewTls is told what new connections get
   */
  readonly watch: (renewTls: RenewTls, signal: AbortSignal) => Promise<void>;
}

/** Reads the web configuration file. Rejects with a `CommandError` that says what is wrong with it. */
export async function openWebAccess(
  path: string,
  platform: AccountPlatform,
  logger: Logger,
): Promise<WebAccess> {
  let loaded = await orCommandError(async () => loadWebConfig(path, platform));
  let problem: string | undefined;
  logWarnings(loaded.warnings, path, logger, webConfigWords);

  /** Each problem is logged once. */
  const keep = (next: string, remedy: string): void => {
    const message = 'web configuration refused, the old one stays active';
    if (next !== problem) logger.error({ file: path, problem: next, remedy }, message);
    problem = next;
  };

  const reload = async (renewTls: RenewTls): Promise<void> => {
    let next: LoadedWebConfig;
    try {
      next = await loadWebConfig(path, platform);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      keep(error.message, 'correct the file: it is tried again every few seconds');
      return;
    }
    const { tls, users } = next.config;
    const change = tooLargeChange(loaded.config, next.config);
    if (change !== undefined) {
      keep(`${change} while the exporter runs`, 'restart the exporter, if this is meant');
      return;
    }
    problem = undefined;
    loaded = next;
    if (tls !== undefined) renewTls(tls);
    logWarnings(next.warnings, path, logger, webConfigWords);
    const facts = { file: path, tls: tls !== undefined, users: users.size };
    logger.info(facts, 'web configuration reloaded');
  };

  const files = (): WatchedFiles | undefined => {
    if (problem !== undefined) return undefined;
    const { files: read } = loaded;
    const digest = [...read.values()].join(' ');
    return { digest, look: async () => digestAt([...read.keys()], platform) };
  };
  return {
    config: () => loaded.config,
    watch: async (renewTls, signal) => {
      const following = {
        files,
        intervalMs: () => intervalMs,
        reload: async () => reload(renewTls),
      };
      await follow(following, platform, signal);
    },
  };
}
