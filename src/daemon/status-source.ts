import { effectiveConfigText } from '../config/effective-config.ts';
import type { Config } from '../model/config.ts';
import type { Shard } from '../model/shard.ts';
import type { ReloadStatus, StatusSource } from '../model/status.ts';
import { buildOf } from './build.ts';
import type { Daemon } from './daemon.ts';
import type { Machine } from './platform.ts';

export interface StatusSourceDependencies {
  readonly platform: Pick<Machine, 'clock' | 'env' | 'redactor'>;
  readonly daemon: Pick<Daemon, 'status' | 'applications' | 'config'>;
  readonly shard: Shard;
  readonly reload: () => ReloadStatus;
}

/** What is known of the running daemon. Its start is now. */
export function createStatusSource({
  platform,
  daemon,
  shard,
  reload,
}: StatusSourceDependencies): StatusSource {
  const { clock, redactor } = platform;
  const build = buildOf(platform.env);
  const startedMs = clock.wallMs();
  const redact = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : redactor.redact(text);
  let written: { readonly config: Config; readonly text: string } | undefined;

  return {
    process: () => {
      const { configFile, inForceSinceMs, lastAttemptMs, problem } = reload();
      return {
        nowMs: clock.wallMs(),
        startedMs,
        build,
        shard,
        reload: { configFile, inForceSinceMs, lastAttemptMs, problem: redact(problem) },
      };
    },
    accounts: () => daemon.status(),
    applications: () => daemon.applications(),
    effectiveConfig: () => {
      const config = daemon.config();
      if (config === undefined) return undefined;
      // Thousands of entries take a while, and they rarely change.
      if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
      return redactor.redact(written.text);
    },
  };
}
