import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery } from '../model/source.ts';
import type { PollObserver } from '../model/telemetry.ts';
import {
  type AppState,
  afterPoll,
  shouldAskHostNames,
  snapshotOf,
  staleAtMs,
  whenStale,
} from './app-state.ts';
import { applyDiscovery } from './app-table.ts';
import { demandPerMinute, slackOf, stretchOf } from './demand.ts';
import { applicationScope, type PollOutcome, type PollRequest } from './poll-application.ts';
import type { PollLog } from './poll-log.ts';
import { nextDue, placeMs } from './schedule.ts';

export interface AccountTableOptions {
  readonly account: AccountConfig;
  /** The entries of `apps` that belong to this account. */
  readonly entries: readonly AppEntry[];
  readonly discoveryIntervalMs: number;
}

export interface AccountTableDependencies {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly log: PollLog;
}

/** How the discovery of the account fares. */
export interface DiscoveryState {
  /** Whether the last one succeeded; `undefined` before the first one ended. */
  readonly up: boolean | undefined;
  readonly error: Error | undefined;
  /** Whether the vendor ever gave an answer that stands: a list, or a refusal. */
  readonly answered: boolean;
  readonly everUp: boolean;
  readonly failingSinceMs: number | undefined;
  readonly missing: readonly AppEntry[];
}

