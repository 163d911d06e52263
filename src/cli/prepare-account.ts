import { KeyError } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { Logger } from '../model/telemetry.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import type { RawTransport } from '../transport/raw-send.ts';
import type { UndiciTransportOptions } from '../transport/undici-transport.ts';
import { CommandError } from './exit-code.ts';
import { createKeyProvider } from './key-provider.ts';
import type { Machine } from './machine.ts';
import { buildOf } from './version.ts';

/** An account of which all has been read that can be wrong; nothing was changed yet. */
export interface PreparedAccount {
  readonly account: AccountConfig;
  /** The entries of `apps` that belong to it; not empty. */
  readonly entries: readonly AppEntry[];
  readonly keyProvider: KeyProvider;
  /** How to connect: accounts with the same can share their connections. */
  readonly wire: UndiciTransportOptions;
}

export interface PrepareAccountDependencies {
  readonly machine: Machine;
  readonly logger: Logger;
  /** The account of the same name that is in force: its key is not read again without need. */
  readonly previous?: PreparedAccount | undefined;
}

/**
 * Reads all that one account needs. Rejects with a `CommandError` if a key or a file that the
 * configuration names cannot be used.
 */
export async function prepareAccount(
  account: AccountConfig,
  entries: readonly AppEntry[],
  { machine, logger, previous }: PrepareAccountDependencies,
): Promise<PreparedAccount> {
  hideProxyPassword(account, machine);
  const isSameKey = previous !== undefined && locationOf(previous.account) === locationOf(account);
  const keyProvider = isSameKey
    ? previous.keyProvider
    : await keyProviderFor(account, machine, logger);
  const ca = await readCa(account, machine);
  const { baseUrl, concurrency, proxyUrl } = account;
  const userAgent = `newrelic-exporter/${buildOf(machine.env).version} (Prometheus exporter)`;
  const wire = { baseUrl, connections: concurrency, proxyUrl, ca, userAgent };
  return { account, entries, keyProvider, wire };
}

/** Opens the connections to the vendor of a prepared account, which cannot fail. */
export async function openPrepared(
  { wire }: PreparedAccount,
  machine: Pick<Machine, 'openTransport'>,
): Promise<RawTransport> {
  return machine.openTransport(wire);
}

function locationOf({ apiKey }: AccountConfig): string {
  return apiKey.kind === 'file' ? `file ${apiKey.path}` : `env ${apiKey.name}`;
}

async function keyProviderFor(
  account: AccountConfig,
  machine: Machine,
  logger: Logger,
): Promise<KeyProvider> {
  try {
    return await createKeyProvider(
      { account: account.name, location: account.apiKey },
      { ...machine, logger },
    );
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    throw new CommandError(2, `account ${account.name}: ${error.message}`, { cause: error });
  }
}

function hideProxyPassword({ proxyUrl }: AccountConfig, { redactor }: Machine): void {
  if (proxyUrl === undefined) return;
  const { password } = new URL(proxyUrl);
  if (password !== '') redactor.add(decodeURIComponent(password));
}

async function readCa(account: AccountConfig, machine: Machine): Promise<string | undefined> {
  if (account.caFile === undefined) return undefined;
  try {
    return await readCaFile(account.caFile, machine);
  } catch (error) {
    if (!(error instanceof CaFileError)) throw error;
    throw new CommandError(2, `account ${account.name}: ${error.message}`, { cause: error });
  }
}
