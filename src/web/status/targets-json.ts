import { seriesLabels } from '../../model/polled-series.ts';
import { type Problem, problemsOf, problemsOfProcess } from '../../model/problem.ts';
import type { ProblemKind } from '../../model/problem-kinds.ts';
import { throughputIn } from '../../model/snapshot.ts';
import type {
  AccountDetails,
  ApplicationState,
  ApplicationStatus,
  PolledStatus,
  ProcessStatus,
  QueryStatus,
  StatusSource,
} from '../../model/status.ts';
import { byFailure, isListed, namedValues, type RowValues, shownValues } from './applications.ts';
import { queriesOf } from './state.ts';
import { isoText } from './texts.ts';

/** What `/api/v1/targets` is asked for. */
export interface TargetsQuery {
  readonly state: 'any' | 'active' | 'dropped';
  /** Only applications of this account. */
  readonly scrapePool: string | undefined;
  /** Only the application with this id, with each of its hosts. */
  readonly applicationId: string | undefined;
}

/** The query, or what is wrong with it. */
export function targetsQueryOf(
  params: URLSearchParams,
): TargetsQuery | { readonly problem: string } {
  const state = params.get('state')?.toLowerCase() ?? 'any';
  if (state !== 'any' && state !== 'active' && state !== 'dropped') {
    return { problem: 'the parameter "state" must be any, active or dropped' };
  }
  const given = (name: string): string | undefined => {
    const value = params.get(name) ?? '';
    return value === '' ? undefined : value;
  };
  return { state, scrapePool: given('scrapePool'), applicationId: given('app_id') };
}

/** The same mistake may be in each of ten thousand entries. */
const mostProblems = 1000;

/** Applications or hosts in one part of the text: a few milliseconds. They may have many values. */
const rowsPerPart = 250;

/**
 * The state as JSON, in the manner of Prometheus' own `/api/v1/targets`: an application is a target, and
 * its account the scrape pool. Accounts and process are added. It comes in parts, so that other work can
 * have its turn between them; all of them are of the moment of the first one.
 */
export function* targetsJson(
  source: StatusSource,
  query: TargetsQuery,
): Generator<string, undefined> {
  const accounts = source.accounts();
  const isWanted = ({ account, id }: ApplicationStatus): boolean =>
    (query.scrapePool === undefined || account === query.scrapePool) &&
    (query.applicationId === undefined || id === query.applicationId);
  const applications = query.state === 'dropped' ? [] : source.applications().filter(isWanted);
  const rest = JSON.stringify({
    droppedTargets: [],
    droppedTargetCounts: Object.fromEntries(
      accounts.map(({ name, listedApplications: listed, applications: selected }) => [
        name,
        listed === undefined ? null : Math.max(0, listed - selected),
      ]),
    ),
    accounts: accounts.map(accountJson),
    queries: queriesOf(accounts)
      .filter(({ account }) => query.scrapePool === undefined || account === query.scrapePool)
      .toSorted(byFailure)
      .map(queryJson),
    process: processJson(source.process(), accounts),
  });
  yield '{"status":"success","data":{"activeTargets":[';
  if (query.applicationId !== undefined) yield* targetsWithHosts(applications);
  else yield* jsonParts(applications, targetJson);
  yield `],${rest.slice(1)}}\n`;
  return undefined;
}

function* jsonParts<Row>(rows: readonly Row[], json: (row: Row) => object): Generator<string> {
  for (let from = 0; from < rows.length; from += rowsPerPart) {
    const part = rows.slice(from, from + rowsPerPart).map(json);
    yield `${from === 0 ? '' : ','}${JSON.stringify(part).slice(1, -1)}`;
  }
}

function* targetsWithHosts(applications: readonly ApplicationStatus[]): Generator<string> {
  for (const [index, one] of applications.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(targetJson(one)).slice(0, -1)},"hostDetails":[`;
    yield* jsonParts(one.hostIds, (id) => hostJson(one, id));
    yield ']}';
  }
}

type Health = 'up' | 'down' | 'unknown';

const healthOf: Readonly<Record<ApplicationState, Health>> = {
  up: 'up',
  silent: 'up',
  waiting: 'unknown',
  failing: 'down',
  dropped: 'down',
  gone: 'down',
};

/** What Prometheus says of a target that it has not scraped. */
const never = '0001-01-01T00:00:00Z';

function targetJson(one: ApplicationStatus): object {
  const { account, id, name, selector, labels, reading } = one;
  return {
    discoveredLabels: {
      __meta_newrelic_account: account,
      __meta_newrelic_app_id: id,
      __meta_newrelic_app_name: name,
      __meta_newrelic_selector: selector,
    },
    labels: { account, app_id: id, app_name: name, ...labels },
    scrapePool: account,
    ...polledJson(one),
    requestsPerMinute: Object.fromEntries(throughputIn(reading)),
    values: valuesJson(shownValues(reading)),
    hosts: one.hostIds.length,
    failedHosts: Array.from(one.failedHostIds, (hostId) => hostIdentity(one, hostId)),
  };
}

/** How its polls go. */
function polledJson(one: PolledStatus): object {
  const { state, failure, reading, intervalSeconds: seconds } = one;
  return {
    lastError: failure?.message ?? '',
    lastScrape: timeJson(one.lastPollMs) ?? never,
    lastScrapeDuration: one.lastPollSeconds ?? 0,
    health: healthOf[state],
    // Prometheus and Go can read it.
    scrapeInterval: Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`,
    state,
    reason: failure?.reason ?? null,
    failingSince: timeJson(failure?.sinceMs),
    isHeld: one.isHeld,
    dropTime: timeJson(one.dropMs),
    lastSuccess: timeJson(one.lastSuccessMs),
    nextPoll: timeJson(one.nextPollMs),
    windowEnd: timeJson(reading?.windowEndMs),
  };
}