/** What is known of one account; the only place that replaces its states and publishes them. */
export class AccountTable {
  readonly #options: AccountTableOptions;
  readonly #dependencies: AccountTableDependencies;
  #states = new Map<string, AppState>();
  #discovery: DiscoveryState = {
    up: undefined,
    error: undefined,
    answered: false,
    everUp: false,
    failingSinceMs: undefined,
    missing: [],
  };
  /** The vendor refused the key since the last good discovery: asking on would be a storm. */
  #refused: ApiError | undefined;
  #demand = 0;
  #stretch = 1;
  #slack = 0;
  #nextOrder = 0;

  constructor(options: AccountTableOptions, dependencies: AccountTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  get states(): ReadonlyMap<string, AppState> {
    return this.#states;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  /** Calls a minute that it takes to poll everything as often as configured. */
  get demandPerMinute(): number {
    return this.#demand;
  }

  /** The factor by which the intervals are stretched; at least 1. */
  get stretch(): number {
    return this.#stretch;
  }

  discovered(discovery: Discovery): void {
    const { account, entries } = this.#options;
    const { clock, sink, log } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    const change = applyDiscovery(this.#states, entries, discovery, {
      monotonicMs: nowMs,
      nextOrder: this.#nextOrder,
    });
    const isFirst = this.#states.size === 0;
    const { complete, error } = discovery;
    this.#states = new Map(change.states);
    this.#nextOrder = change.nextOrder;
    this.#plan(discovery.calls);
    if (isFirst && this.#stretch > 1) this.#spreadFirstPolls(nowMs);
    this.#discovery = this.#discoveryAfter(discovery, change.missing, nowMs);
    if (complete) this.#refused = undefined;
    else if (isRefusal(error)) this.#refused = error;
    sink.accountUp(account.name, complete);
    for (const id of change.removed) sink.remove(account.name, id);
    for (const [id, state] of this.#states) this.#publish(id, state);
    log.discovered(discovery, change.states.size, this.#discovery.missing);
  }

  /** `undefined` when the application is no longer there. */
  requestFor(id: string): PollRequest | undefined {
    const state = this.#states.get(id);
    if (state === undefined) return undefined;
    return {
      selected: state.selected,
      dueMs: state.nextDueMs,
      overdueMs: this.#stretch > 1 ? Number.POSITIVE_INFINITY : state.overdueMs,
      spanMs: this.#intervalMsOf(state),
      askHostNames: shouldAskHostNames(state, this.#dependencies.clock.monotonicMs()),
    };
  }

  /** The outcome of a poll that is not even tried because the key is refused. */
  refusedOutcome(): PollOutcome | undefined {
    if (this.#refused === undefined) return undefined;
    return {
      reading: undefined,
      error: this.#refused,
      failed: new Set([applicationScope]),
      plannedCalls: 1,
      gone: false,
      refused: true,
      hostNames: undefined,
    };
  }

  polled(id: string, request: PollRequest, outcome: PollOutcome, durationMs: number): void {
    const { clock, observer, log } = this.#dependencies;
    const before = this.#states.get(id);
    if (outcome.refused) this.#refused ??= outcome.error;
    observer.polled(durationMs / 1000, outcome.failed.size === 0);
    if (before === undefined) return;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    const after = afterPoll(before, outcome, { hostNames: request.askHostNames }, now);
    const { skipped, ...due } = nextDue(request.dueMs, now.monotonicMs, {
      intervalMs: this.#intervalMsOf(after),
      slack: this.#slack,
      order: before.order,
    });
    if (skipped > 0) observer.skipped(skipped);
    this.#replace(id, { ...after, ...due });
    log.polled(before, after, outcome);
  }

  /** Drops the values of applications whose polls have failed for too long. */
  dropStale(): void {
    const nowMs = this.#dependencies.clock.monotonicMs();
    for (const [id, state] of this.#states) {
      const after = whenStale(state, nowMs);
      if (after !== state) this.#replace(id, after);
    }
  }

  dueIds(): readonly string[] {
    const nowMs = this.#dependencies.clock.monotonicMs();
    return [...this.#states].flatMap(([id, state]) => (state.nextDueMs <= nowMs ? [id] : []));
  }

  /** When something falls due next, on the monotonic clock; polls under way are not waited for. */
  nextEventMs(polling: ReadonlySet<string>): number | undefined {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [id, state] of this.#states) {
      if (!polling.has(id)) nextMs = Math.min(nextMs, state.nextDueMs);
      nextMs = Math.min(nextMs, staleAtMs(state) ?? nextMs);
    }
    return Number.isFinite(nextMs) ? nextMs : undefined;
  }

  #plan(discoveryCalls: number): void {
    const { account, discoveryIntervalMs } = this.#options;
    const selected = [...this.#states.values()].map((state) => state.selected);
    this.#demand = demandPerMinute(selected, discoveryCalls, discoveryIntervalMs);
    this.#stretch = stretchOf(this.#demand, account.requestsPerMinute);
    this.#slack = slackOf(this.#demand, account.requestsPerMinute);
    this.#dependencies.log.demand(this.#demand, account.requestsPerMinute, this.#stretch);
  }

  #discoveryAfter(
    { complete, error }: Discovery,
    missing: readonly AppEntry[] | undefined,
    nowMs: number,
  ): DiscoveryState {
    return {
      up: complete,
      error: complete ? undefined : error,
      answered: this.#discovery.answered || complete || isRefusal(error),
      everUp: this.#discovery.everUp || complete,
      failingSinceMs: complete ? undefined : (this.#discovery.failingSinceMs ?? nowMs),
      missing: missing ?? this.#discovery.missing,
    };
  }

  /** What cannot be polled at once is polled evenly from the start. */
  #spreadFirstPolls(nowMs: number): void {
    for (const [id, state] of this.#states) {
      const intervalMs = this.#intervalMsOf(state);
      const nextDueMs = nowMs + placeMs({ intervalMs, order: state.order });
      this.#states.set(id, { ...state, nextDueMs });
    }
  }

  #intervalMsOf({ selected }: AppState): number {
    return selected.entry.poll.intervalMs * this.#stretch;
  }

  #replace(id: string, state: AppState): void {
    this.#states.set(id, state);
    this.#publish(id, state);
  }

  #publish(id: string, state: AppState): void {
    const { sink } = this.#dependencies;
    const { name } = this.#options.account;
    if (state.gone) sink.remove(name, id);
    else sink.publish(snapshotOf(name, state, this.#isDiscoveryStale(state)));
  }

  #isDiscoveryStale({ selected }: AppState): boolean {
    const { failingSinceMs } = this.#discovery;
    if (failingSinceMs === undefined) return false;
    const failingMs = this.#dependencies.clock.monotonicMs() - failingSinceMs;
    return failingMs >= selected.entry.poll.staleAfterMs;
  }
}

function isRefusal(error: Error | undefined): error is ApiError {
  return error instanceof ApiError && error.reason === 'auth';
}
