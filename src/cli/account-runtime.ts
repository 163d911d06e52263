import { KeyError } from '../config/api-key.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Source } from '../model/source.ts';
import type { Logger } from '../model/telemetry.ts';
import { createRestSource, defaultMaxPages } from '../newrelic/client.ts';
import { type AccountPoller, createAccountPoller } from '../poller/account-poller.ts';
import type { Redactor } from '../telemetry/redactor.ts';
import type { SelfMetrics } from '../telemetry/self-metrics.ts';
import { createAccountTransport } from '../transport/account-transport.ts';
import { createPacer } from '../transport/create-pacer.ts';
import type { KeyProvider } from '../transport/key-provider.ts';
import { CommandError } from './exit-code.ts';
import { createKeyProvider } from './key-provider.ts';
import type { Machine } from './machine.ts';
import { buildOf } from './version.ts';

export interface AccountRuntime {
  readonly poller: AccountPoller;
  /** Breaks off the calls under way. */
  close(): Promise<void>;
}

export interface AccountRuntimeDependencies {
  readonly machine: Machine;
  readonly sink: SnapshotSink;
  readonly metrics: SelfMetrics;
  readonly logger: Logger;
}

/**
 * Puts together all that one account needs, from its key to its poller. Rejects with a
 * `CommandError` if a key or a file that the configuration names cannot be used.
 */
export async function createAccountRuntime(
  account: AccountConfig,
  entries: readonly AppEntry[],
  { machine, sink, metrics, logger }: AccountRuntimeDependencies,
): Promise<AccountRuntime> {
  const { clock, random } = machine;
  const keyProvider = await keyProviderFor(account, machine, logger);
  hideProxyPassword(account, machine.redactor);
  const observer = metrics.apiObserver(account.name);
  const transport = createAccountTransport(account, {
    clock,
    random,
    observer,
    keyProvider,
    pacer: createPacer(account, { clock }),
    raw: await machine.openTransport({
      baseUrl: account.baseUrl,
      connections: account.concurrency,
      proxyUrl: account.proxyUrl,
      ca: await readCa(account, machine),
      userAgent: `newrelic-exporter/${buildOf(machine.env).version} (Prometheus exporter)`,
    }),
  });
  const rest = createRestSource(
    { maxPages: defaultMaxPages },
    { send: transport.send, observer, logger },
  );
  const poller = createAccountPoller(
    { account, entries },
    {
      source: withFreshKey(rest, keyProvider),
      clock,
      random,
      sink,
      logger,
      observer: metrics.pollObserver(account.name),
      requestsInFlight: () => transport.requestsInFlight(),
      backoffUntilMs: () => transport.backoffUntilMs(),
    },
  );
  return { poller, close: () => transport.close() };
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
    discover: async (selectors, signal) => {
      await keyProvider.reload();
      return source.discover(selectors, signal);
    },
  };
}

async function readCa(account: AccountConfig, machine: Machine): Promise<string | undefined> {
  const { caFile, name } = account;
  if (caFile === undefined) return undefined;
  try {
    return new TextDecoder().decode(await machine.readFile(caFile));
  } catch (error) {
    throw new CommandError(
      2,
      `cannot read the CA file ${caFile} of account ${name}: create it, readable for this user`,
      { cause: error },
    );
  }
}