function accountJson(account: AccountDetails): unknown {
  const { key, clockSkew } = account;
  const problems = problemsOf(account);
  return {
    name: account.name,
    state: account.state,
    stateSince: timeJson(account.stateSinceMs),
    lastError: account.error ?? '',
    source: account.source,
    applications: isListed(account) ? account.applications : null,
    polledApplications: account.polledApplications,
    failingApplications: account.failing.length,
    listedApplications: account.listedApplications ?? null,
    excludedApplications: account.excludedApplications,
    hosts: isListed(account) ? account.hosts : null,
    missing: account.missingSelectors,
    missingMetrics: account.missingMetrics.slice(0, mostProblems),
    requestsLastMinute: account.requestsLastMinute,
    requestsInFlight: account.requestsInFlight,
    budgetRequestsPerMinute: account.budgetRequestsPerMinute,
    demandRequestsPerMinute: account.demandRequestsPerMinute ?? null,
    pollIntervalSeconds: account.pollIntervalSeconds,
    configuredIntervalSeconds: account.configuredIntervalSeconds,
    stretch: account.stretch,
    requestsPerMinute: account.requestsPerMinute,
    sharedRequestsPerMinute: account.sharedRequestsPerMinute,
    refusedRequests: account.refusals?.calls ?? 0,
    lastRefusal: timeJson(account.refusals?.lastMs),
    slowdowns: problems.flatMap(({ kind, text }) => (slow.has(kind) ? text : [])),
    pausedUntil: timeJson(account.backoffUntilMs),
    clockSkewSeconds: clockSkew?.isBelieved === true ? clockSkew.ms / 1000 : null,
    problems: withoutMost(problems).map(problemJson),
    lastDiscovery: timeJson(account.lastDiscoveryMs),
    nextDiscovery: timeJson(account.nextDiscoveryMs),
    key: {
      location: key.location,
      problem: key.problem ?? null,
      since: timeJson(key.sinceMs),
      readTime: timeJson(key.readMs),
    },
  };
}

const slow: ReadonlySet<ProblemKind> = new Set(['throttled', 'budget_too_small', 'answers_slow']);

/** As many of each kind as there is room for. */
function withoutMost(problems: readonly Problem[]): readonly Problem[] {
  const counts = new Map<ProblemKind, number>();
  return problems.filter(({ kind }) => {
    const count = counts.get(kind) ?? 0;
    counts.set(kind, count + 1);
    return count < mostProblems;
  });
}

function problemJson({ kind, tone, text, remedy, ...about }: Problem): object {
  const { sinceMs, subject = null, reason = null, isEffect = false } = about;
  return { kind, tone, since: timeJson(sinceMs), text, remedy, subject, reason, isEffect };
}

function queryJson(one: QueryStatus): unknown {
  const { query, reading, missing } = one;
  return {
    account: one.account,
    query: one.name,
    gauges: query.gauges.map(({ name }) => name),
    nrql: query.written,
    ...polledJson(one),
    rows: reading?.rows ?? null,
    series: reading?.series.length ?? 0,
    leftOut: reading?.leftOut ?? 0,
    unusable: Object.fromEntries(reading?.unusable ?? []),
    missing: missing ?? null,
    callsPerMinute: 60 / one.intervalSeconds,
  };
}

function processJson(process: ProcessStatus, accounts: readonly AccountDetails[]): unknown {
  const { nowMs, startedMs, build, shard, reload } = process;
  return {
    now: timeJson(nowMs),
    started: timeJson(startedMs),
    ...build,
    shard: shard.ordinal,
    totalShards: shard.total,
    config: {
      file: reload.configFile,
      includedFiles: reload.includedFiles,
      brokenFiles: reload.brokenFiles,
      inForceSince: timeJson(reload.inForceSinceMs),
      lastAttempt: timeJson(reload.lastAttemptMs),
      problem: reload.problem ?? null,
    },
    problems: problemsOfProcess(process, accounts).map(problemJson),
  };
}

/** What is published, as in the metrics; a series without a value is left out. */
function valuesJson(values: RowValues): readonly unknown[] {
  return namedValues(values).flatMap(({ name, series, value }) =>
    value === undefined ? [] : [{ name, labels: seriesLabels(series), value }],
  );
}

function hostIdentity({ hostNames }: ApplicationStatus, id: string): object {
  return { id, name: hostNames.get(id) ?? id };
}

function hostJson(one: ApplicationStatus, id: string): object {
  const { failedHostIds, reading } = one;
  return {
    ...hostIdentity(one, id),
    isFailed: failedHostIds.has(id),
    requestsPerMinute: Object.fromEntries(throughputIn(reading, id)),
    values: valuesJson(shownValues(reading, id)),
  };
}

/** A wall time as ISO 8601; null if there is none, or no calendar has it. */
function timeJson(atMs: number | undefined): string | null {
  return isoText(atMs ?? Number.NaN) ?? null;
}
