import { type AccountRuntime, createAccountRuntime } from '../daemon/account-runtime.ts';
import { buildOf } from '../daemon/build.ts';
import type { Platform } from '../daemon/platform.ts';
import {
  accountsInUse,
  openPrepared,
  type PreparedAccount,
  prepareAccount,
} from '../daemon/prepare-account.ts';
import type { Application } from '../model/application.ts';
import type { AccountConfig, AppEntry, Config } from '../model/config.ts';
import {
  hostSelectorOf,
  type SelectedApplication,
  wantedHostNames,
  withNamedHosts,
} from '../model/selected-application.ts';
import { selectApplications, selectorText } from '../model/selector.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { CallCosts, Discovery, Source } from '../model/source.ts';
import { discoverWithin } from '../poller/discovery-state.ts';
import { createRateLimiters } from '../rate-limit/rate-limiters.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createSelfMetrics } from '../telemetry/self-metrics.ts';

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
  /** Of the first applications whose entry wants the host of this process: those without it. */
  readonly hostless: readonly HostlessApplication[];
}

/** An application in which the host of this process was looked for, and not found. */
export interface HostlessApplication {
  readonly application: Pick<Application, 'id' | 'name'>;
  /** The names that it was looked for by. */
  readonly wanted: readonly string[];
  /** Why it is not known whether it is there, without secrets. */
  readonly failure: string | undefined;
}

/** What the answer is for: only that decides what is asked. */
export type DiscoveryPurpose =
  /** To list all that the account has, whatever is chosen. */
  | 'list'
  /** To plan: how many hosts match; this machine need not be the one that will poll. */
  | 'plan'
  /** To check what the entries choose, the host of this process included. */
  | 'check';

/** The host of this process is looked for in so many applications, one after the other. */
const mostLookUps = 10;
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
 */
export async function discoverAccounts(
  config: Config,
  platform: Platform,
  purpose: DiscoveryPurpose,
): Promise<readonly DiscoveredAccount[]> {
  const logger = await createLogger({ logLevel: 'warn', logFormat: 'auto' }, platform);
  const nothing = { status: () => [], seriesOf: () => 0, droppedSeriesOf: () => 0 };
  const metrics = createSelfMetrics(buildOf(platform.env), nothing);
  const limiters = createRateLimiters({ clock: platform.clock, logger });
  const prepared = await Promise.all(
    accountsInUse(config).map(async ({ account, entries }) =>
      prepareAccount(account, entries, { platform, logger }),
    ),
  );
  const dependencies = { platform, sink: noSink, metrics, logger, limiters };
  return Promise.all(
    prepared.map(async (one) => {
      const runtime = createAccountRuntime(one, await openPrepared(one, platform), dependencies);
      try {
        return await discoverAccount(one, runtime, purpose, platform);
      } finally {
        await runtime.close();
      }
    }),
  );
}

async function discoverAccount(
  { account, entries }: PreparedAccount,
  { source }: AccountRuntime,
  purpose: DiscoveryPurpose,
  platform: Platform,
): Promise<DiscoveredAccount> {
  const { clock, redactor, stopSignal } = platform;
  const dependencies = { source, clock };
  const selectors = purpose === 'list' ? [] : entries.map(({ selector }) => selector);
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
    selected: purpose === 'plan' ? await withHosts(selected, source, stopSignal) : selected,
    hostless: purpose === 'check' ? await hostlessOf(selected, source, platform) : [],
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

async function hostlessOf(
  selected: readonly SelectedApplication[],
  source: Pick<Source, 'hostNames'>,
  { redactor, stopSignal }: Platform,
): Promise<readonly HostlessApplication[]> {
  const questions = selected.flatMap((one) => {
    const wanted = wantedHostNames(one);
    return wanted === undefined ? [] : { one, wanted };
  });
  const hostless: HostlessApplication[] = [];
  for (const { one, wanted } of questions.slice(0, mostLookUps)) {
    const { id, name } = one.application;
    const { names, error } = await source.hostNames(id, stopSignal, wanted);
    const { namedHostIds = [] } = withNamedHosts(
      { ...one, application: { ...one.application, hostIds: undefined } },
      names,
    );
    const failure = error === undefined ? undefined : redactor.redact(error.message);
    if (namedHostIds.length === 0) hostless.push({ application: { id, name }, wanted, failure });
  }
  return hostless;
}

/** What only the vendor knows, as somebody who plans without asking it supposes it to be. */
export interface Assumptions {
  readonly applicationsPerMatch: number;
  readonly hostsPerApplication: number;
}

/** What a discovery is supposed to find. */
export interface AssumedDiscovery {
  readonly applications: readonly SelectedApplication[];
  readonly calls: number;
}

/** An entry by id or name is one application; one by pattern as many as assumed; all of them report. */
export function assumeApplications(
  entries: readonly AppEntry[],
  assumptions: Assumptions,
  costs: Pick<CallCosts, 'discovery'>,
): AssumedDiscovery {
  // A repeated selector chooses what the first one has taken.
  const bySelector = new Map<string, AppEntry>();
  for (const entry of entries) {
    const text = selectorText(entry.selector);
    if (!bySelector.has(text)) bySelector.set(text, entry);
  }
  const applications = [...bySelector].flatMap(([text, entry]) => {
    const count = entry.selector.kind === 'match' ? assumptions.applicationsPerMatch : 1;
    return Array.from({ length: count }, (_, index) => {
      const id = entry.selector.kind === 'id' ? entry.selector.id : `${text} ${index}`;
      const application = assumedApplication(id, assumptions.hostsPerApplication);
      return withAssumedHosts({ entry, application });
    });
  });
  return { applications, calls: costs.discovery(applications.length) };
}

/**
 * The application with the hosts that its entry is supposed to choose by their names: this host runs
 * every application, and all of the hosts match.
 */
function withAssumedHosts(selected: SelectedApplication): SelectedApplication {
  const { application, entry } = selected;
  if (typeof entry.hosts === 'boolean') return selected;
  const hostIds = application.hostIds ?? [];
  const namedHostIds = entry.hosts.kind === 'self' ? [hostIds[0] ?? 'self'] : hostIds;
  return { application, entry, namedHostIds };
}

/** With all that the vendor may say of an application. */
function assumedApplication(id: string, hosts: number): Application {
  const hostIds = Array.from({ length: hosts }, (_, index) => `${index + 1}`);
  return {
    id,
    name: id,
    language: 'unknown',
    healthStatus: 'green',
    reporting: true,
    lastReportedAtMs: 0,
    summary: {
      requestsPerMinute: 0,
      responseTimeSeconds: 0,
      errorRatio: 0,
      apdexScore: 0,
      apdexTargetSeconds: 0,
    },
    hostIds,
    instanceIds: hostIds,
  };
}
