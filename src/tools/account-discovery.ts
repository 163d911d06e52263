import { countOf } from '../cli/plain-text.ts';
import { AccountRuntime, type AccountRuntimeDependencies } from '../daemon/account-runtime.ts';
import { buildOf } from '../daemon/build.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import {
  type AccountInUse,
  accountsInUse,
  type PreparedAccount,
  prepareAccount,
} from '../daemon/prepare-account.ts';
import type { Application } from '../model/application.ts';
import type { AppEntry, Config, Query } from '../model/config.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import { subjectOf } from '../model/query.ts';
import {
  hostSelectorOf,
  isWorthPolling,
  type SelectedApplication,
  wantedHostNames,
  withNamedHosts,
} from '../model/selected-application.ts';
import { selectApplications, selectorText } from '../model/selector.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { CallCosts, Discovery, Question, Source } from '../model/source.ts';
import { discoverWithin } from '../poller/discovery-state.ts';
import { KeyTable } from '../rate-limit/key-table.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createSelfMetrics, type SelfMetrics } from '../telemetry/self-metrics.ts';
import { withAssumedHosts } from './assumed-applications.ts';
import { pollOnce } from './poll-once.ts';
import { type VisibleAccounts, visibleAccounts } from './visible-accounts.ts';

/** An account of the configuration with entries, and the result of one discovery. */
export interface DiscoveredAccount extends AccountInUse {
  readonly discovery: Discovery;
  readonly selected: readonly SelectedApplication[];
  /** Entries that match nothing; only a complete discovery can tell. */
  readonly missingEntries: readonly AppEntry[];
  /** The same as written. */
  readonly missing: readonly string[];
  /** Ids that were not found in a batch, and have not been fetched singly so far. */
  readonly pendingIds: readonly string[];
  /** Why the discovery is not complete, without secrets. */
  readonly failure: string | undefined;
  /** Applications whose entry wants the host of this process, but that lack it; of the first ones only. */
  readonly hostless: readonly HostlessApplication[];
  /** The accounts that the key sees; `undefined` if nobody asked. */
  readonly visible: VisibleAccounts | undefined;
  /** What one application answered; `undefined` if nobody asked. */
  readonly sample: Sample | undefined;
  /** What each query has brought; nothing if nobody asked. */
  readonly queryOutcomes: ReadonlyMap<Query, PollOutcome>;
  /** What polls cost, as far as the sample has shown. */
  readonly costs: CallCosts;
  /** How many calls the metrics of an entry take, in words; `undefined` if no sample has shown it. */
  readonly metricCalls: string | undefined;
}

/** The values of one application, asked for as a test. */
export interface Sample {
  readonly application: Pick<Application, 'id' | 'name'>;
  readonly outcome: PollOutcome;
}

/** An application in which the host of this process was not found. */
export interface HostlessApplication {
  readonly application: Pick<Application, 'id' | 'name'>;
  /** The names that it was looked for by. */
  readonly wanted: readonly string[];
  /** Why the search failed, without secrets; `undefined` if the host is not there. */
  readonly failure: string | undefined;
}

/** What the result is for; this decides what is asked. */
export type DiscoveryPurpose =
  /** To list all applications of the account, chosen or not. */
  | 'list'
  /** To plan: how many hosts match. Another machine may be the one that polls later. */
  | 'plan'
  /** To check what the entries choose, including the host of this process. */
  | 'check';

/** The host of this process is looked for in this many applications, one after the other. */
const mostLookUps = 10;
/** A longer discovery counts as failed. */
export const longestDiscoveryMs = 120_000;

/**
 * Discovers every account once, with its own key, budget and connections, as the daemon does when it
 * starts. Rejects with a `CommandError` if a key or a file cannot be read.
 */
export async function discoverAccounts(
  config: Config,
  platform: ToolPlatform,
  purpose: DiscoveryPurpose,
): Promise<readonly DiscoveredAccount[]> {
  const dependencies = await askingDependencies(platform);
  const prepared = await Promise.all(
    accountsInUse(config).map(async (inUse) => prepareAccount(inUse, dependencies)),
  );
  return Promise.all(
    prepared.map(async (one) => {
      const runtime = new AccountRuntime(one, await platform.openTransport(one.wire), dependencies);
      try {
        return await discoverAccount(one, runtime, purpose, platform);
      } finally {
        await runtime.close();
      }
    }),
  );
}

const noSink: SnapshotSink = {
  publish: () => undefined,
  remove: () => undefined,
  accountUp: () => undefined,
  removeAccount: () => undefined,
};

/** What an account needs that is only asked, and publishes nothing. */
export async function askingDependencies(
  platform: ToolPlatform,
): Promise<AccountRuntimeDependencies> {
  const logger = await createLogger({ logLevel: 'warn', logFormat: 'auto' }, platform);
  const nothing = {
    status: () => [],
    seriesOf: () => 0,
    droppedSeriesOf: () => 0,
    nextTurn: platform.nextTurn,
  };
  const metrics = showingCalls(createSelfMetrics(buildOf(platform.env), nothing), platform);
  const keys = new KeyTable({ clock: platform.clock, logger });
  return { platform, sink: noSink, metrics, logger, keys };
}

/** Metrics that count as before, and show each call to New Relic as progress. */
function showingCalls(
  metrics: SelfMetrics,
  { progress }: Pick<ToolPlatform, 'progress'>,
): SelfMetrics {
  let answered = 0;
  return {
    ...metrics,
    apiObserver: (account) => {
      const observer = metrics.apiObserver(account);
      return {
        ...observer,
        started: (operation) => {
          const what = `asking New Relic for ${operation} of account ${account}`;
          progress.show(() => `${what}, ${countOf(answered, 'answer')} so far`);
          observer.started(operation);
        },
        ended: (operation, code, durationSeconds) => {
          answered += 1;
          observer.ended(operation, code, durationSeconds);
        },
      };
    },
  };
}

