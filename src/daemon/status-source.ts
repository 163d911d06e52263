import { effectiveConfigText } from '../config/effective-config.ts';
import type { Config } from '../model/config.ts';
import type { ReloadStatus, StatusSource } from '../model/status.ts';
import { redacted } from '../telemetry/redacted-status.ts';
import type { Daemon } from './accounts.ts';
import { buildOf } from './build.ts';
import type { AccountPlatform } from './platform.ts';

/**
 * What is known of the running daemon, for people and programs. Its start is now.
 */
export function createStatusSource(
  daemon: Daemon,
  reload: () => ReloadStatus,
  { clock, env, redactor }: AccountPlatform,
): StatusSource {
  const build = buildOf(env);
  const startedMs = clock.wallMs();
  let written: { readonly config: Config; readonly text: string } | undefined;
  return {
    process: () => {
      const { problem, ...others } = reload();
      const state = { ...others, problem: redacted(problem, redactor) };
      return { nowMs: clock.wallMs(), startedMs, build, shard: daemon.shard, reload: state };
    },
    accounts: () => daemon.status(),
    applications: () => daemon.applications(),
    effectiveConfig: () => {
      const { config } = daemon;
      if (config === undefined) return undefined;
      // Thousands of entries take a while, and they rarely change.
      if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
      return redactor.redact(written.text);
    },
  };
}
