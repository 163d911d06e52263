import type { ApiError } from '../model/api-error.ts';
import { type Clock, nowOf, sleep } from '../model/clock.ts';
import type { AccountInUse } from '../model/config.ts';
import {
  hostsUnknownOutcome,
  nothingToAskOutcome,
  type PollOutcome,
  skippedOutcome,
} from '../model/poll-outcome.ts';
import {
  areHostsUnknown,
  asksForApplication,
  expectedHosts,
  hostChoiceOf,
  hostsToPoll,
  isWorthPolling,
} from '../model/selected-application.ts';
import { createOwns } from '../model/shard.ts';
import { type AppSnapshot, queryIdOf, type SnapshotSink } from '../model/snapshot.ts';
import type { Discovery, Source } from '../model/source.ts';
import { mostStretch } from '../model/status.ts';
import type { MissingMetric, PollObserver } from '../model/telemetry.ts';
import type { AccountCalls } from '../newrelic/calls/account-calls.ts';
import type { AccountPlan, AccountPlanner } from './account-plan.ts';
import { AppPublisher, appSnapshotOf } from './app-publisher.ts';
import { type AppState, afterPoll, appRules } from './app-state.ts';
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
  seeksAny,
} from './discovery-state.ts';
import { DueQueue } from './due-queue.ts';
import { shouldAskHostNames } from './host-names.ts';
import { MetricWatch } from './metric-watch.ts';
import type { PollLog } from './poll-log.ts';
import type { Polled } from './poll-loop.ts';
import { QueryTable, type QueryTableDependencies } from './query-table.ts';
import { phaseOf } from './schedule.ts';
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
  readonly log: QueryTableDependencies['log'] &
    Pick<PollLog, 'discovered' | 'polled' | 'dropped' | 'demand' | 'missingMetrics'>;
  readonly source: Pick<Source, 'sharesCalls' | 'listsHosts'>;
  readonly calls: Pick<AccountCalls, 'plan'>;
  readonly planner: AccountPlanner;
  readonly isThrottled: () => boolean;
}

/** What is known about one account. Nothing else replaces its states or publishes them. */
export class AccountTable implements Polled<PollRequest, PollOutcome> {
  #options: AccountInUse;
  readonly #dependencies: AccountTableDependencies;
  readonly #time: VirtualClock;
  readonly queue: DueQueue<AppState>;
  /** Beside the applications, with which they share the budget. */
  readonly queries: QueryTable;
  #discovery = initialDiscovery;
  /** New Relic refused the key in the last discovery. Until the next one polls would fail too. */
  #unauthorized: ApiError | undefined;
  #phaseIndex = 0;
  /** Resolves when the last change has ended. */
  #changed: Promise<unknown> = Promise.resolve();
  readonly #publisher: AppPublisher;
  readonly #metrics = new MetricWatch();
  readonly #stretched: (isWrong: boolean) => Aspect;
  readonly #lacksValues: (isWrong: boolean) => Aspect;

