import { isDeepStrictEqual } from 'node:util';
import pLimit from 'p-limit';
import { readProxyUrl } from '../config/api-key.ts';
import { readCaFile } from '../config/ca-file.ts';
import { NamedFileError } from '../config/read-file.ts';
import {
  type AccountConfig,
  type AccountInUse,
  type AppEntry,
  type Config,
  quotaOf,
} from '../model/config.ts';
import { isSameHostChoice } from '../model/selected-application.ts';
import { isSameSelector, polledBy } from '../model/selector.ts';
import type { Logger } from '../model/telemetry.ts';
import type { UndiciTransportOptions } from '../newrelic/calls/undici-transport.ts';
import { buildOf } from './build.ts';
import { fileCommandError } from './config-reader.ts';
import { type AccountKey, createKeyProvider } from './key-provider.ts';
import type { AccountPlatform } from './platform.ts';

/** The accounts with queries, or entries that do not only exclude; the others are never polled. */
export function accountsInUse({
  accounts,
  apps,
  queries = [],
}: Pick<Config, 'accounts' | 'apps' | 'queries'>): readonly AccountInUse[] {
  const [entriesOf, queriesOf] = [byAccount(apps), byAccount(queries)];
  return accounts.flatMap((account) => {
    const entries = entriesOf.get(account.name) ?? [];
    const own = queriesOf.get(account.name) ?? [];
    const isPolled = own.length > 0 || polledBy(entries).length > 0;
    return isPolled ? [{ account, entries, queries: own }] : [];
  });
}

function byAccount<Entry extends { readonly account: string }>(
  all: readonly Entry[],
): ReadonlyMap<string, readonly Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const entry of all) {
    const known = found.get(entry.account);
    if (known === undefined) found.set(entry.account, [entry]);
    else known.push(entry);
  }
  return found;
}

/** An account with everything read that can fail; nothing of it is active yet. */
export interface PreparedAccount extends AccountInUse {
  readonly keyProvider: AccountKey;
  /** How to connect. */
  readonly wire: UndiciTransportOptions;
}

export interface PrepareAccountDependencies {
  readonly platform: AccountPlatform;
  readonly logger: Logger;
  /** The account of that name that is active: if its key is in the same place, it is not read again. */
  readonly previousOf?: (name: string) => PreparedAccount | undefined;
}

/**
 * Reads everything that one account needs. Rejects with a `CommandError` if a key or a file that the
 * configuration names cannot be used.
 */
export async function prepareAccount(
  { account, ...asked }: AccountInUse,
  { platform, logger, previousOf }: PrepareAccountDependencies,
): Promise<PreparedAccount> {
  const previous = previousOf?.(account.name);
  const isSameKey =
    previous !== undefined && isDeepStrictEqual(previous.account.apiKey, account.apiKey);
  const { name, baseUrl, concurrency, caFile } = account;
  const keyProvider = isSameKey
    ? previous.keyProvider
    : await namingAccount(name, createKeyProvider(account, { ...platform, logger }));
  const proxyUrl = await namingAccount(name, proxyUrlOf(account, platform));
  const ca =
    caFile === undefined ? undefined : await namingAccount(name, readCaFile(caFile, platform));
  const userAgent = `newrelic-exporter/${buildOf(platform.env).version} (Prometheus exporter)`;
  const wire = { baseUrl, connections: concurrency, proxyUrl, ca, userAgent };
  return { account, ...asked, keyProvider, wire };
}

/** Node.js reads this many files at once; more would only wait, and count it as time of their volume. */
const readsAtOnce = 4;

export async function prepareAccounts(
  all: readonly AccountInUse[],
  dependencies: PrepareAccountDependencies,
): Promise<readonly PreparedAccount[]> {
  return pLimit(readsAtOnce).map(all, async (inUse) => prepareAccount(inUse, dependencies));
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

/** Says in errors of files and keys which account they belong to. */
async function namingAccount<Value>(name: string, reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof NamedFileError)) throw error;
    throw fileCommandError(error, `account ${name}: ${error.message}`);
  }
}

/** How an account of the next configuration differs from the one of its name that is active. */
export type AccountChange =
  | { readonly kind: 'none' }
  /** There is none, or it is another account: at another address, or with another quota. */
  | { readonly kind: 'new' }
  | {
      readonly kind: 'settings';
      /** Whether it needs other connections. */
      readonly isWireOther: boolean;
      /** Whether New Relic sees another key, or other requests. */
      readonly isAskedOtherwise: boolean;
    };

/** The only place where a configuration is compared with the active one. */
export function changeTo(
  next: PreparedAccount,
  before: PreparedAccount | undefined,
): AccountChange {
  if (before === undefined || !isSamePlace(before.account, next.account)) return { kind: 'new' };
  const isWireOther = !isDeepStrictEqual(before.wire, next.wire);
  const isSame =
    !isWireOther &&
    isSameAccount(before.account, next.account) &&
    haveSameEntries(before, next) &&
    isDeepStrictEqual(before.queries, next.queries);
  if (isSame) return { kind: 'none' };
  const isAskedOtherwise =
    isWireOther ||
    before.keyProvider.current() !== next.keyProvider.current() ||
    before.account.apiKeyHeader !== next.account.apiKeyHeader;
  return { kind: 'settings', isWireOther, isAskedOtherwise };
}

function isSamePlace(left: AccountConfig, right: AccountConfig): boolean {
  return left.baseUrl === right.baseUrl && quotaOf(left) === quotaOf(right);
}

/** In one place the source can only differ in the account id of REST, which nothing is polled with. */
function isSameAccount(left: AccountConfig, right: AccountConfig): boolean {
  return isDeepStrictEqual(left, { ...right, source: left.source });
}

function haveSameEntries(before: PreparedAccount, next: PreparedAccount): boolean {
  return (
    before.entries.length === next.entries.length &&
    next.entries.every((entry, index) => {
      const other = before.entries[index];
      return other !== undefined && isSameEntry(entry, other);
    })
  );
}

function isSameEntry(left: AppEntry, right: AppEntry): boolean {
  // The series follow from the rest.
  const { selector, hosts, series: _, ...rest } = left;
  const { selector: otherSelector, hosts: otherHosts, series: __, ...otherRest } = right;
  return (
    isSameSelector(selector, otherSelector) &&
    isSameHostChoice(hosts, otherHosts) &&
    isDeepStrictEqual(rest, otherRest)
  );
}
