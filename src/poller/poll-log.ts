import { ApiError } from '../model/api-error.ts';
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

/** The applications of the account now, by id. */
type States = ReadonlyMap<string, AppState>;

/** Names, of applications and metrics, may be of any length. */
const longestName = 256;
const mostExamples = 5;
const hourMs = 3_600_000;

const remedies = {
  metric:
    'see how the metric is spelt with "newrelic-exporter metrics"; if it is right, the agents do not send it: leave it out',
  dropped:
    'nothing could be read for stale_after: the status page and earlier lines of the application say why',
  missing:
    'correct the entry under apps, or use a key of the account that has it; with hosts: self see --host-name',
  hostNames: 'hosts are shown by their id until it works; host_names: false switches it off',
  speed: 'raise concurrency, or poll less',
};

/** Writes what has changed in one account: a line for each change, none for what stays as it is. */
export class PollLog {
  readonly #account: string;
  readonly #logger: Logger;
  readonly #clock: PollLogDependencies['clock'];
  #isDiscovered = false;
  /** The failure of discoveries that was last reported, if they go on failing. */
  #discoveryFailure: { readonly reason: string | undefined; readonly atMs: number } | undefined;
  #remindedMs = Number.NEGATIVE_INFINITY;
  #missing: ReadonlySet<string> = new Set();
  #areNamesFailing = false;
  #stretchedBy: 'budget' | 'speed' | undefined;

  constructor(account: string, { logger, clock }: PollLogDependencies) {
    this.#account = account;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** @param missing all selectors that choose nothing now */
  discovered(discovery: Discovery, known: States, missing: readonly string[]): void {
    const selected = [...known.values()].filter(
      (state) => state.selected.entry.query === undefined,
    );
    this.#reportDiscovery(discovery, selected.length);
    this.#remind(known, hourMs);
    if (discovery.complete) this.#reportMissing(missing);
  }

  polled(before: AppState, after: AppState, outcome: PollOutcome): void {
    const { error, failed, partCount } = outcome;
    const fields = this.#fieldsOf(after);
    if (!before.gone && after.gone) this.#logger.info(fields, 'application is gone');
    if (before.gone && !after.gone) this.#logger.info(fields, 'application is back');
    if (isNewFailure(before, after)) {
      this.#logger.warn({ ...fields, failed: failed.size, calls: partCount, error }, 'poll failed');
    }
    // A poll that was only late has not failed.
    if (before.failure !== undefined && isFailing(before) && !isFailing(after)) {
      this.#logger.info(fields, 'poll works again');
    }
    // Of an application that is gone no values are expected; that has its own line.
    if (before.droppedMs !== undefined && after.droppedMs === undefined && !after.gone) {
      this.#logger.info(fields, 'values are back');
    }
    this.#reportHostNames(after, outcome);
  }

  /** @param ids the applications whose values were dropped, because they were not renewed in time */
  dropped(ids: readonly string[], known: States): void {
    for (const id of ids) {
      const state = known.get(id);
      if (state === undefined) continue;
      const { failure, lastSuccessMs } = state;
      const success = lastSuccessMs === undefined ? {} : { last_success: timeText(lastSuccessMs) };
      const fields = { ...this.#fieldsOf(state), reason: failure?.reason, ...success };
      this.#logger.warn({ ...fields, remedy: remedies.dropped }, 'values dropped');
    }
  }

  /** Which applications fail after the last poll that there will be. */
  stillFailing(known: States): void {
    this.#remind(known, 0);
  }

  /** Tells whether the demand of the account fits what it may send. */
  demand({ demandPerMinute, budgetPerMinute, capacityPerMinute, stretch }: AccountPlan): void {
    const before = this.#stretchedBy;
    if (stretch <= 1) this.#stretchedBy = undefined;
    else if (before !== 'budget') {
      this.#stretchedBy = capacityPerMinute < budgetPerMinute ? 'speed' : 'budget';
    }
    if (this.#stretchedBy === before) return;
    const fields = {
      account: this.#account,
      demand_per_minute: Math.ceil(demandPerMinute),
      budget_per_minute: budgetPerMinute,
      interval_factor: Number(stretch.toFixed(2)),
    };
    if (this.#stretchedBy === undefined) {
      this.#logger.info(fields, 'demand fits the budget again');
    } else if (this.#stretchedBy === 'budget') {
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

  #fieldsOf({ selected }: AppState): Readonly<Record<string, string>> {
    const { id, name } = selected.application;
    if (selected.entry.query !== undefined) return { account: this.#account, query: name };
    return { account: this.#account, app_id: id, app_name: name.slice(0, longestName) };
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
    this.#logger.error({ account, error }, 'discovery failed');
  }

  /**
   * Says once an hour which applications have failed for an hour or more: whoever reads only the last
   * hours of a log would not see a failure that began before.
   */
  #remind(known: States, leastMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#remindedMs < leastMs) return;
    const latestMs = this.#clock.wallMs() - leastMs;
    const failing = [...known.values()]
      .filter((state) => failingSinceMs(state) <= latestMs)
      .toSorted((left, right) => failingSinceMs(left) - failingSinceMs(right));
    const [oldest] = failing;
    if (oldest === undefined) return;
    this.#remindedMs = nowMs;
    const fields = {
      account: this.#account,
      applications: failing.length,
      since: timeText(failingSinceMs(oldest)),
      reason: oldest.failure?.reason,
      examples: failing
        .slice(0, mostExamples)
        .map(({ selected }) => selected.application.name.slice(0, longestName)),
    };
    this.#logger.warn(fields, 'still failing');
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

  /** Names mostly fail alike for all applications: the account is the subject. */
  #reportHostNames(
    state: AppState,
    { hostNames, hostNamesError: error, failed }: PollOutcome,
  ): void {
    // The poll failed because it has no names, and that failure has its own line.
    if (failed.has(hostsScope) || (error ?? hostNames) === undefined) return;
    const isFailingNow = error !== undefined;
    if (isFailingNow === this.#areNamesFailing) return;
    this.#areNamesFailing = isFailingNow;
    const fields = this.#fieldsOf(state);
    if (!isFailingNow) this.#logger.info(fields, 'host names available again');
    else {
      const remedy = remedies.hostNames;
      this.#logger.warn({ ...fields, error, remedy }, 'host names not available');
    }
  }
}

function timeText(wallMs: number): string {
  return new Date(wallMs).toISOString();
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

/** Wall time; infinite if the application does not fail. A poll that never ends has no failure yet. */
function failingSinceMs(state: AppState): number {
  return isFailing(state) ? (state.failure?.sinceMs ?? state.lastSuccessMs ?? Infinity) : Infinity;
}
