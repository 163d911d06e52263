import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Discovery } from '../model/source.ts';
import type { Failure } from '../model/status.ts';
import type { Logger, MissingMetric } from '../model/telemetry.ts';
import { hourMs } from '../model/time.ts';
import type { AccountPlan } from './account-plan.ts';
import type { AppState } from './app-state.ts';
import type { Context } from './context.ts';
import type { QueryState } from './query-state.ts';
import type { State } from './states.ts';
import type { SubjectState } from './subject-state.ts';

/** Names, of applications and metrics, may be of any length. */
const longestName = 256;
const mostExamples = 5;

const remedies = {
  metric:
    'see how the metric is spelt with "newrelic-exporter metrics"; if it is right, the agents do not send it: leave it out',
  missing:
    'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name',
  speed: 'raise concurrency, or poll less',
};

/** Writes what has changed in one account: a line for each change, none for what stays as it is. */
export class PollLog {
  readonly #account: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #isRefused: () => boolean;
  /** Failures that have a line, or follow one that has: only these have a line at their end. */
  readonly #told = new WeakSet<Failure>();
  #isDiscovered = false;
  /** The failure of discoveries that was last reported, if they go on failing. */
  #discoveryFailure: { readonly reason: string | undefined; readonly atMs: number } | undefined;
  #remindedMs = Number.NEGATIVE_INFINITY;
  #missing: ReadonlySet<string> = new Set();
  #isStretched = false;

  /** @param isRefused whether New Relic refused the key in the last discovery */
  constructor(account: string, { logger, clock }: Context, isRefused: () => boolean) {
    this.#account = account;
    this.#logger = logger;
    this.#clock = clock;
    this.#isRefused = isRefused;
  }

  /**
   * @param selected how many applications are polled
   * @param missing all selectors that choose nothing now
   */
  discovered(discovery: Discovery, selected: number, missing: readonly string[]): void {
    this.#reportDiscovery(discovery, selected);
    if (discovery.complete) this.#reportMissing(missing);
  }

  polled(before: AppState, after: AppState, outcome: PollOutcome): void {
    const fields = this.#fieldsOf(after);
    if (!before.gone && after.gone) this.#logger.info(fields, 'application is gone');
    if (before.gone && !after.gone) this.#logger.info(fields, 'application is back');
    const { error, failed, partCount } = outcome;
    this.#reportPoll(before, after, error, { failed: failed.size, calls: partCount });
  }

  queryPolled(before: QueryState, after: QueryState, error: ApiError | undefined): void {
    this.#reportPoll(before, after, error);
  }

  /** @param states of those whose values were dropped, because they were not renewed in time */
  dropped(states: readonly State[]): void {
    for (const state of states) {
      const { failure, lastSuccessMs } = state;
      const success = lastSuccessMs === undefined ? {} : { last_success: timeText(lastSuccessMs) };
      const fields = { ...this.#fieldsOf(state), reason: failure?.reason, ...success };
      this.#logger.warn({ ...fields, remedy: this.#whyDropped(state) }, 'values dropped');
    }
  }

  /** Where to read why values were dropped. */
  #whyDropped(state: SubjectState): string {
    const { failure } = state;
    const isTold = this.#toldOf(state) !== undefined;
    const isOfKey = this.#isRefused() || (failure?.reason === 'auth' && !isTold);
    if (isOfKey) return 'the key is refused: see "discovery failed" in the log';
    if (isTold) return 'see "poll failed" in the log, and the status page';
    return 'its polls wait: see the status page, and "rate limited by New Relic" in the log';
  }

