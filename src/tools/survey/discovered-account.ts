import { ApiError } from '../../model/api-error.ts';
import type { AppEntry, Query } from '../../model/config.ts';
import {
  nothingToAskOutcome,
  type PollOutcome,
  type QueryOutcome,
} from '../../model/poll-outcome.ts';
import { type Problem, problemsOf } from '../../model/problem.ts';
import {
  hostSelectorOf,
  isWorthPolling,
  type SelectedApplication,
  tagsWithoutValue,
  withNamedHosts,
} from '../../model/selected-application.ts';
import { polledBy, selectorText } from '../../model/selector.ts';
import type { Discovery } from '../../model/source.ts';
import { everyTag } from '../../newrelic/nerdgraph/entity-page.ts';
import { discoveryOptionsOf } from '../../poll/discovery-state.ts';
import { type OpenAccount } from './ask.ts';
import { selectApplications } from './selection.ts';

/** What one discovery has found of an account, and what its queries were answered. */
export interface DiscoveredAccount {
  readonly open: OpenAccount;
  readonly discovery: Discovery;
  readonly selected: readonly SelectedApplication[];
  /** The applications that entries exclude. */
  readonly excluded: readonly SelectedApplication[];
  /** Entries that match nothing; only a complete discovery can tell. */
  readonly missing: readonly AppEntry[];
  /** Until New Relic refuses the key. */
  readonly answers: readonly QueryAnswer[];
  /** Why the discovery is not complete, or the key refused, without secrets. */
  readonly failure: string | undefined;
}

export interface QueryAnswer {
  readonly query: Query;
  readonly outcome: QueryOutcome;
}

/** Discovers an account as the daemon does when it starts, and asks each of its queries once. */
export async function discovered(open: OpenAccount): Promise<DiscoveredAccount> {
  const { entries } = open;
  const discovery = await discoverSettled(open);
  const { complete, error, applications, pendingIds } = discovery;
  const { missing, ...chosen } = selectApplications(entries, applications);
  // A refused key need not be tried again.
  const isRefused = error instanceof ApiError && error.status === 401;
  const answers = isRefused ? [] : await answersOf(open);
  const refused = answers.find(({ outcome }) => outcome.unauthorized)?.outcome.error;
  const failure = complete ? refused?.message : (error?.message ?? 'no answer');
  return {
    open,
    discovery,
    ...chosen,
    missing: complete ? missing.filter((entry) => !isPending(entry, pendingIds)) : [],
    answers,
    failure: failure === undefined ? undefined : open.redacted(failure),
  };
}

/** Whether its id has not been asked for alone so far. */
export function isPending({ selector }: AppEntry, pendingIds: readonly string[]): boolean {
  return selector.kind === 'id' && pendingIds.includes(selector.id);
}

/** Each looks for ten ids. */
const mostDiscoveries = 4;

/** What the daemon finds when it no longer looks for ids that are not there, and the calls of that. */
async function discoverSettled(open: OpenAccount): Promise<Discovery> {
  const { selectors, tags = [] } = discoveryOptionsOf(open.entries);
  const wanted = { selectors, tags: tags.length > 0 ? [everyTag] : [] };
  let found = await open.discover(wanted);
  for (let count = 1; count < mostDiscoveries; count += 1) {
    if (!found.complete || (found.lookUpCalls ?? 0) === 0) break;
    const knownIds = found.applications.map(({ id }) => id);
    found = await open.discover(wanted, knownIds);
  }
  return { ...found, calls: found.calls - (found.lookUpCalls ?? 0) };
}

/** Asks one after the other. */
async function answersOf(open: OpenAccount): Promise<readonly QueryAnswer[]> {
  const answers: QueryAnswer[] = [];
  for (const query of open.queries) {
    const outcome = await open.query(query);
    answers.push({ query, outcome });
    if (outcome.unauthorized) break;
  }
  return answers;
}

/** The values of one application, asked for as a test. */
export interface Sample {
  readonly selected: SelectedApplication;
  readonly outcome: PollOutcome;
}

/** Asks for the values of an application. */
export async function sampleOf(open: OpenAccount, selected: SelectedApplication): Promise<Sample> {
  const outcomes = await open.poll([{ kind: 'application', selected }]);
  return { selected, outcome: outcomes.get(selected.application.id) ?? nothingToAskOutcome };
}

