import type { ApiError } from '../model/api-error.ts';
import { type Clock, nowOf, sleep } from '../model/clock.ts';
import type { AccountInUse } from '../model/config.ts';
import { type PollOutcome, skippedOutcome } from '../model/poll-outcome.ts';
import { expectedHosts, queriesOf } from '../model/selected-application.ts';
import { createOwns } from '../model/shard.ts';
import type { AppSnapshot, SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Source } from '../model/source.ts';
import { mostStretch } from '../model/status.ts';
import type { MissingMetric, PollObserver } from '../model/telemetry.ts';
import type { AccountPlan, AccountPlanner } from './account-plan.ts';
import { AppPublisher, appSnapshotOf } from './app-publisher.ts';
import { type AppState, afterPoll } from './app-state.ts';
import { type Aspect, createAspect } from './aspect.ts';
import type { PollRequest } from './batch-poll.ts';
import {
  type DiscoveryState,
  discoveryAfter,
  discoveryOptionsOf,
  entriesWithoutHost,
  hostsListedNow,
  initialDiscovery,
  isDiscoveryStale,
  isUnauthorized,
} from './discovery-state.ts';
import { DueQueue } from './due-queue.ts';
import { shouldAskHostNames } from './host-names.ts';
import { MetricWatch } from './metric-watch.ts';
import type { PollLog } from './poll-log.ts';
import { dueMsOf, overdueMsOf, phaseOf, pollDeadlineMs, turnAfter } from './schedule.ts';
import {
  discoverySteps,
  reconfigurationSteps,
  type StateSteps,
  spreadSteps,
} from './state-steps.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface AccountTableDependencies {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly log: Pick<PollLog, 'discovered' | 'polled' | 'dropped' | 'demand' | 'missingMetrics'>;
  readonly source: Pick<Source, 'earlyMs'>;
  readonly planner: AccountPlanner;
  readonly isPaused: () => boolean;
}

/** What is known about one account. Nothing else replaces its states or publishes them. */
export class AccountTable {
  #options: AccountInUse;
  readonly #dependencies: AccountTableDependencies;
  readonly #time: VirtualClock;
  readonly #states: DueQueue;
  #discovery = initialDiscovery;
  /** New Relic refused the key in the last discovery. Until the next one polls would fail too. */
  #unauthorized: ApiError | undefined;
  #phaseIndex = 0;
  /** Resolves when the last change has ended. */
  #changed: Promise<unknown> = Promise.resolve();
  readonly #publisher: AppPublisher;
  readonly #metrics = new MetricWatch();
  readonly #stretched: (isWrong: boolean) => Aspect;
  readonly #lacksMetrics: (isWrong: boolean) => Aspect;

