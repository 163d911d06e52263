import { KeyError } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { AccountStatus, Logger } from '../model/telemetry.ts';
import { createRestSource, defaultMaxPages } from '../newrelic/client.ts';
import type { AccountHandover } from '../poller/account-handover.ts';
import { type AccountPoller, createAccountPoller } from '../poller/account-poller.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { createAccountTransport } from '../transport/account-transport.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import type { Membership, RateLimiters } from '../transport/rate-limiters.ts';
import type { RawTransport } from '../transport/raw-send.ts';
import { CommandError } from './exit-code.ts';
import { createKeyProvider } from './key-provider.ts';
import type { Machine } from './machine.ts';
import { createTransportLog } from './transport-log.ts';
import { buildOf } from './version.ts';

export interface AccountRuntime {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
  readonly poller: AccountPoller;
  /** The vendor, paced by the limit of the key; what the poller asks. */
  readonly source: Source;
  status(): AccountStatus;
  /** Frees the account's share of its key, when the poller has ended: see `Membership`. */
  leave(): void;
  /** Breaks off the calls under way, and leaves. */
  close(): Promise<void>;
}

export interface AccountRuntimeDependencies {
  readonly machine: Machine;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
  readonly limiters: RateLimiters;
}

/** An account of which everything that can fail has been done. */
export interface PreparedAccount {
  /** Creates the poller, which shows what its predecessor left at once. */
  create(handover: AccountHandover | undefined): AccountRuntime;
}

/**
 * Reads all that one account needs, and changes nothing yet. Rejects with a `CommandError` if a key
 * or a file that the configuration names cannot be used.
 */
export async function prepareAccount(
  account: AccountConfig,
  entries: readonly AppEntry[],
  dependencies: AccountRuntimeDependencies,
): Promise<PreparedAccount> {
  const { machine, logger } = dependencies;
  const keyProvider = await keyProviderFor(account, machine, logger);
  const raw = await machine.openTransport({
    baseUrl: account.baseUrl,
    connections: account.concurrency,
    proxyUrl: account.proxyUrl,
    ca: await readCa(account, machine),
    userAgent: `newrelic-exporter/${buildOf(machine.env).version} (Prometheus exporter)`,
  });
  hideProxyPassword(account, machine.redactor);
  return {
    create: (handover) =>
      createAccountRuntime(account, entries, { ...dependencies, keyProvider, raw }, handover),
  };
}

function createAccountRuntime(
  account: AccountConfig,
  entries: readonly AppEntry[],
  dependencies: AccountRuntimeDependencies & {
    readonly keyProvider: KeyProvider;
    readonly raw: RawTransport;
  },
  handover: AccountHandover | undefined,
): AccountRuntime {
  const { machine, sink, metrics, logger, limiters, raw } = dependencies;
  const { clock, random } = machine;
  const observer = metrics.apiObserver(account.name);
  const membership = limiters.join(account, dependencies.keyProvider.current());
  const keyProvider = rekeying(dependencies.keyProvider, membership);
  const log = createTransportLog(account.name, { clock, membership, logger });
  const parts = { clock, random, observer, keyProvider, membership, raw, events: log };
  const transport = createAccountTransport(account, parts);
  const rest = createRestSource(
    { maxPages: defaultMaxPages },
    { send: transport.send, observer, logger },
  );
  const source = withFreshKey(rest, keyProvider);
  const poller = createAccountPoller(
    { account, entries, handover },
    {
      source,
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      requestsInFlight: () => transport.requestsInFlight(),
      backoffUntilMs: () => transport.backoffUntilMs(),
      budgetPerMinute: () => transport.limitPerMinute(),
      vendorWallMs: () => transport.vendorWallMs(),
    },
  );
  membership.onLimitChange(() => {
    log.limitChanged();
    poller.budgetChanged();
  });
  return {
    account,
    entries,
    poller,
    source,
    status: () => ({ ...poller.status(), clockSkewSeconds: transport.clockSkewSeconds() }),
    leave: () => membership.leave(),
    close: async () => {
      membership.leave();
      await transport.close();
    },
  };
}

/** A new key has a limiter of its own. */
function rekeying(keyProvider: KeyProvider, membership: Membership): KeyProvider {
  return {
    ...keyProvider,
    reload: async () => {
      const isNew = await keyProvider.reload();
      membership.rekey(keyProvider.current());
      return isNew;
    },
  };
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

function hideProxyPassword({ proxyUrl }: AccountConfig, redactor: Redactor): void {
  if (proxyUrl === undefined) return;
  const { password } = new URL(proxyUrl);
  if (password !== '') redactor.add(decodeURIComponent(password));
}

/** Reads the key again before each discovery, so that a rotated one is in force within a minute. */
function withFreshKey(source: Source, keyProvider: KeyProvider): Source {
  return {
    ...source,
    discover: async (selectors, knownIds, signal) => {
      await keyProvider.reload();
      return source.discover(selectors, knownIds, signal);
    },
  };
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
