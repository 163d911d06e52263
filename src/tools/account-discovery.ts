import { Account, type AccountContext } from '../daemon/accounts.ts';
import { buildOf } from '../daemon/build.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import { accountsInUse, type PreparedAccount, prepareAccount } from '../daemon/prepare-account.ts';
import { ApiError } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { AccountInUse, AppEntry, Config } from '../model/config.ts';
import { nothingToAskOutcome, type PollOutcome } from '../model/poll-outcome.ts';
import {
  hostSelectorOf,
  isWorthPolling,
  type SelectedApplication,
  wantedHostNames,
  withNamedHosts,
} from '../model/selected-application.ts';
import { polledBy, selectApplications } from '../model/selector.ts';
import { countOf, printable } from '../model/shown-text.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Question } from '../model/source.ts';
import type { Logger } from '../model/telemetry.ts';
import { Keys } from '../newrelic/calls/keys.ts';
import { everyTag } from '../newrelic/nerdgraph/entity-page.ts';
import { discoverWithin, discoveryOptionsOf, type Sought } from '../poll/discovery-state.ts';
import { createLogger } from '../publish/logger.ts';
import { createSelfMetrics, type SelfMetrics } from '../publish/self-metrics.ts';
import { withAssumedHosts } from './assumed-applications.ts';
import { type CallCosts, costsOfSource } from './call-costs.ts';
import { hostNamesOf } from './host-names.ts';
import { metricLister } from './metric-lister.ts';
import { eventTypesOf } from './nrql-metric-names.ts';
import { pollOnce } from './poll-once.ts';
import { answersOf, isEmptyHanded, type QueryAnswer } from './query-answers.ts';
import { type UnknownMetric, unknownMetricsOf } from './unknown-metrics.ts';
import { type VisibleAccounts, visibleAccounts } from './visible-accounts.ts';

/** An account of the configuration with entries, and the result of one discovery. */
export interface DiscoveredAccount extends AccountInUse {
  readonly discovery: Discovery;
  readonly selected: readonly SelectedApplication[];
  /** The applications that entries exclude. */
  readonly excluded: readonly SelectedApplication[];
  /** Entries that match nothing; only a complete discovery can tell. */
  readonly missingEntries: readonly AppEntry[];
  /** Ids that were not found in a batch, and have not been fetched singly so far. */
  readonly pendingIds: readonly string[];
  /** Why the discovery is not complete, or the key refused, without secrets. */
  readonly failure: string | undefined;
  /** Applications whose entry wants the host of this process, but that lack it; of the first ones only. */
  readonly hostless: readonly HostlessApplication[];
  /** The accounts that the key sees; `undefined` if nobody asked. */
  readonly visible: VisibleAccounts | undefined;
  /** What some applications answered; empty if nobody asked. */
  readonly samples: readonly Sample[];
  /** What each query was answered; empty if nobody asked. */
  readonly queryAnswers: readonly QueryAnswer[];
  /** The event types with data in the last day; `undefined` if nobody asked, or they cannot be read. */
  readonly eventTypes: readonly string[] | undefined;
  /** What polls cost, as far as the sample has shown. */
  readonly costs: CallCosts;
  /** How many calls the metrics of an entry take, in words; `undefined` if no sample has shown it. */
  readonly metricCalls: string | undefined;
}