/**
 * Asks for the values of some applications, without those of their hosts: one for each list of metrics, those
 * with the most metrics of their own first, which may be misspelt.
 */
export async function samplesOf(
  { open, selected }: DiscoveredAccount,
  most: number,
): Promise<readonly Sample[]> {
  const sorted = selected
    .filter(isWorthPolling)
    .toSorted((one, other) => ownMetrics(other) - ownMetrics(one));
  const worth = sorted.filter((one, index) => index === 0 || ownMetrics(one) > 0);
  const byList = new Map(worth.toReversed().map((one) => [one.entry.series, one]));
  const samples: Sample[] = [];
  for (const one of [...byList.values()].toReversed().slice(0, most)) {
    const entry = { ...one.entry, application: true, hosts: false };
    samples.push({ ...(await sampleOf(open, { ...one, entry })), selected: one });
  }
  return samples;
}

/** How many metrics the entry of the application names itself. */
function ownMetrics({ entry: { series } }: SelectedApplication): number {
  return series.filter(({ preset }) => preset === undefined).length;
}

/** What a plan says that the daemon, too, says of an account. */
interface Planned {
  readonly stretch: number;
  readonly demand_per_minute: { readonly total: number };
  readonly budget_per_minute: number;
}

/**
 * What is wrong with the account, and is known after one poll: the daemon would say the same.
 *
 * @param plan as far as it can be told
 */
export function problemsFound(
  { open, discovery, selected, missing, answers, failure }: DiscoveredAccount,
  samples: readonly Sample[],
  plan: Planned | undefined,
): readonly Problem[] {
  const known = open.judged();
  const { complete, error } = discovery;
  const sinceMs = open.platform.clock.wallMs();
  const failing = (name: string, { reason, message }: ApiError) => {
    const of = { account: known.name, name, state: 'failing', isHeld: false } as const;
    return { ...of, failure: { reason, message, sinceMs }, dropMs: undefined, missing: undefined };
  };
  return problemsOf({
    ...known,
    up: complete,
    error: failure,
    errorReason: error instanceof ApiError ? error.reason : undefined,
    missingSelectors: [...new Set(missing.map(({ selector }) => selectorText(selector)))],
    missingTags: complete ? tagsWithoutValue(selected) : [],
    failing: samples.flatMap(({ selected: { application }, outcome }) => {
      const { id, name } = application;
      return outcome.error === undefined ? [] : [{ id, ...failing(name, outcome.error) }];
    }),
    queries: answers.flatMap(({ query, outcome }) =>
      outcome.error === undefined ? [] : [failing(query.name, outcome.error)],
    ),
    stretch: plan?.stretch ?? known.stretch,
    demandRequestsPerMinute: plan?.demand_per_minute.total,
    budgetRequestsPerMinute: plan?.budget_per_minute ?? known.budgetRequestsPerMinute,
  });
}

/** How many calls the metrics of an entry take, in words; `undefined` if no sample has shown it. */
export function metricCallsOf(
  { source, entries }: OpenAccount,
  [first]: readonly Sample[],
): string | undefined {
  if (first === undefined || first.outcome.error !== undefined) return undefined;
  return source.metricCalls?.(polledBy(entries));
}

/** The applications with their hosts. The own host is assumed: another machine may be the one that polls. */
export async function withHosts({
  open,
  selected,
}: DiscoveredAccount): Promise<readonly SelectedApplication[]> {
  return Promise.all(
    selected.map(async (one) => {
      if (hostSelectorOf(one)?.kind !== 'match') return withAssumedHosts(one);
      const { names, error } = await open.hostNames(one.application.id);
      return error === undefined ? withNamedHosts(one, names) : withAssumedHosts(one);
    }),
  );
}

/**
 * The application with the hosts that its entry chooses by name, under the assumption that this host
 * runs every application and that every pattern matches all hosts.
 */
export function withAssumedHosts({ application, entry }: SelectedApplication): SelectedApplication {
  // Where New Relic only counts hosts, any ids will do.
  const hostIds = application.hostIds ?? numbered(application.hostCount ?? 0);
  const withIds = { application: { ...application, hostIds }, entry };
  if (typeof entry.hosts === 'boolean') return withIds;
  const namedHostIds = entry.hosts.kind === 'self' ? [hostIds[0] ?? 'self'] : hostIds;
  return { ...withIds, namedHostIds };
}

export function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index + 1}`);
}
