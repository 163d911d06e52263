import type { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { AccountConfig, AppEntry } from '../model/config.ts';
import { isOwn } from '../model/shard.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import type { Discovery } from '../model/source.ts';
import type { PollObserver } from '../model/telemetry.ts';
import type { AccountHandover } from './account-handover.ts';
import { type AccountPlan, accountPlanOf } from './account-plan.ts';
import { dueIdsOf, nextEventOf, stretched } from './app-due.ts';
import { type AppPublisher, createAppPublisher } from './app-publisher.ts';
import { type AppState, afterPoll, handOverWithinMs, snapshotOf, whenStale } from './app-state.ts';
import { applyDiscovery, haveSameSelection, type Owns, takeOverStates } from './app-table.ts';
import {
  type DiscoveryState,
  discoveryAfter,
  initialDiscovery,
  isDiscoveryStale,
  isRefusal,
} from './discovery-state.ts';
import { shouldAskHostNames } from './host-names.ts';
import type { PollRequest } from './poll-application.ts';
import type { PollLog } from './poll-log.ts';
import { type PollOutcome, untriedOutcome } from './poll-outcome.ts';
import { nextDue, placeMs, pollDeadlineMs } from './schedule.ts';

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
  /** The calls that the account may send in any 60 seconds, as of now. */
  readonly budgetPerMinute: () => number;
}

/** What is known of one account; the only place that replaces its states and publishes them. */
export class AccountTable {
  readonly #options: AccountTableOptions;
  readonly #dependencies: AccountTableDependencies;
  #states = new Map<string, AppState>();
  #discovery = initialDiscovery;
  /** The vendor refused the key since the last good discovery: asking on would be a storm. */
  #refused: ApiError | undefined;
  #discoveryCalls = 0;
  #plan: AccountPlan;
  #nextOrder = 0;
  readonly #publisher: AppPublisher;
  readonly #owns: Owns;

  constructor(options: AccountTableOptions, dependencies: AccountTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#plan = this.#planNow();
    const { account, handover } = options;
    const { shard } = account;
    this.#owns = (key) => shard === undefined || isOwn(shard, key);
    this.#publisher = createAppPublisher(
      { account: account.name, published: handover?.published ?? new Map() },
      { ...dependencies, snapshotOf: (id) => this.#snapshotOf(id) },
    );
    if (handover !== undefined) this.#takeOver(handover);
    // An account that nobody has heard of yet must not look like a healthy one without applications.
    else dependencies.sink.accountUp(account.name, false);
  }

  handover(): AccountHandover {
    return {
      states: this.#states,
      discovery: this.#discovery,
      discoveryCalls: this.#discoveryCalls,
      nextOrder: this.#nextOrder,
      published: this.#publisher.published,
    };
  }

  get states(): ReadonlyMap<string, AppState> {
    return this.#states;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  get plan(): AccountPlan {
    return this.#plan;
  }

  knownIds(): readonly string[] {
    return [...this.#states.keys()];
  }

  /** Makes the plan, and the polls that wait for their turn, fit the budget as it is now. */
  budgetChanged(): void {
    const before = this.#plan.stretch;
    this.#replan(this.#planNow());
    const nowMs = this.#dependencies.clock.monotonicMs();
    this.#states = stretched(this.#states, nowMs, this.#plan.stretch / before);
  }

  /** Publishes nothing from now on but what a poll or a discovery still brings. */
  stop(): void {
    this.#publisher.stop();
  }

  discovered(discovery: Discovery): void {
    const { account, entries } = this.#options;
    const { clock, sink, log } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    const now = { monotonicMs: nowMs, nextOrder: this.#nextOrder };
    const change = applyDiscovery(this.#states, entries, discovery, now, this.#owns);
    const before = this.#states;
    const isFirst = before.size === 0;
    const { complete, error, calls } = discovery;
    this.#states = new Map(change.states);
    this.#nextOrder = change.nextOrder;
    const isSame = calls === this.#discoveryCalls && haveSameSelection(before, this.#states);
    this.#discoveryCalls = calls;
    this.#replan(isSame ? this.#plan : this.#planNow());
    if (isFirst && this.#plan.stretch > 1) this.#spreadFirstPolls(nowMs);
    this.#discovery = discoveryAfter(this.#discovery, discovery, change.missing, nowMs);
    this.#refused = isRefusal(error) ? error : undefined;
    sink.accountUp(account.name, complete);
    for (const id of change.removed) this.#publisher.remove(id);
    this.#publisher.publishAll(this.#states.keys());
    log.discovered(discovery, this.#states, this.#discovery.missing);
  }

  /** `undefined` when the application is no longer there. */
  requestFor(id: string): PollRequest | undefined {
    const state = this.#states.get(id);
    if (state === undefined) return undefined;
    return {
      selected: state.selected,
      dueMs: state.nextDueMs,
      overdueMs: this.#plan.stretch > 1 ? Number.POSITIVE_INFINITY : state.overdueMs,
      spanMs: this.#intervalMsOf(state),
      deadlineMs: pollDeadlineMs(state.selected.entry.poll, this.#plan.stretch),
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
    const asked = { hostNames: request.askHostNames, startMs: now.monotonicMs - durationMs };
    const after = afterPoll(before, outcome, asked, now);
    const times = { dueMs: request.dueMs, startMs: asked.startMs, nowMs: now.monotonicMs };
    const { skipped, ...due } = nextDue(times, {
      intervalMs: this.#intervalMsOf(after),
      slack: this.#plan.slack,
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
    return dueIdsOf(this.#states, this.#dependencies.clock.monotonicMs());
  }

  /** When something falls due next, on the monotonic clock; polls under way are not waited for. */
  nextEventMs(polling: ReadonlySet<string>): number | undefined {
    return nextEventOf(this.#states, polling);
  }

  #planNow(): AccountPlan {
    const { discoveryIntervalMs: intervalMs } = this.#options;
    const selected = [...this.#states.values()].map((state) => state.selected);
    const discovery = { calls: this.#discoveryCalls, intervalMs };
    return accountPlanOf(selected, discovery, this.#dependencies.budgetPerMinute());
  }

  #replan(plan: AccountPlan): void {
    this.#plan = plan;
    const { demandPerMinute, budgetPerMinute, stretch } = plan;
    this.#dependencies.log.demand(demandPerMinute, budgetPerMinute, stretch);
  }

  #takeOver({ states, discovery, discoveryCalls, nextOrder }: AccountHandover): void {
    this.#discovery = discovery;
    this.#discoveryCalls = discoveryCalls;
    this.#nextOrder = nextOrder;
    const nowMs = this.#dependencies.clock.monotonicMs();
    this.#states = new Map(takeOverStates(states, this.#options.entries, nowMs, this.#owns));
    this.#publisher.publishAll(this.#states.keys());
    this.#replan(this.#planNow());
    for (const [id, state] of states) {
      if (this.#states.has(id)) continue;
      if (this.#owns(id)) this.#publisher.remove(id);
      else this.#publisher.handOver(id, handOverWithinMs(state, this.#intervalMsOf(state)));
    }
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
    return selected.entry.poll.intervalMs * this.#plan.stretch;
  }

  #replace(id: string, state: AppState): void {
    this.#states.set(id, state);
    this.#publisher.publish(id);
  }

  #snapshotOf(id: string): AppSnapshot | undefined {
    const state = this.#states.get(id);
    if (state === undefined || state.gone) return undefined;
    const nowMs = this.#dependencies.clock.monotonicMs();
    const isStale = isDiscoveryStale(this.#discovery, state, nowMs);
    return snapshotOf(this.#options.account.name, state, isStale);
  }
}