/** The values of one application, asked for as a test. */
export interface Sample {
  readonly application: Pick<Application, 'id' | 'name'>;
  readonly entry: AppEntry;
  readonly outcome: PollOutcome;
  readonly unknownMetrics: readonly UnknownMetric[];
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
 * starts. Rejects with a `CommandError` if a key or a file cannot be read. Warnings go to `ownLogger`, or
 * to standard error.
 */
export async function discoverAccounts(
  config: Config,
  platform: ToolPlatform,
  purpose: DiscoveryPurpose,
  ownLogger?: Logger,
): Promise<readonly DiscoveredAccount[]> {
  const dependencies = await askingDependencies(platform, ownLogger);
  const prepared = await Promise.all(
    accountsInUse(config).map(async (inUse) => prepareAccount(inUse, dependencies)),
  );
  return Promise.all(
    prepared.map(async (one) => {
      const runtime = new Account(one, await platform.openTransport(one.wire), dependencies);
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
  ownLogger?: Logger,
): Promise<AccountContext> {
  const options = { logLevel: 'warn', logFormat: 'auto' } as const;
  const logger = ownLogger ?? (await createLogger(options, platform));
  const nothing = {
    status: () => [],
    seriesOf: () => 0,
    droppedSeriesOf: () => 0,
    nextTurn: platform.nextTurn,
  };
  const metrics = showingCalls(createSelfMetrics(buildOf(platform.env), nothing), platform);
  const keys = new Keys({ clock: platform.clock, logger });
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
          const what = `${printable(account)}: ${operation}`;
          progress.show(() => `${countOf(answered, 'answer')} from New Relic, ${what}`);
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
  runtime: Account,
  purpose: DiscoveryPurpose,
  platform: ToolPlatform,
): Promise<DiscoveredAccount> {
  const { redactor, stopSignal } = platform;
  const { source } = runtime;
  const { selectors, tags = [] } =
    purpose === 'list' ? everyApplication : discoveryOptionsOf({ entries });
  const wanted = { selectors, tags: tags.length > 0 ? [everyTag] : [] };
  const asking = { ...runtime.asking, source };
  const discover = async (known: readonly string[]): Promise<Discovery> =>
    discoverWithin(longestDiscoveryMs, asking, wanted, known, stopSignal);
  const discovery = await afterLookUps(await discover([]), discover);
  const { complete, error } = discovery;
  const selection = selectionOf(entries, discovery);
  const { selected } = selection;
  const isQueried = purpose !== 'list' && !isRefused(error);
  const queryAnswers = isQueried ? await answersOf(queries, source, platform) : [];
  const failure = failureOf(discovery, queryAnswers);
  return {
    account,
    entries,
    queries,
    discovery,
    ...selection,
    selected: purpose === 'list' ? selected : await withHosts(selected, runtime, stopSignal),
    failure: failure && redactor.redact(failure.message),
    ...(purpose === 'check'
      ? await trials({ account, selected, complete, queryAnswers }, runtime, platform)
      : { visible: undefined, hostless: [], eventTypes: undefined }),
    ...(await costsOf(polledBy(entries), selected, { runtime, purpose, platform })),
    queryAnswers,
  };
}

/** Why the account cannot be judged; a query may be the first to show that the key is refused. */
function failureOf(
  { complete, error }: Discovery,
  answers: readonly QueryAnswer[],
): Error | undefined {
  if (!complete) return error ?? new Error('no answer');
  return answers.find(({ outcome }) => outcome.unauthorized)?.outcome.error;
}

function selectionOf(
  entries: readonly AppEntry[],
  { applications, complete, pendingIds }: Discovery,
): Pick<DiscoveredAccount, 'selected' | 'excluded' | 'missingEntries' | 'pendingIds'> {
  const { missing, ...chosen } = selectApplications(entries, applications);
  if (!complete) return { ...chosen, missingEntries: [], pendingIds: [] };
  const missingEntries = missing.filter((entry) => !isPending(entry, pendingIds));
  return { ...chosen, missingEntries, pendingIds };
}

/** Whether its id has not been asked for alone so far. */
export function isPending({ selector }: AppEntry, pendingIds: readonly string[]): boolean {
  return selector.kind === 'id' && pendingIds.includes(selector.id);
}

/** Whether New Relic does not accept the key. */
function isRefused(error: Error | undefined): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Any selector will do: the vendor is asked for the whole list. */
const everyApplication: Pick<Sought, 'selectors' | 'tags'> = {
  tags: [everyTag],
  selectors: [{ kind: 'match', pattern: { source: '', test: () => true } }],
};

/** Each looks for ten ids. */
const mostDiscoveries = 4;

/** What the daemon finds when it no longer looks for ids that are not there, and the calls of that. */
async function afterLookUps(
  first: Discovery,
  discover: (known: readonly string[]) => Promise<Discovery>,
): Promise<Discovery> {
  let found = first;
  for (let count = 1; count < mostDiscoveries; count += 1) {
    if (!found.complete || (found.lookUpCalls ?? 0) === 0) break;
    found = await discover(found.applications.map(({ id }) => id));
  }
  return { ...found, calls: found.calls - (found.lookUpCalls ?? 0) };
}

/** What only a check asks for. */
async function trials(
  {
    account: { source, timeoutMs },
    selected,
    complete,
    queryAnswers,
  }: Pick<DiscoveredAccount, 'account' | 'selected' | 'queryAnswers'> & Pick<Discovery, 'complete'>,
  runtime: Account,
  platform: ToolPlatform,
): Promise<Pick<DiscoveredAccount, 'visible' | 'hostless' | 'eventTypes'>> {
  const { stopSignal } = platform;
  // A key that the REST API refuses need not be tried again.
  const isAsked = source.kind === 'nerdgraph' || complete;
  const isWondered = source.kind === 'nerdgraph' && queryAnswers.some(isEmptyHanded);
  return {
    visible: isAsked ? await visibleAccounts(runtime, platform) : undefined,
    hostless: await hostlessOf(selected, runtime, platform),
    eventTypes: isWondered
      ? await eventTypesOf({ ...source, timeoutMs }, runtime.asking, stopSignal)
      : undefined,
  };
}

/** What polls cost. That of several metrics is found out by a sample. */
async function costsOf(
  entries: readonly AppEntry[],
  selected: readonly SelectedApplication[],
  { runtime, purpose, platform }: CostsQuestion,
): Promise<Pick<DiscoveredAccount, 'samples' | 'costs' | 'metricCalls'>> {
  const { source } = runtime;
  const costs = costsOfSource(runtime.prepared.account.source.kind, source);
  const textNow = (): string | undefined => source.metricCalls?.(entries);
  const isAsked = purpose === 'check' || (purpose === 'plan' && textNow() !== undefined);
  const samples: Sample[] = [];
  const chosen = isAsked ? chosenSamples(selected).slice(0, mostSamples[purpose]) : [];
  for (const one of chosen) {
    samples.push(await sampleOf(one, runtime, purpose, platform));
  }
  const isShown = samples[0]?.outcome.error === undefined && samples.length > 0;
  return { samples, costs, metricCalls: isShown ? textNow() : undefined };
}

/** One is enough to see what calls cost; each list of metrics may have misspelt ones. */
const mostSamples: Readonly<Record<DiscoveryPurpose, number>> = { list: 0, plan: 1, check: 5 };

interface CostsQuestion {
  readonly runtime: Account;
  readonly purpose: DiscoveryPurpose;
  readonly platform: ToolPlatform;
}

/** How many metrics, which may be misspelt, the entry of the application names itself. */
function ownMetrics({ entry: { series } }: SelectedApplication): number {
  return series.filter(({ preset }) => preset === undefined).length;
}

/** An application for each list of metrics, those with the most metrics of their own first. */
function chosenSamples(selected: readonly SelectedApplication[]): readonly SelectedApplication[] {
  const sorted = selected
    .filter(isWorthPolling)
    .toSorted((one, other) => ownMetrics(other) - ownMetrics(one));
  const worth = sorted.filter((one, index) => index === 0 || ownMetrics(one) > 0);
  const byList = new Map(worth.toReversed().map((one) => [one.entry.series, one]));
  return [...byList.values()].toReversed();
}

/** Asks for the values of one application, without those of its hosts. */
async function sampleOf(
  { application, entry }: SelectedApplication,
  runtime: Account,
  purpose: DiscoveryPurpose,
  { clock, stopSignal }: ToolPlatform,
): Promise<Sample> {
  const question: Question = {
    kind: 'application',
    selected: { application, entry: { ...entry, application: true, hosts: false } },
    askHostNames: false,
    hostNames: new Map<string, string>(),
    isListed: () => true,
  };
  const options = { wallMs: clock.wallMs(), concurrency: 1, signal: stopSignal };
  const outcomes = await pollOnce(runtime.source, [question], options);
  const outcome = outcomes.get(application.id) ?? nothingToAskOutcome;
  const { reading } = outcome;
  const isRead = purpose === 'check' && reading !== undefined && outcome.error === undefined;
  const unknownMetrics = isRead
    ? await unknownMetricsOf(application.id, reading, {
        list: metricLister(runtime, 1),
        tellsValues: runtime.prepared.account.source.kind === 'rest',
        signal: stopSignal,
      })
    : [];
  return { application, entry, outcome, unknownMetrics };
}

/** Looks up the hosts that match. The own host is assumed: another machine may be the one that polls. */
async function withHosts(
  selected: readonly SelectedApplication[],
  account: Account,
  signal: AbortSignal,
): Promise<readonly SelectedApplication[]> {
  return Promise.all(
    selected.map(async (one) => {
      if (hostSelectorOf(one)?.kind !== 'match') return withAssumedHosts(one);
      const { names, error } = await hostNamesOf(account, one.application.id, signal);
      return error === undefined ? withNamedHosts(one, names) : withAssumedHosts(one);
    }),
  );
}

async function hostlessOf(
  selected: readonly SelectedApplication[],
  account: Account,
  { redactor, stopSignal }: ToolPlatform,
): Promise<readonly HostlessApplication[]> {
  const questions = selected.flatMap((one) => {
    const wanted = wantedHostNames(one);
    return wanted === undefined ? [] : { one, wanted };
  });
  const hostless: HostlessApplication[] = [];
  for (const { one, wanted } of questions.slice(0, mostLookUps)) {
    const { id, name } = one.application;
    const { names, error } = await hostNamesOf(account, id, stopSignal, wanted);
    const { namedHostIds = [] } = withNamedHosts(
      { ...one, application: { ...one.application, hostIds: undefined } },
      names,
    );
    const failure = error === undefined ? undefined : redactor.redact(error.message);
    if (namedHostIds.length === 0) hostless.push({ application: { id, name }, wanted, failure });
  }
  return hostless;
}
