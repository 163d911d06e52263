import { isDeepStrictEqual } from 'node:util';
import { readProxyUrl } from '../config/api-key.ts';
import { readCaFile } from '../config/ca-file.ts';
import type { AccountConfig, AccountInUse, Config } from '../model/config.ts';
import { polledBy } from '../model/selector.ts';
import type { Logger } from '../model/telemetry.ts';
import type { UndiciTransportOptions } from '../newrelic/calls/undici-transport.ts';
import { buildOf } from './build.ts';
import { orCommandError } from './config-files.ts';
import { type AccountKey, createKeyProvider } from './key-provider.ts';
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
  const { name, baseUrl, concurrency, caFile } = account;
  const read = async (): Promise<PreparedAccount> => {
    const keyProvider =
      active !== undefined && isDeepStrictEqual(active.account.apiKey, account.apiKey)
        ? active.keyProvider
        : await createKeyProvider(account, platform, logger);
    const proxyUrl = await proxyUrlOf(account, platform);
    const ca = caFile === undefined ? undefined : await readCaFile(caFile, platform);
    const userAgent = `newrelic-exporter/${buildOf(platform.env).version} (Prometheus exporter)`;
    const wire = { baseUrl, connections: concurrency, proxyUrl, ca, userAgent };
    return { ...inUse, keyProvider, wire };
  };
  return orCommandError(read, `account ${name}: `);
}

/** The URL of the proxy, whose password no text shows from now on. */
async function proxyUrlOf(
  { proxyUrl, proxyUrlFrom }: AccountConfig,
  platform: AccountPlatform,
): Promise<string | undefined> {
  const url = proxyUrlFrom === undefined ? proxyUrl : await readProxyUrl(proxyUrlFrom, platform);
  const password = url === undefined ? '' : new URL(url).password;
  if (password !== '') platform.redactor.add(decodeURIComponent(password));
  return url;
}