async function discoverAccount(
  { account, entries, queries = [] }: PreparedAccount,
  runtime: AccountRuntime,
  purpose: DiscoveryPurpose,
  platform: ToolPlatform,
): Promise<DiscoveredAccount> {
  const { clock, redactor, stopSignal } = platform;
  const { source } = runtime;
  const dependencies = { source, clock };
  const selectors = purpose === 'list' ? [] : entries.map(({ selector }) => selector);
  const discovery = await discoverWithin(
    longestDiscoveryMs,
    dependencies,
    { selectors },
    [],
    stopSignal,
  );
  const { selected, missing } = selectApplications(entries, discovery.applications);
  const { complete, error, pendingIds } = discovery;
  const pending = new Set(pendingIds.map((id) => selectorText({ kind: 'id', id })));
  const missingEntries = missing.filter(({ selector }) => !pending.has(selectorText(selector)));
  return {
    account,
    entries,
    queries,
    discovery,
    selected: purpose === 'plan' ? await withHosts(selected, source, stopSignal) : selected,
    missingEntries: complete ? missingEntries : [],
    missing: complete ? missingEntries.map(({ selector }) => selectorText(selector)) : [],
    pendingIds: complete ? pendingIds : [],
    failure: complete ? undefined : redactor.redact(error?.message ?? 'no answer'),
    ...(purpose === 'check'
      ? await trials({ account, queries, selected, complete }, runtime, platform)
      : { visible: undefined, hostless: [], queryOutcomes: new Map() }),
    ...(await costsOf(entries, selected, { source, purpose, platform })),
  };
}

/** What only a check asks for. */
async function trials(
  {
    account,
    queries = [],
    selected,
    complete,
  }: Pick<DiscoveredAccount, 'account' | 'queries' | 'selected'> & Pick<Discovery, 'complete'>,
  runtime: AccountRuntime,
  platform: ToolPlatform,
): Promise<Pick<DiscoveredAccount, 'visible' | 'hostless' | 'queryOutcomes'>> {
  // A key that the REST API refuses need not be tried again.
  const isAsked = account.source.kind === 'nerdgraph' || complete;
  return {
    visible: isAsked ? await visibleAccounts(runtime, platform) : undefined,
    hostless: await hostlessOf(selected, runtime.source, platform),
    queryOutcomes: complete ? await runQueries(queries, runtime.source, platform) : new Map(),
  };
}

/** Runs each query once. */
async function runQueries(
  queries: readonly Query[],
  source: Pick<Source, 'batches'>,
  { clock, stopSignal }: ToolPlatform,
): Promise<ReadonlyMap<Query, PollOutcome>> {
  const options = { wallMs: clock.wallMs(), concurrency: 1, signal: stopSignal };
  const subjects = new Map(queries.map((query) => [subjectOf(query), query]));
  const outcomes = await pollOnce(source, Array.from(subjects.keys(), questionOf), options);
  return new Map(
    [...subjects].flatMap(([{ application }, query]) => {
      const outcome = outcomes.get(application.id);
      return outcome === undefined ? [] : [[query, outcome] as const];
    }),
  );
}

function questionOf(selected: SelectedApplication): Question {
  return { selected, askHostNames: false, hostNames: new Map(), isListed: () => true };
}

/** What polls cost. That of several metrics is found out by a sample. */
async function costsOf(
  entries: readonly AppEntry[],
  selected: readonly SelectedApplication[],
  { source, purpose, platform }: CostsQuestion,
): Promise<Pick<DiscoveredAccount, 'sample' | 'costs' | 'metricCalls'>> {
  const { costs } = source;
  const textNow = (): string | undefined => costs.ofMetrics?.(entries);
  const isAsked = purpose === 'check' || (purpose === 'plan' && textNow() !== undefined);
  const sample = isAsked ? await sampleOf(selected, source, platform) : undefined;
  const isShown = sample !== undefined && sample.outcome.error === undefined;
  return { sample, costs, metricCalls: isShown ? textNow() : undefined };
}

interface CostsQuestion {
  readonly source: Pick<Source, 'batches' | 'costs'>;
  readonly purpose: DiscoveryPurpose;
  readonly platform: ToolPlatform;
}

/** How many metrics, which may be misspelt, the entry of the application names itself. */
function ownMetrics({ entry: { series } }: SelectedApplication): number {
  return series.filter(({ preset }) => preset === undefined).length;
}

/** Asks for the values of one application, without those of its hosts. */
async function sampleOf(
  selected: readonly SelectedApplication[],
  source: Pick<Source, 'batches'>,
  { clock, stopSignal }: ToolPlatform,
): Promise<Sample | undefined> {
  const reporting = selected.filter(isWorthPolling);
  const [chosen] = reporting.toSorted((one, other) => ownMetrics(other) - ownMetrics(one));
  if (chosen === undefined) return undefined;
  const { application } = chosen;
  const entry = { ...chosen.entry, application: true, hosts: false };
  const question = questionOf({ application, entry });
  const options = { wallMs: clock.wallMs(), concurrency: 1, signal: stopSignal };
  const outcome = (await pollOnce(source, [question], options)).get(application.id);
  return outcome === undefined ? undefined : { application, outcome };
}

/** Looks up the hosts that match. The own host is assumed: another machine may be the one that polls. */
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
  { redactor, stopSignal }: ToolPlatform,
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
