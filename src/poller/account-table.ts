import type { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import type { SnapshotSink } from '../model/snapshot.ts';
import type { Discovery } from '../model/source.ts';
import type { PollObserver } from '../model/telemetry.ts';
import type { AccountHandover } from './account-handover.ts';
import {
  type AppState,
  afterPoll,
  shouldAskHostNames,
  snapshotOf,
  staleAtMs,
  whenStale,
} from './app-state.ts';
import { applyDiscovery, takeOverStates } from './app-table.ts';
import { type Demand, demandOf, hostsToPoll, slackOf, stretchOf } from './demand.ts';
import {
  type DiscoveryState,
  discoveryAfter,
  initialDiscovery,
  isRefusal,
} from './discovery-state.ts';
import type { PollRequest } from './poll-application.ts';
import type { PollLog } from './poll-log.ts';
import { type PollOutcome, untriedOutcome } from './poll-outcome.ts';
import { nextDue, placeMs } from './schedule.ts';

/** A poll may take as long as its interval, or as this if that is longer. */
const longestShortPollMs = 120_000;

export interface AccountTableOptions {
  readonly account: AccountConfig;
  /** The entries of `apps` that belong to this account. */
  readonly entries: readonly AppEntry[];
  readonly discoveryIntervalMs: number;
  /** What the poller before this one knew of the account. */
  readonly handover: AccountHandover | undefined;
}

export interface AccountTableDependencies {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly log: PollLog;
}

/** What is known of one account; the only place that replaces its states and publishes them. */
export class AccountTable {
  readonly #options: AccountTableOptions;
  readonly #dependencies: AccountTableDependencies;
  #states = new Map<string, AppState>();
  #discovery = initialDiscovery;
  /** The vendor refused the key since the last good discovery: asking on would be a storm. */
  #refused: ApiError | undefined;
  #demand: Demand = { polls: 0, discovery: 0 };
  #hosts = 0;
  #stretch = 1;
  #slack = 0;
  #nextOrder = 0;

  constructor(options: AccountTableOptions, dependencies: AccountTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    if (options.handover !== undefined) this.#takeOver(options.handover);
    // An account that nobody has heard of yet must not look like a healthy one without applications.
    else dependencies.sink.accountUp(options.account.name, false);
  }

  handover(): AccountHandover {
    return { states: this.#states, discovery: this.#discovery, nextOrder: this.#nextOrder };
  }

  get states(): ReadonlyMap<string, AppState> {
    return this.#states;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  /** Calls a minute that it takes to poll everything as often as configured. */
  get demandPerMinute(): number {
    return this.#demand.polls + this.#demand.discovery;
  }

  /** Hosts to ask for, of all applications together. */
  get hosts(): number {
    return this.#hosts;
  }

  knownIds(): readonly string[] {
    return [...this.#states.keys()];
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
    this.#discovery = discoveryAfter(this.#discovery, discovery, change.missing, nowMs);
    this.#refused = isRefusal(error) ? error : undefined;
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
      deadlineMs: Math.max(
        this.#intervalMsOf(state),
        Math.min(longestShortPollMs, state.selected.entry.poll.staleAfterMs),
      ),
      askHostNames: shouldAskHostNames(state, this.#dependencies.clock.monotonicMs()),
    };
  }

  /** The outcome of a poll that is not even tried because the key is refused. */
  refusedOutcome(): PollOutcome | undefined {
    return this.#refused === undefined ? undefined : untriedOutcome(this.#refused);
  }

  polled(id: string, request: PollRequest, outcome: PollOutcome, durationMs: number): void {
    const { clock, observer, log } = this.#dependencies;
    const before = this.#states.get(id);
    observer.polled(durationMs / 1000, outcome.failed.size === 0);
    if (before === undefined) return;
    const now = { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    const asked = {
      hostNames: request.askHostNames,
      startMs: now.monotonicMs - durationMs,
    };
    const after = afterPoll(before, outcome, asked, now);
    const times = { dueMs: request.dueMs, startMs: asked.startMs, nowMs: now.monotonicMs };
    const { skipped, ...due } = nextDue(times, {
      intervalMs: this.#intervalMsOf(after),
      slack: this.#slack,
      order: before.order,
    });
    if (skipped > 0) observer.skipped(skipped);
    this.#replace(id, { ...after, ...due });
    if (this.#refused === undefined) log.polled(before, after, outcome);
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
    const dueMs = this.#dependencies.clock.monotonicMs();
    return this.knownIds().filter((id) => (this.#states.get(id)?.nextDueMs ?? Infinity) <= dueMs);
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
    const { requestsPerMinute } = account;
    const selected = [...this.#states.values()].map((state) => state.selected);
    this.#demand = demandOf(selected, discoveryCalls, discoveryIntervalMs);
    this.#hosts = selected.reduce((sum, one) => sum + hostsToPoll(one).length, 0);
    this.#stretch = stretchOf(this.#demand, requestsPerMinute);
    this.#slack = slackOf(this.#demand, requestsPerMinute);
    this.#dependencies.log.demand(this.demandPerMinute, requestsPerMinute, this.#stretch);
  }

  #takeOver({ states, discovery, nextOrder }: AccountHandover): void {
    const { account, entries } = this.#options;
    const { sink, clock } = this.#dependencies;
    this.#discovery = discovery;
    this.#nextOrder = nextOrder;
    const kept = takeOverStates(states, entries, clock.monotonicMs());
    for (const id of states.keys()) if (!kept.has(id)) sink.remove(account.name, id);
    for (const [id, state] of kept) this.#replace(id, state);
    this.#plan(0);
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

  #isDiscoveryStale({ selected, discoveredMs }: AppState): boolean {
    const { failingSinceMs } = this.#discovery;
    if (failingSinceMs === undefined) return false;
    const unseenSinceMs = Math.max(failingSinceMs, discoveredMs);
    const unseenMs = this.#dependencies.clock.monotonicMs() - unseenSinceMs;
    return unseenMs >= selected.entry.poll.staleAfterMs;
  }
}
