import { isDeepStrictEqual } from 'node:util';
import { readApiKey, readOutside } from '../config/named-file.ts';
import { nowOf, wallTimeOf } from '../model/clock.ts';
import type { AccountConfig, AccountInUse, Config } from '../model/config.ts';
import { polledBy } from '../model/selector.ts';
import type { KeyStatus } from '../model/status.ts';
import type { Logger } from '../model/telemetry.ts';
import type { KeyProvider } from '../newrelic/calls/transport.ts';
import { proxyCredentialsOf } from '../newrelic/calls/tunnels.ts';
import type { UndiciTransportOptions } from '../newrelic/calls/undici-transport.ts';
import { buildOf } from './build.ts';
import { orCommandError } from './config-files.ts';
import type { AccountPlatform } from './platform.ts';

/** The accounts with queries, or entries that do not only exclude; the others are never polled. */
export function accountsInUse({ accounts, apps, queries = [] }: Config): readonly AccountInUse[] {
  return accounts
    .map((account) => ({
      account,
      entries: apps.filter((entry) => entry.account === account.name),
      queries: queries.filter((query) => query.account === account.name),
    }))
    .filter((inUse) => inUse.queries.length > 0 || polledBy(inUse.entries).length > 0);
}

/** The key of an account, and what is known about it. */
export interface AccountKey extends KeyProvider {
  status(): KeyStatus;
}

/** An account with everything read that can fail; nothing of it is active yet. */
export interface PreparedAccount extends AccountInUse {
  readonly keyProvider: AccountKey;
  /** How to connect. */
  readonly wire: UndiciTransportOptions;
}

/**
 * Reads everything that one account needs. Rejects with a `CommandError` if a key or a file that the
 * configuration names cannot be used.
 *
 * @param active the account of that name that is active: a key in the same place is not read again
 */
export async function prepareAccount(
  inUse: AccountInUse,
  { platform, logger }: { readonly platform: AccountPlatform; readonly logger: Logger },
  active?: PreparedAccount,
): Promise<PreparedAccount> {
  const { account } = inUse;
  const { name, baseUrl, concurrency } = account;
  const kept = isDeepStrictEqual(active?.account.apiKey, account.apiKey) ? active : undefined;
  const { key = '', ...read } = await orCommandError(
    async () =>
      readOutside(kept ? { ...account, apiKey: undefined } : account, platform, (_, error) => {
        throw error;
      }),
    `account ${name}: `,
  );
  const proxyUrl = read.proxyUrl ?? account.proxyUrl;
  if (proxyUrl !== undefined) {
    const proxy = new URL(proxyUrl);
    // No text shows the password from now on, in the form in which it is sent either.
    platform.redactor.add(decodeURIComponent(proxy.password));
    platform.redactor.add(proxyCredentialsOf(proxy));
  }
  const userAgent = `newrelic-exporter/${buildOf(platform.env).version} (Prometheus exporter)`;
  return {
    ...inUse,
    keyProvider: kept?.keyProvider ?? createKeyProvider(account, key, platform, logger),
    wire: { baseUrl, connections: concurrency, proxyUrl, ca: read.ca, userAgent },
  };
}

/** Calls that left with a replaced key may still fail, and name it, for some minutes. */
const oldKeyMs = 60 * 60_000;

/** Holds one account's key and reads it again on demand. If that fails, the key before stays. */
function createKeyProvider(
  { name: account, apiKey: location }: Pick<AccountConfig, 'name' | 'apiKey'>,
  first: string,
  platform: AccountPlatform,
  logger: Logger,
): AccountKey {
  const { clock, redactor } = platform;
  let current = first;
  redactor.add(current);
  let readMs = clock.monotonicMs();
  let problem: string | undefined;
  let changedMs = readMs;
  let replaced: readonly { readonly key: string; readonly untilMs: number }[] = [];

  /** Without a timer: keys are rarely replaced, so few are remembered for longer. */
  const replaceBy = (next: string): void => {
    const nowMs = clock.monotonicMs();
    const before = [...replaced, { key: current, untilMs: nowMs + oldKeyMs }];
    replaced = before.filter(({ untilMs }) => nowMs < untilMs);
    for (const { key, untilMs } of before) if (nowMs >= untilMs) redactor.forget(key);
    redactor.add(next);
    current = next;
    readMs = nowMs;
  };

  const found = (next: string | undefined): void => {
    if ((next === undefined) !== (problem === undefined)) changedMs = clock.monotonicMs();
    problem = next;
  };

  return {
    current: () => current,
    reload: async () => {
      let next: string;
      try {
        next = await readApiKey(location, platform);
      } catch (error) {
        found(error instanceof Error ? error.message : String(error));
        return false;
      }
      found(undefined);
      if (next === current) return false;
      replaceBy(next);
      logger.info({ account }, 'API key changed');
      return true;
    },
    status: () => {
      const toWall = wallTimeOf(nowOf(clock));
      return {
        location:
          location.kind === 'file'
            ? `file ${location.path}`
            : `environment variable ${location.name}`,
        problem,
        sinceMs: toWall(changedMs),
        readMs: toWall(readMs),
      };
    },
  };
}
