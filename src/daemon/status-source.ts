import { effectiveConfigText } from '../config/effective-config.ts';
import type { Config } from '../model/config.ts';
import type { AccountDetails, PolledStatus, ReloadStatus, StatusSource } from '../model/status.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import type { Daemon } from './accounts.ts';
import { buildOf } from './build.ts';
import type { AccountPlatform } from './platform.ts';

/**
 * What is known of the running daemon, for people and programs, without secrets: the vendor's words in an
 * error may hold one. Its start is now.
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
    accounts: () => daemon.status().map((account) => redactedAccount(account, redactor)),
    applications: () => daemon.applications().map((one) => redactedPoll(one, redactor)),
    effectiveConfig: () => {
      const { config } = daemon;
      if (config === undefined) return undefined;
      // Thousands of entries take a while, and they rarely change.
      if (written?.config !== config) written = { config, text: effectiveConfigText(config) };
      return redactor.redact(written.text);
    },
  };
}

function redacted(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.redact(text);
}

function redactedAccount(account: AccountDetails, redactor: Redactor): AccountDetails {
  const { error, key, queries } = account;
  return {
    ...account,
    error: redacted(error, redactor),
    ...(queries && { queries: queries.map((query) => redactedPoll(query, redactor)) }),
    key: { ...key, problem: redacted(key.problem, redactor) },
  };
}

/** Its message is redacted only once it is read: a page shows 200 of ten thousand. */
function redactedPoll<One extends PolledStatus>(one: One, redactor: Redactor): One {
  if (one.failure === undefined) return one;
  const { message, ...rest } = one.failure;
  const failure = {
    ...rest,
    get message() {
      return redactor.redact(message);
    },
  };
  return { ...one, failure };
}
