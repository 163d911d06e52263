import { ApiError } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { Clock } from '../model/clock.ts';
import { hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import type { Discovery } from '../model/source.ts';
import type { Logger, MissingMetric } from '../model/telemetry.ts';
import type { AccountPlan } from './account-plan.ts';
import type { AppState } from './app-state.ts';

export interface PollLogDependencies {
  /** Bounds the number of lines. */
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
}

type States = ReadonlyMap<string, AppState>;

/** Writes what has changed in one account: a line for each change, none for what stays as it is. */
export interface PollLog {
  /**
   * @param known the applications of the account now, by id
   * @param missing all selectors that choose nothing now
   */
  discovered(discovery: Discovery, known: States, missing: readonly string[]): void;
  polled(before: AppState, after: AppState, outcome: PollOutcome): void;
  /**
   * @param ids the applications whose values were dropped, because they were not renewed in time
   * @param known the applications of the account now, by id
   */
  dropped(ids: readonly string[], known: States): void;
  /**
   * Which applications fail after the last poll that there will be.
   *
   * @param known the applications of the account now, by id
   */
  stillFailing(known: States): void;
  demand(plan: AccountPlan): void;
  /** Metrics that turn out to have no value. */
  missingMetrics(metrics: readonly MissingMetric[]): void;
}

/** Names, of applications and metrics, may be of any length. */
const longestName = 256;

const metricRemedy =
  'see how the metric is spelt with "newrelic-exporter metrics"; if it is right, the agents do not send it: leave it out';

export function createPollLog(account: string, dependencies: PollLogDependencies): PollLog {
  const { logger } = dependencies;
  const reportDiscovery = createDiscoveryReport(account, dependencies);
  const remind = createReminder(account, dependencies);
  const reportMissing = createMissingReport(account, dependencies);
  const reportNames = createHostNamesReport(account, dependencies);
  return {
    discovered: (discovery, known, missing) => {
      reportDiscovery(discovery, known.size);
      remind(known);
      if (discovery.complete) reportMissing(missing);
    },
    polled: (before, after, outcome) => {
      reportPoll({ account, ...dependencies }, before, after, outcome);
      reportNames(after.selected.application, outcome);
    },
    dropped: (ids, known) => {
      for (const id of ids) {
        const state = known.get(id);
        if (state === undefined) continue;
        const { selected, failure, lastSuccessMs } = state;
        const fields = { account, ...applicationFieldsOf(selected.application) };
        const remedy =
          'nothing could be read for stale_after: the status page and earlier lines of the application say why';
        const reason = failure?.reason;
        const success =
          lastSuccessMs === undefined ? {} : { last_success: timeText(lastSuccessMs) };
        logger.warn({ ...fields, reason, ...success, remedy }, 'values dropped');
      }
    },
    stillFailing: (known) => {
      remind(known, 0);
    },
    demand: createDemandReport(account, dependencies),
    missingMetrics: (metrics) => {
      for (const { selector, name, metric, value } of metrics) {
        const fields = { account, selector, name, metric: metric.slice(0, longestName), value };
        logger.warn({ ...fields, remedy: metricRemedy }, 'metric never has a value');
      }
    },
  };
}

/** The fields that name an application: the id identifies it. */
function applicationFieldsOf({ id, name }: Application): Readonly<Record<string, string>> {
  return { app_id: id, app_name: name.slice(0, longestName) };
}

function timeText(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

function reportPoll(
  { account, logger }: PollLogDependencies & { readonly account: string },
  before: AppState,
  after: AppState,
  { error, failed, partCount }: PollOutcome,
): void {
  const fields = { account, ...applicationFieldsOf(after.selected.application) };
  if (!before.gone && after.gone) logger.info(fields, 'application is gone');
  if (before.gone && !after.gone) logger.info(fields, 'application is back');
  if (isNewFailure(before, after)) {
    logger.warn({ ...fields, failed: failed.size, calls: partCount, error }, 'poll failed');
  }
  // A poll that was only late has not failed.
  if (before.failure !== undefined && isFailing(before) && !isFailing(after)) {
    logger.info(fields, 'poll works again');
  }
  // Of an application that is gone no values are expected; that has its own line.
  if (before.droppedMs !== undefined && after.droppedMs === undefined && !after.gone) {
    logger.info(fields, 'values are back');
  }
}

function isFailing({ pollSucceeded }: AppState): boolean {
  return pollSucceeded === false;
}

/** Another reason is another failure. */
function isNewFailure(before: AppState, after: AppState): boolean {
  return (
    isFailing(after) && !(isFailing(before) && before.failure?.reason === after.failure?.reason)
  );
}

const hourMs = 3_600_000;

/** One that goes on failing for the same reason has a line once an hour. */
function createDiscoveryReport(account: string, { logger, clock }: PollLogDependencies) {
  let isFirst = true;
  let reported: { readonly reason: string | undefined; readonly atMs: number } | undefined;
  return ({ complete, applications, error }: Discovery, selected: number): void => {
    if (complete) {
      const fields = { account, listed: applications.length, selected };
      if (isFirst) logger.info(fields, 'account discovered');
      else if (reported !== undefined) logger.info(fields, 'discovery works again');
      reported = undefined;
    } else {
      const reason = error instanceof ApiError ? error.reason : undefined;
      const atMs = clock.monotonicMs();
      if (reported?.reason !== reason || atMs - (reported?.atMs ?? -Infinity) >= hourMs) {
        logger.error({ account, error }, 'discovery failed');
        reported = { reason, atMs };
      }
    }
    isFirst = false;
  };
}

const mostExamples = 5;

/**
 * Says once an hour which applications have failed for an hour or more: whoever reads only the last
 * hours of a log would not see a failure that began before.
 */
function createReminder(account: string, { logger, clock }: PollLogDependencies) {
  let lastMs = Number.NEGATIVE_INFINITY;
  return (known: States, leastMs = hourMs): void => {
    const nowMs = clock.monotonicMs();
    if (nowMs - lastMs < leastMs) return;
    const latestMs = clock.wallMs() - leastMs;
    const failing = [...known.values()]
      .filter((state) => failingSinceMs(state) <= latestMs)
      .toSorted((left, right) => failingSinceMs(left) - failingSinceMs(right));
    const [oldest] = failing;
    if (oldest === undefined) return;
    lastMs = nowMs;
    const fields = {
      account,
      applications: failing.length,
      since: timeText(failingSinceMs(oldest)),
      reason: oldest.failure?.reason,
      examples: failing
        .slice(0, mostExamples)
        .map(({ selected }) => applicationFieldsOf(selected.application)['app_name']),
    };
    logger.warn(fields, 'still failing');
  };
}

/** Wall time; infinite if the application does not fail. A poll that never ends has no failure yet. */
function failingSinceMs(state: AppState): number {
  return isFailing(state) ? (state.failure?.sinceMs ?? state.lastSuccessMs ?? Infinity) : Infinity;
}

function createMissingReport(account: string, { logger }: PollLogDependencies) {
  let before: ReadonlySet<string> = new Set();
  const remedy =
    'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name';
  return (missing: readonly string[]): void => {
    const after = new Set(missing);
    for (const selector of after) {
      if (before.has(selector)) continue;
      logger.warn({ account, selector, remedy }, 'entry of apps matches nothing');
    }
    for (const selector of before) {
      if (!after.has(selector)) logger.info({ account, selector }, 'entry of apps matches again');
    }
    before = after;
  };
}

/** Names mostly fail alike for all applications: the account is the subject. */
function createHostNamesReport(account: string, { logger }: PollLogDependencies) {
  let areFailing = false;
  const remedy = 'hosts are shown by their id until it works; host_names: false switches it off';
  return (
    application: Application,
    { hostNames, hostNamesError: error, failed }: PollOutcome,
  ): void => {
    // The poll failed because it has no names, and that failure has its own line.
    if (failed.has(hostsScope) || (error ?? hostNames) === undefined) return;
    const wasFailing = areFailing;
    areFailing = error !== undefined;
    if (areFailing === wasFailing) return;
    const fields = { account, ...applicationFieldsOf(application) };
    if (wasFailing) logger.info(fields, 'host names available again');
    else logger.warn({ ...fields, error, remedy }, 'host names not available');
  };
}

/** Tells whether the demand of an account fits what it may send. */
function createDemandReport(
  account: string,
  { logger }: PollLogDependencies,
): (plan: AccountPlan) => void {
  let reported: 'budget' | 'speed' | undefined;
  return ({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }) => {
    const before = reported;
    const limit = capacityPerMinute < budgetPerMinute ? 'speed' : 'budget';
    if (stretch <= 1) reported = undefined;
    else if (reported !== 'budget') reported = limit;
    if (reported === before) return;
    const fields = {
      account,
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (reported === undefined) {
      logger.info(fields, 'demand fits the budget again');
    } else if (reported === 'budget') {
      logger.warn(fields, 'demand exceeds the budget: intervals are stretched');
    } else {
      logger.warn(
        {
          ...fields,
          capacity_per_minute: Math.floor(capacityPerMinute),
          remedy: 'raise concurrency, or poll less',
        },
        'New Relic answers too slowly for the demand: intervals are stretched',
      );
    }
  };
}