  constructor(options: AccountInUse, dependencies: AccountTableDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#time = new VirtualClock(dependencies.clock);
    this.#stretched = createAspect(dependencies.clock);
    this.#lacksValues = createAspect(dependencies.clock);
    this.queue = new DueQueue(appRules, { ...dependencies, time: this.#time });
    const { name } = options.account;
    const published = { ...dependencies, snapshotOf: (id: string) => this.#snapshotOf(id) };
    this.#publisher = new AppPublisher(name, published);
    this.queries = new QueryTable(name, {
      ...dependencies,
      time: this.#time,
      replan: () => {
        this.replan();
      },
      refusal: () => this.#unauthorized,
    });
    // Before its first discovery an account must not look like a healthy one without applications.
    dependencies.sink.accountUp(name, false);
    this.ask(options);
  }

  get states(): ReadonlyMap<string, AppState> {
    return this.queue.all;
  }

  get isRefused(): boolean {
    return this.#unauthorized !== undefined;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  get missingMetrics(): readonly MissingMetric[] {
    return this.#metrics.missing;
  }

  /** As the limit is now. */
  get plan(): AccountPlan {
    const { planner } = this.#dependencies;
    if (planner.isOutdated()) this.replan();
    return planner.plan;
  }

  /** Makes a new plan at once. To be called when what polls cost has changed. */
  replan(): void {
    const { planner, log, calls } = this.#dependencies;
    planner.replan(this.states.values(), this.queries.states.values());
    const { plan } = planner;
    calls.plan(plan.freePerMinute);
    this.#time.setStretch(plan.stretch);
    log.demand(plan);
    this.aspects();
  }

  /** Whether intervals are stretched by more than a tenth, and whether something never has a value. */
  aspects(): readonly Aspect[] {
    const isStretched = this.plan.stretch > mostStretch;
    const lacksValues = this.missingMetrics.length > 0 || this.queries.isMissing;
    return [this.#stretched(isStretched), this.#lacksValues(lacksValues)];
  }

  /** Publishes nothing more of what was left for a later turn of the event loop. */
  stop(): void {
    this.#publisher.stop();
    this.queries.stop();
  }

  /**
   * Asks the queries of these settings from now on. Returns the ids of those whose polls under way are no
   * longer wanted.
   */
  ask({ account, entries, queries = [] }: AccountInUse): readonly string[] {
    const owns = createOwns(account.shard);
    const own = queries.filter((query) => owns(queryIdOf(query)));
    return this.queries.ask(own, !seeksAny({ entries }));
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
      const steps = reconfigurationSteps(this.queue, options.entries, owns);
      const { unwanted, released } = await this.#take(steps, signal);
      for (const id of released) this.#publisher.remove(id);
      log.missingMetrics(this.#metrics.judge(this.states));
      if (!seeksAny(options)) this.#forgetDiscoveries();
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
      const steps = discoverySteps(this.queue, entries, discovery, now, owns);
      const { removed, missing, excluded } = await this.#take(steps, signal);
      // In the same turn: an application that is forgotten but still shown would never be removed.
      for (const id of removed) this.queue.delete(id);
      for (const id of removed) this.#publisher.remove(id);
      log.missingMetrics(this.#metrics.judge(this.states));
      planner.discovered(discovery, discoveryOptionsOf(this.#options).intervalMs);
      this.replan();
      // If not everything can be polled at once, the first polls are spread evenly.
      const isSpread = isFirst && this.plan.stretch > 1;
      if (isSpread) await this.#take(spreadSteps(this.queue, virtualMs), signal);
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

  begin(id: string): PollRequest | undefined {
    const state = this.states.get(id);
    if (state === undefined) return undefined;
    this.queue.begin(id);
    const { selected, hostNames } = state;
    // Spread into the rest, they would take ten times as long.
    const times = this.queue.timesOf(state, this.plan.stretch);
    const { dueMs, periodMs, deadlineMs, hasFailed } = times;
    return {
      selected,
      dueMs,
      periodMs,
      deadlineMs,
      hasFailed,
      askHostNames: shouldAskHostNames(state, this.#dependencies.clock.monotonicMs()),
      hostNames: hostNames.names,
      isListed: hostsListedNow(this.states, id),
    };
  }

  idOf({ selected }: PollRequest): string {
    return selected.application.id;
  }

  /** Of a poll that is not tried because the vendor refuses the key, or that has nothing to ask for. */
  knownOutcomeOf({ selected, askHostNames, hostNames }: PollRequest): PollOutcome | undefined {
    if (!isWorthPolling(selected)) return nothingToAskOutcome;
    const { listsHosts } = this.#dependencies.source;
    const asksForHosts = listsHosts
      ? hostsToPoll(selected).length > 0
      : hostChoiceOf(selected.entry) !== false;
    const refused = this.#unauthorized && skippedOutcome(this.#unauthorized);
    if (askHostNames || asksForApplication(selected) || asksForHosts) return refused;
    if (!areHostsUnknown(selected, hostNames)) return nothingToAskOutcome;
    return refused ?? hostsUnknownOutcome;
  }

  polled(id: string, request: PollRequest, outcome: PollOutcome, startMs: number): boolean {
    const { clock, observer, log, planner, source } = this.#dependencies;
    const now = nowOf(clock);
    this.queue.end(id);
    const isWhole = outcome.failed.size === 0;
    observer.polled((now.monotonicMs - startMs) / 1000, isWhole);
    const before = this.states.get(id);
    if (before === undefined) return isWhole;
    // The first look-up of an application's host names says nothing about how many will follow.
    if (before.hostNames.askedFor.size > 0) planner.asked(outcome.extraCalls);
    const after = afterPoll(before, outcome, { hostNames: request.askHostNames, startMs }, now);
    const skipped = this.queue.ended(id, after, startMs, {
      headroom: this.plan.headroom,
      phase: source.sharesCalls ? undefined : phaseOf(before.phaseIndex),
    });
    if (skipped > 0) observer.skipped(skipped);
    this.#publisher.publish(id);
    this.#metrics.polled(after, outcome.reading);
    log.polled(before, after, outcome);
    if (before.reading !== undefined && !after.gone) this.#logDropped([id]);
    const newHosts = expectedHosts(after.selected) - expectedHosts(before.selected);
    if (planner.isOutdated(newHosts)) this.replan();
    return isWhole;
  }

  dropStale(): void {
    if (this.#dependencies.planner.isOutdated()) this.replan();
    const ids = this.queue.dropStale();
    for (const id of ids) this.#publisher.publish(id);
    this.#logDropped(ids);
  }

  /** Of an application that lost only parts, the line of the poll that failed says it. */
  #logDropped(ids: readonly string[]): void {
    const states = ids.flatMap((id) => this.states.get(id) ?? []);
    this.#dependencies.log.dropped(states.filter(({ droppedMs }) => droppedMs !== undefined));
  }

  /** Of an account that asks for no list, nothing that earlier lists said counts any more. */
  #forgetDiscoveries(): void {
    this.#discovery = initialDiscovery;
    this.#unauthorized = undefined;
    this.#dependencies.planner.discovered({ calls: 0, complete: true }, 1);
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