  /**
   * Says once an hour what has failed for an hour or more: whoever reads only the last hours of a log would
   * not see a failure that began before.
   *
   * @param leastMs 0 after the last poll that there will be
   */
  stillFailing(states: readonly State[], leastMs: number = hourMs): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#remindedMs < leastMs) return;
    const latestMs = this.#clock.wallMs() - leastMs;
    const failing = states
      .filter((state) => failingSinceMs(state) <= latestMs)
      .toSorted((left, right) => failingSinceMs(left) - failingSinceMs(right));
    const [oldest] = failing;
    if (oldest === undefined) return;
    this.#remindedMs = nowMs;
    const queries = failing.filter(({ kind }) => kind === 'query').length;
    const fields = {
      account: this.#account,
      ...(queries < failing.length && { applications: failing.length - queries }),
      ...(queries > 0 && { queries }),
      since: timeText(failingSinceMs(oldest)),
      reason: oldest.failure?.reason,
      examples: failing.slice(0, mostExamples).map(nameOf),
    };
    this.#logger.warn(fields, 'still failing');
  }

  /** @param why and what to do */
  queryMissing(state: QueryState, why: string): void {
    this.#logger.warn({ ...this.#fieldsOf(state), remedy: why }, 'query never has a value');
  }

  /** Tells whether the demand of the account fits what it may send. */
  demand({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }: AccountPlan): void {
    const isStretched = stretch > 1;
    if (isStretched === this.#isStretched) return;
    this.#isStretched = isStretched;
    const fields = {
      account: this.#account,
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (!isStretched) {
      this.#logger.info(fields, 'demand fits the budget again');
    } else if (capacityPerMinute >= budgetPerMinute) {
      this.#logger.warn(fields, 'demand exceeds the budget: intervals are stretched');
    } else {
      const capacity = { capacity_per_minute: Math.floor(capacityPerMinute) };
      this.#logger.warn(
        { ...fields, ...capacity, remedy: remedies.speed },
        'New Relic answers too slowly for the demand: intervals are stretched',
      );
    }
  }

  /** Metrics that turn out to have no value. */
  missingMetrics(metrics: readonly MissingMetric[]): void {
    for (const { metric, ...missing } of metrics) {
      const fields = { account: this.#account, ...missing, metric: metric.slice(0, longestName) };
      this.#logger.warn({ ...fields, remedy: remedies.metric }, 'metric never has a value');
    }
  }

  #fieldsOf(state: State): Readonly<Record<string, string>> {
    if ('query' in state) return { account: this.#account, query: state.query.name };
    const { id } = state.selected.application;
    return { account: this.#account, app_id: id, app_name: nameOf(state) };
  }

  #reportPoll(
    before: State,
    after: State,
    error: ApiError | undefined,
    calls?: { readonly failed: number; readonly calls: number },
  ): void {
    const fields = this.#fieldsOf(after);
    const told = this.#toldOf(before);
    if (!isFailing(after)) {
      if (told !== undefined) this.#logger.info(fields, 'poll works again');
    } else if (after.failure !== undefined) {
      // Another reason is another failure.
      const isKnown = told?.reason === after.failure.reason;
      const isTold = !isKnown && !this.#isOfAccount(before.failure, error);
      if (isTold) this.#logger.warn({ ...fields, ...calls, error }, 'poll failed');
      if (isTold || told !== undefined) this.#told.add(after.failure);
    }
    // Of an application that is gone no values are expected; that has its own line.
    if (before.droppedMs !== undefined && after.droppedMs === undefined && !after.gone) {
      this.#logger.info(fields, 'values are back');
    }
  }

  #toldOf(state: SubjectState): Failure | undefined {
    const { failure } = state;
    return isFailing(state) && failure && this.#told.has(failure) ? failure : undefined;
  }

  /**
   * Whether the line of a discovery says it for all: a 401 is one of the key, and brings the next discovery
   * forward. If that succeeds nevertheless, the poll after this one tells.
   */
  #isOfAccount(before: Failure | undefined, error: ApiError | undefined): boolean {
    const isFirst401 = error?.status === 401 && before?.reason !== 'auth';
    return this.#isRefused() || (this.#isDiscovered && isFirst401);
  }

  /** One that goes on failing for the same reason has a line once an hour. */
  #reportDiscovery({ complete, applications, error }: Discovery, selected: number): void {
    const account = this.#account;
    const before = this.#discoveryFailure;
    if (complete) {
      const fields = { account, listed: applications.length, selected };
      if (before !== undefined) this.#logger.info(fields, 'discovery works again');
      else if (!this.#isDiscovered) this.#logger.info(fields, 'account discovered');
      this.#isDiscovered = true;
      this.#discoveryFailure = undefined;
      return;
    }
    const reason = error instanceof ApiError ? error.reason : undefined;
    const atMs = this.#clock.monotonicMs();
    if (before !== undefined && before.reason === reason && atMs - before.atMs < hourMs) return;
    this.#discoveryFailure = { reason, atMs };
    const refused = 'no application and no query is polled until New Relic accepts the key';
    const problem = this.#isRefused() ? { problem: refused } : {};
    this.#logger.error({ account, error, ...problem }, 'discovery failed');
  }

  #reportMissing(missing: readonly string[]): void {
    const account = this.#account;
    const before = this.#missing;
    this.#missing = new Set(missing);
    for (const selector of this.#missing) {
      if (before.has(selector)) continue;
      const fields = { account, selector, remedy: remedies.missing };
      this.#logger.warn(fields, 'entry of apps matches nothing');
    }
    for (const selector of before) {
      if (this.#missing.has(selector)) continue;
      this.#logger.info({ account, selector }, 'entry of apps matches again');
    }
  }
}

function timeText(wallMs: number): string {
  return new Date(wallMs).toISOString();
}

function nameOf(state: State): string {
  const { name } = 'query' in state ? state.query : state.selected.application;
  return name.slice(0, longestName);
}

function isFailing({ pollSucceeded }: SubjectState): boolean {
  return pollSucceeded === false;
}

/** Wall time; infinite if the application does not fail. A poll that never ends has no failure yet. */
function failingSinceMs(state: SubjectState): number {
  return isFailing(state) ? (state.failure?.sinceMs ?? state.lastSuccessMs ?? Infinity) : Infinity;
}