  constructor(options: AccountInUse, dependencies: AccountTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#time = new VirtualClock(dependencies.clock);
    this.#stretched = createAspect(dependencies.clock);
    this.#lacksMetrics = createAspect(dependencies.clock);
    this.#states = new DueQueue({ ...dependencies, time: this.#time });
    const { name } = options.account;
    const published = { ...dependencies, snapshotOf: (id: string) => this.#snapshotOf(id) };
    this.#publisher = new AppPublisher(name, published);
    // Before its first discovery an account must not look like a healthy one without applications.
    dependencies.sink.accountUp(name, false);
  }

  get states(): ReadonlyMap<string, AppState> {
    return this.#states.all;
  }

  get failing(): DueQueue['failing'] {
    return this.#states.failing;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  get missingMetrics(): readonly MissingMetric[] {
    return this.#metrics.missing;
  }

  get plan(): AccountPlan {
    return this.#dependencies.planner.plan;
  }

  /** Makes a new plan at once. To be called when the limit, or what polls cost, has changed. */
  replan(): void {
    const { planner, log } = this.#dependencies;
    planner.replan(this.states.values());
    this.#time.setStretch(this.plan.stretch);
    log.demand(this.plan);
    this.aspects();
  }

  /** Whether intervals are stretched by more than a tenth, and whether some metric never has a value. */
  aspects(): readonly Aspect[] {
    const isStretched = this.plan.stretch > mostStretch;
    return [this.#stretched(isStretched), this.#lacksMetrics(this.missingMetrics.length > 0)];
  }

  /** Publishes nothing more of what was left for a later turn of the event loop. */
  stop(): void {
    this.#publisher.stop();
  }

  /**
   * Uses other settings from now on. What is known stays if it is still wanted. Resolves to the ids of the
   * applications whose polls under way are no longer wanted. With many applications it takes several turns
   * of the event loop. An abort leaves it half done, but every state is consistent.
   */
  async reconfigure(options: AccountInUse, signal: AbortSignal): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      this.#options = options;
      const { log } = this.#dependencies;
      const owns = createOwns(options.account.shard);
      const steps = reconfigurationSteps(this.#states, options.entries, owns);
      const { unwanted, released } = await this.#take(steps, signal);
      for (const id of released) this.#publisher.remove(id);
      log.missingMetrics(this.#metrics.judge(this.states));
      this.replan();
      this.#publisher.publishAll(this.states.keys());
      return unwanted;
    });
  }

  /** Applies what a discovery found, in the same way. Resolves to the ids of the applications that are gone. */
  async discovered(discovery: Discovery, signal: AbortSignal): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      signal.throwIfAborted();
      const { account, entries } = this.#options;
      const { clock, sink, log, planner } = this.#dependencies;
      const takePhaseIndex = (): number => this.#phaseIndex++;
      const virtualMs = this.#time.nowMs();
      const now = { monotonicMs: clock.monotonicMs(), virtualMs, takePhaseIndex };
      const isFirst = this.states.size === 0;
      const owns = createOwns(account.shard);
      // Queries are always there.
      const applications = [...discovery.applications, ...queriesOf(entries)];
      const found = { ...discovery, applications };
      const steps = discoverySteps(this.#states, entries, found, now, owns);
      const { removed, missing, excluded } = await this.#take(steps, signal);
      // In the same turn: an application that is forgotten but still shown would never be removed.
      for (const id of removed) this.#states.delete(id);
      for (const id of removed) this.#publisher.remove(id);
      log.missingMetrics(this.#metrics.judge(this.states));
      planner.discovered(discovery, discoveryOptionsOf(this.#options).intervalMs);
      this.replan();
      // If not everything can be polled at once, the first polls are spread evenly.
      const isSpread = isFirst && this.plan.stretch > 1;
      if (isSpread) await this.#take(spreadSteps(this.#states, virtualMs), signal);
      const showNothing = missing && [...missing, ...entriesWithoutHost(this.states.values())];
      const told = { missing: showNothing, excluded };
      this.#discovery = discoveryAfter(this.#discovery, discovery, told, nowOf(clock));
      this.#unauthorized = isUnauthorized(discovery.error) ? discovery.error : undefined;
      sink.accountUp(account.name, discovery.complete);
      this.#publisher.publishAll(this.states.keys());
      log.discovered(discovery, this.states, this.#discovery.missingSelectors);
      return removed;
    });
  }

  /**
   * One change after the other, so that all applications are given the entries of one
   * configuration. No change waits for the vendor.
   */
  async #inTurn<Value>(change: () => Promise<Value>): Promise<Value> {
    const changed = this.#changed.then(change);
    this.#changed = changed.catch(() => undefined);
    return changed;
  }

  /** Begins the poll of an application; `undefined` if the application is no longer there. */
  begin(id: string): PollRequest | undefined {
    const state = this.states.get(id);
    if (state === undefined) return undefined;
    this.#states.begin(id);
    const { selected, turn, hostNames } = state;
    const { poll } = selected.entry;
    const { stretch } = this.plan;
    const overdueMs = this.#time.monotonicMsOf(overdueMsOf(turn, poll.intervalMs));
    return {
      selected,
      dueMs: this.nextDueMs(state),
      overdueMs: stretch > 1 ? Number.POSITIVE_INFINITY : overdueMs,
      periodMs: poll.intervalMs * stretch,
      deadlineMs: pollDeadlineMs(poll, stretch),
      askHostNames: shouldAskHostNames(state, this.#dependencies.clock.monotonicMs()),
      hostNames: hostNames.names,
      isListed: hostsListedNow(this.states, id),
    };
  }

  /** To be called when a poll was ended before it had an outcome. */
  aborted(id: string): void {
    this.#states.end(id);
  }

  /** The outcome of a poll that is not tried, because the vendor refuses the key. */
  unauthorizedOutcome(): PollOutcome | undefined {
    return this.#unauthorized === undefined ? undefined : skippedOutcome(this.#unauthorized);
  }

  polled(id: string, request: PollRequest, outcome: PollOutcome, startMs: number): void {
    const { clock, observer, log, planner, source } = this.#dependencies;
    const now = nowOf(clock);
    this.#states.end(id);
    observer.polled((now.monotonicMs - startMs) / 1000, outcome.failed.size === 0);
    const before = this.states.get(id);
    if (before === undefined) return;
    // The first look-up of an application's host names says nothing about how many will follow.
    if (before.hostNames.askedFor.size > 0) planner.asked(outcome.extraCalls);
    const after = afterPoll(before, outcome, { hostNames: request.askHostNames, startMs }, now);
    const times = { startMs: this.#time.at(startMs), nowMs: this.#time.nowMs() };
    const { turn, skipped } = turnAfter(before.turn, times, {
      intervalMs: before.selected.entry.poll.intervalMs,
      headroom: this.plan.headroom,
      phase:
        source.earlyMs > 0 && before.selected.entry.query === undefined
          ? undefined
          : phaseOf(before.phaseIndex),
    });
    if (skipped > 0) observer.skipped(skipped);
    this.#states.set(id, { ...after, turn });
    this.#publisher.publish(id);
    this.#metrics.polled(after, outcome.reading);
    if (this.#unauthorized === undefined) log.polled(before, after, outcome);
    if (before.reading !== undefined && !after.gone) this.#logDropped([id]);
    const newHosts = expectedHosts(after.selected) - expectedHosts(before.selected);
    if (planner.isOutdated(newHosts)) this.replan();
  }

  /**
   * The application whose poll has been due for longest; `undefined` when none is due.
   *
   * @param withinMs how early an application counts as due
   */
  firstDue(withinMs = 0): string | undefined {
    return this.#states.firstDue(withinMs);
  }

  /** Shows which polls are late, and drops the values that were not renewed in time. */
  dropStale(): void {
    const ids = this.#states.dropStale();
    for (const id of ids) this.#publisher.publish(id);
    this.#logDropped(ids);
  }

  /** Of an application that lost only parts, the line of the poll that failed says it. */
  #logDropped(ids: readonly string[]): void {
    const lost = ids.filter((id) => this.states.get(id)?.reading === undefined);
    if (lost.length > 0) this.#dependencies.log.dropped(lost, this.states);
  }

  /** Monotonic time of the next due event; polls under way do not count. */
  nextEventMs(): number | undefined {
    return this.#states.nextEventMs();
  }

  /** Monotonic time at which the next poll of an application is due, as the plan is now. */
  nextDueMs({ turn, selected }: AppState): number {
    return this.#time.monotonicMsOf(dueMsOf(turn, selected.entry.poll.intervalMs));
  }

  /** Rejects with the signal's reason. What was changed by then stays. */
  async #take<Value>(steps: StateSteps<Value>, signal: AbortSignal): Promise<Value> {
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      await sleep(this.#dependencies.clock, 0, signal);
    }
    return step.value;
  }

  #snapshotOf(id: string): AppSnapshot | undefined {
    const state = this.states.get(id);
    if (state === undefined || state.gone) return undefined;
    const nowMs = this.#dependencies.clock.monotonicMs();
    const isStale = isDiscoveryStale(this.#discovery, state, nowMs);
    return appSnapshotOf(this.#options.account.name, state, isStale);
  }
}
