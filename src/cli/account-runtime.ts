import { KeyError } from '../config/api-key.ts';
import { CaFileError, readCaFile } from '../config/ca-file.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { Logger } from '../model/telemetry.ts';
import { createRestSource, defaultMaxPages } from '../newrelic/client.ts';
import type { AccountHandover } from '../poller/account-handover.ts';
import { type AccountPoller, createAccountPoller } from '../poller/account-poller.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { createAccountTransport } from '../transport/account-transport.ts';
import { createPacer } from '../transport/create-pacer.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import type { Pacer } from '../transport/pacer.ts';
import type { RawTransport } from '../transport/raw-send.ts';
import { announcing429 } from './announcing-429.ts';
import { watchingBudget } from './budget-watch.ts';
import { CommandError } from './exit-code.ts';
import { createKeyProvider } from './key-provider.ts';
import type { Machine } from './machine.ts';
import { buildOf } from './version.ts';

export interface AccountRuntime {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
  readonly poller: AccountPoller;
  /** The vendor, paced by the account's budget; what the poller asks. */
  readonly source: Source;
  /** The account's budget: it outlives this runtime when a reload replaces it. */
  readonly pacer: Pacer;
  /** Breaks off the calls under way. */
  close(): Promise<void>;
}

export interface AccountRuntimeDependencies {
  readonly machine: Machine;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
}

/** What a reload keeps of an account that it replaces. */
export interface Predecessor {
  readonly pacer: Pacer;
  /** Left out when the account is a new one that only shares its key with the old one. */
  readonly handover?: AccountHandover | undefined;
}

/** An account of which everything that can fail has been done. */
export interface PreparedAccount {
  /** Creates the poller, which shows what its predecessor left at once. */
  create(predecessor: Predecessor | undefined): AccountRuntime;
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
    create: (predecessor) =>
      createAccountRuntime(account, entries, { ...dependencies, keyProvider, raw }, predecessor),
  };
}

function createAccountRuntime(
  account: AccountConfig,
  entries: readonly AppEntry[],
  {
    machine,
    sink,
    metrics,
    logger,
    keyProvider,
    raw,
  }: AccountRuntimeDependencies & {
    readonly keyProvider: KeyProvider;
    readonly raw: RawTransport;
  },
  predecessor: Predecessor | undefined,
): AccountRuntime {
  const { clock, random } = machine;
  const observer = metrics.apiObserver(account.name);
  const pacer = predecessor?.pacer ?? createPacer(account, { clock });
  if (predecessor !== undefined) pacer.resize(account.requestsPerMinute);
  const transport = createAccountTransport(account, {
    clock,
    random,
    observer: announcing429(account.name, { observer, clock, pacer, logger }),
    keyProvider,
    pacer,
    raw,
  });
  const rest = createRestSource(
    { maxPages: defaultMaxPages },
    { send: transport.send, observer, logger, clock },
  );
  const source = withFreshKey(rest, keyProvider);
  const poller: AccountPoller = createAccountPoller(
    { account, entries, handover: predecessor?.handover },
    {
      source,
      clock,
      random,
      sink,
      logger,
      observer: watchingBudget(account, {
        observer: metrics.pollObserver(account.name),
        allowedPerMinute: () => transport.allowedPerMinute(),
        changed: () => {
          poller.budgetChanged();
        },
        logger,
      }),
      requestsInFlight: () => transport.requestsInFlight(),
      backoffUntilMs: () => transport.backoffUntilMs(),
      budgetPerMinute: () => transport.allowedPerMinute(),
      vendorWallMs: () => transport.vendorWallMs(),
    },
  );
  return { account, entries, poller, source, pacer, close: () => transport.close() };
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
