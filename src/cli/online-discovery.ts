import type { AccountConfig, AppEntry, Config, Selector } from '../model/config.ts';
import { type SelectedApplication, selectApplications, selectorText } from '../model/selector.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Source } from '../model/source.ts';
import { discoverWithin } from '../poller/discover-within.ts';
import { hostSelectorOf, withNamedHosts } from '../poller/host-names.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';
import { createRateLimiters } from '../transport/rate-limiters.ts';
import { type AccountRuntime, createAccountRuntime } from './account-runtime.ts';
import { accountsInUse } from './accounts-in-use.ts';
import { withAssumedHosts } from './assumed-applications.ts';
import { createLogging } from './logging.ts';
import type { Machine } from './machine.ts';
import { openPrepared, type PreparedAccount, prepareAccount } from './prepare-account.ts';
import { buildOf } from './version.ts';

/** An account of the configuration that has entries, and what one discovery found in it. */
export interface DiscoveredAccount {
  readonly account: AccountConfig;
  readonly entries: readonly AppEntry[];
  readonly discovery: Discovery;
  readonly selected: readonly SelectedApplication[];
  /** Entries that match nothing, as written; only a complete discovery can tell. */
  readonly missing: readonly string[];
  /** Ids that were not found, but whose turn to be asked for alone did not come either. */
  readonly pendingIds: readonly string[];
  /** Why the discovery is not complete, without secrets. */
  readonly failure: string | undefined;
}

/** A discovery that takes longer has failed. */
const longestDiscoveryMs = 120_000;

const noSink: SnapshotSink = {
  publish: () => undefined,
  remove: () => undefined,
  accountUp: () => undefined,
  removeAccount: () => undefined,
};

/**
 * Discovers every account once, with its own key, budget and connections, as the daemon does when it
 * starts. Rejects with a `CommandError` if a key or a file cannot be read.
 *
 * @param ask what to look for; by default the entries of the account
 */
export async function discoverAccounts(
  config: Config,
  machine: Machine,
  ask: 'entries' | 'everything' = 'entries',
): Promise<readonly DiscoveredAccount[]> {
  const logger = await createLogging({ logLevel: 'warn', logFormat: 'auto' }, machine);
  const nothing = { status: () => [], seriesOf: () => 0, droppedSeriesOf: () => 0 };
  const metrics = createSelfMetrics(buildOf(machine.env), nothing);
  const limiters = createRateLimiters({ clock: machine.clock, logger });
  const prepared = await Promise.all(
    accountsInUse(config).map(async ({ account, entries }) =>
      prepareAccount(account, entries, { machine, logger }),
    ),
  );
  const dependencies = { machine, sink: noSink, metrics, logger, limiters };
  return Promise.all(
    prepared.map(async (one) => {
      const runtime = createAccountRuntime(one, await openPrepared(one, machine), dependencies);
      const selectors = ask === 'entries' ? one.entries.map(({ selector }) => selector) : [];
      try {
        return await discoverAccount(one, runtime, selectors, machine);
      } finally {
        await runtime.close();
      }
    }),
  );
}

async function discoverAccount(
  { account, entries }: PreparedAccount,
  { source }: AccountRuntime,
  selectors: readonly Selector[],
  machine: Machine,
): Promise<DiscoveredAccount> {
  const { clock, redactor, stopSignal } = machine;
  const dependencies = { source, clock };
  const discovery = await discoverWithin(
    longestDiscoveryMs,
    dependencies,
    selectors,
    [],
    stopSignal,
  );
  const { selected, missing } = selectApplications(entries, discovery.applications);
  const { complete, error, pendingIds } = discovery;
  const pending = new Set(pendingIds.map((id) => selectorText({ kind: 'id', id })));
  const notFound = missing.map(({ selector }) => selectorText(selector));
  return {
    account,
    entries,
    discovery,
    selected: await withHosts(selected, source, stopSignal),
    missing: complete ? notFound.filter((selector) => !pending.has(selector)) : [],
    pendingIds: complete ? pendingIds : [],
    failure: complete ? undefined : redactor.redact(error?.message ?? 'no answer'),
  };
}

/** The hosts that match are looked up; whether this host is one of them is for the daemon to find out. */
async function withHosts(
  selected: readonly SelectedApplication[],
  source: Pick<Source, 'hostNames'>,
  signal: AbortSignal,
): Promise<readonly SelectedApplication[]> {
  return Promise.all(
    selected.map(async (one) => {
      if (hostSelectorOf(one)?.kind !== 'match') return withAssumedHosts(one);
      const { names, error } = await source.hostNames(one.application.id, signal);
      return error === undefined ? withNamedHosts(one, names) : withAssumedHosts(one);
    }),
  );
}
