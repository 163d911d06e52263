import type { ApiError } from '../model/api-error.ts';
import { nowOf, sleep } from '../model/clock.ts';
import type { AccountInUse, Query } from '../model/config.ts';
import type { QueryOutcome } from '../model/poll-outcome.ts';
import { expectedHosts } from '../model/selected-application.ts';
import { createOwns } from '../model/shard.ts';
import { neverWrong, noted, type Since } from '../model/since.ts';
import { queryIdOf, type Snapshot } from '../model/snapshot.ts';
import type { Discovery, Polled } from '../model/source.ts';
import { mostStretch } from '../model/status.ts';
import type { MissingMetric } from '../model/telemetry.ts';
import { type AccountPlan, AccountPlanner } from './account-plan.ts';
import { AppPublisher, appSnapshotOf } from './app-publisher.ts';
import { type AppState, afterPoll } from './app-state.ts';
import type { Context } from './context.ts';
import {
  type AskedState,
  type DiscoveryState,
  discoveryAfter,
  discoveryOptionsOf,
  entriesWithoutHost,
  initialDiscovery,
  isDiscoveryStale,
  isUnauthorized,
  neverAsked,
  seeksAny,
} from './discovery-state.ts';
import { MetricWatch } from './metric-watch.ts';
import { PollLog } from './poll-log.ts';
import { knownOutcomeOf, type PollRequest, requestOf } from './poll-request.ts';
import {
  afterQueryPoll,
  asksSame,
  isAnswered,
  missingTextOf,
  newQueryState,
  type QueryState,
} from './query-state.ts';
import { type LetOthersRun, reconcile, reconfigure } from './reconcile.ts';
import { idOf, type Look, type State, States } from './states.ts';

/** What is known about one account. Nothing else replaces its states or publishes them. */
export class AccountTable {
  readonly states: States;
  readonly log: PollLog;
  #options: AccountInUse;
  readonly #context: Context;
  readonly #planner: AccountPlanner;
  readonly #publisher: AppPublisher;
  readonly #metrics = new MetricWatch();
  #discovery = initialDiscovery;
  /** Whether New Relic answered the last query. */
  #queried = neverAsked;
  /** New Relic refused the key in the last discovery. Until the next one polls would fail too. */
  #unauthorized: ApiError | undefined;
  /** Resolves when the last change has ended. */
  #changed: Promise<unknown> = Promise.resolve();
  /** Whether applications are being given what a discovery or a configuration says. */
  #isChanging = false;
  #isThrottled = neverWrong;
  #isStretched = neverWrong;
  #lacksValues = neverWrong;

  constructor(options: AccountInUse, context: Context) {
    const { clock, logger, sink } = context;
    const { name } = options.account;
    this.#options = options;
    this.#context = context;
    this.#planner = new AccountPlanner(discoveryOptionsOf(options).intervalMs, context);
    this.states = new States(clock);
    this.log = new PollLog(name, { logger, clock, isRefused: () => this.isRefused });
    this.#publisher = new AppPublisher(name, sink, (id) => this.#snapshotOf(id));
    // Before its first discovery an account must not look like a healthy one without applications.
    sink.accountUp(name, false);
    this.ask(options);
  }

  /** Whether New Relic is known to refuse the key. */
  get isRefused(): boolean {
    return this.#unauthorized !== undefined;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  /** What says whether the account is up: discoveries, or where there are none, queries. */
  get asked(): AskedState {
    return seeksAny(this.#options) ? this.#discovery : this.#queried;
  }

  get missingMetrics(): readonly MissingMetric[] {
    return this.#metrics.missing;
  }

  /** As the limit is now. */
  get plan(): AccountPlan {
    this.#replanIfOutdated();
    return this.#planner.plan;
  }

  /** What may be wrong while discoveries succeed. */
  aspects(): readonly Since<boolean>[] {
    const nowMs = this.#context.clock.monotonicMs();
    const lacksValues = this.missingMetrics.length > 0 || this.#isAnyQueryMissing();
    this.#isStretched = noted(this.#isStretched, this.plan.stretch > mostStretch, nowMs);
    this.#lacksValues = noted(this.#lacksValues, lacksValues, nowMs);
    const refusals = this.#context.calls.key.refusals();
    this.#isThrottled = noted(this.#isThrottled, refusals !== undefined, nowMs);
    return [
      // Since the first 429 of the trouble; its end is when it was first seen to be over.
      { ...this.#isThrottled, ...(refusals && { sinceMs: refusals.sinceMs }) },
      this.states.failing('application'),
      this.states.failing('query'),
      this.#discovery.isAnyMissing,
      this.#isStretched,
      this.#lacksValues,
    ];
  }

  /**
   * Asks the queries of these settings from now on, in this turn. One that asks the same as before keeps its
   * values and its poll under way. Returns the ids of those whose polls under way are no longer wanted.
   */
  ask(options: AccountInUse): readonly string[] {
    const { clock } = this.#context;
    const owns = createOwns(options.account.shard);
    const own = (options.queries ?? []).filter((query) => owns(queryIdOf(query)));
    const next = new Map(own.map((query): [string, Query] => [queryIdOf(query), query]));
    const unwanted = [...this.states.queries]
      .filter(([id, { query }]) => !asksSame(query, next.get(id)))
      .map(([id]) => id);
    this.#noteWhetherAsked(options, next.size > 0);
    for (const id of unwanted) this.#remove(id);
    const added: QueryState[] = [];
    for (const [id, query] of next) {
      const known = this.states.queries.get(id);
      const nowMs = clock.monotonicMs();
      const state = known
        ? { ...known, query }
        : newQueryState(query, this.states.takePhase(), nowMs);
      if (known === undefined) added.push(state);
      this.states.set(state);
    }
    this.#replan();
    this.#spreadIfNeeded(added);
    return unwanted;
  }

  /**
   * Uses other settings from now on. What is known stays if it is still wanted. Resolves to the ids of the
   * applications whose polls under way are no longer wanted. With many applications it takes several turns
   * of the event loop. An abort leaves it half done, but every state is consistent.
   */
  async reconfigure(options: AccountInUse, signal: AbortSignal): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      this.#options = options;
      const chosen = { entries: options.entries, owns: createOwns(options.account.shard) };
      const unwanted = await reconfigure(this.states, chosen, this.#letOthersRun(signal));
      for (const id of unwanted) if (!this.states.get(id)) this.#publisher.publish(id);
      this.log.missingMetrics(this.#metrics.judge(this.states.applications));
      if (!seeksAny(options)) this.#forgetDiscoveries();
      this.#replan();
      return unwanted;
    });
  }

  /** Applies what a discovery found, in the same way. Resolves to the ids of the applications that are gone. */
  async discovered(discovery: Discovery, signal: AbortSignal): Promise<readonly string[]> {
    return this.#inTurn(async () => {
      signal.throwIfAborted();
      const { account, entries } = this.#options;
      const { clock, sink } = this.#context;
      const chosen = { entries, owns: createOwns(account.shard) };
      const known = this.states.applications;
      const isFirst = known.size === 0;
      const letOthersRun = this.#letOthersRun(signal);
      const nowMs = clock.monotonicMs();
      const change = await reconcile(this.states, chosen, discovery, nowMs, letOthersRun);
      const { removed, missing, excluded } = change;
      // In the same turn: an application that is forgotten but still shown would never be removed.
      for (const id of removed) this.#remove(id);
      this.log.missingMetrics(this.#metrics.judge(known));
      this.#planner.discovered(discovery, discoveryOptionsOf(this.#options).intervalMs);
      this.#replan();
      if (isFirst) this.#spreadIfNeeded(known.values());
      const showNothing = missing && [...missing, ...entriesWithoutHost(known.values())];
      const told = { missing: showNothing, excluded };
      this.#discovery = discoveryAfter(this.#discovery, discovery, told, nowOf(clock));
      this.#unauthorized = isUnauthorized(discovery.error) ? discovery.error : undefined;
      sink.accountUp(account.name, discovery.complete);
      this.log.discovered(discovery, known, this.#discovery.missingSelectors);
      return removed;
    });
  }

  /** Publishes everything, as it is by then, in several turns of the event loop. */
  async publishAll(signal: AbortSignal): Promise<void> {
    const { applications, queries } = this.states;
    const ids = [...applications.keys(), ...queries.keys()];
    await this.#publisher.publishAll(ids, this.#letOthersRun(signal));
  }

  /** Finds what is due. Shows which polls are late, and drops the values that were not renewed in time. */
  look(): Look {
    this.#replanIfOutdated();
    const look = this.states.look(this.#context.calls.key.refusals() !== undefined);
    for (const state of look.changed) this.#publisher.publish(idOf(state));
    this.#logDropped(look.changed);
    if (!this.#isChanging) return look;
    // Applications that have their entry already are due when all have theirs: first polls may be spread yet.
    return { ...look, due: look.due.filter((id) => this.states.queries.has(id)) };
  }

  /** Begins a poll; `undefined` if its subject is no longer there. */
  begin(id: string): PollRequest | undefined {
    const request = requestOf(id, this.states, this.#context.clock.monotonicMs());
    if (request !== undefined) this.states.begin(id);
    return request;
  }

  /** What may be polled with others although it is not due yet, in the order in which it will be. */
  early(most: number): readonly PollRequest[] {
    const nowMs = this.#context.clock.monotonicMs();
    return this.states
      .early(most)
      .flatMap((id) => requestOf(id, this.states, nowMs) ?? [])
      .filter((request) => this.knownOutcomeOf(request) === undefined);
  }

  /** Of a poll that need not be tried; `undefined` if it must be. */
  knownOutcomeOf(request: PollRequest): Polled | undefined {
    return knownOutcomeOf(request, this.#unauthorized, this.#context.source.listsHosts);
  }

  /**
   * A poll has ended. Returns whether all that was asked for arrived.
   *
   * @param startMs when it was queued, in monotonic time
   */
  ended(id: string, polled: Polled, startMs: number): boolean {
    const { observer, clock } = this.#context;
    const isWhole =
      polled.kind === 'query'
        ? polled.outcome.error === undefined
        : polled.outcome.failed.size === 0;
    this.states.end(id);
    observer.polled((clock.monotonicMs() - startMs) / 1000, isWhole);
    const before = this.states.get(id);
    if (before?.kind === 'query' && polled.kind === 'query') {
      this.#queryEnded(before, polled.outcome, startMs);
    } else if (before?.kind === 'application' && polled.kind === 'application') {
      this.#appEnded(before, polled, startMs);
    }
    return isWhole;
  }

  #appEnded(
    before: AppState,
    { question: { askHostNames }, outcome }: Extract<Polled, { kind: 'application' }>,
    startMs: number,
  ): void {
    const { clock, source } = this.#context;
    // The first look-up of an application's host names says nothing about how many will follow.
    if (before.hostNames.askedFor.size > 0) this.#planner.asked(outcome.extraCalls);
    const asked = { hostNames: askHostNames, startMs };
    const phase = source.sharesCalls ? undefined : before.phase;
    const after = this.#afterTurn(afterPoll(before, outcome, asked, nowOf(clock)), startMs, phase);
    this.#metrics.polled(after, outcome.reading);
    this.log.polled(before, after, outcome);
    if (before.reading !== undefined && !after.gone) this.#logDropped([after]);
    this.#replanIfOutdated(expectedHosts(after.selected) - expectedHosts(before.selected));
  }

  #queryEnded(before: QueryState, outcome: QueryOutcome, startMs: number): void {
    const now = nowOf(this.#context.clock);
    const polled = afterQueryPoll(before, outcome, startMs, now);
    const after = this.#afterTurn(polled, startMs, before.phase);
    this.#noteUp(outcome, now.monotonicMs);
    this.log.queryPolled(before, after, outcome.error, this.states.queries);
    if (before.reading !== undefined) this.#logDropped([after]);
    const missing = missingTextOf(after);
    if (missing !== undefined && missingTextOf(before) === undefined) {
      this.log.queryMissing(after, missing);
      this.aspects();
    }
    this.#replanIfOutdated();
  }

  #afterTurn<One extends State>(polled: One, startMs: number, phase: number | undefined): One {
    const how = { headroom: this.plan.headroom, phase };
    const { state, skipped } = this.states.afterTurn(polled, startMs, how);
    if (skipped > 0) this.#context.observer.skipped(skipped);
    this.states.set(state);
    this.#publisher.publish(idOf(state));
    return state;
  }

  #letOthersRun(signal: AbortSignal): LetOthersRun {
    return async () => sleep(this.#context.clock, 0, signal);
  }

  /**
   * One change after the other, so that all applications are given the entries of one
   * configuration. No change waits for the vendor.
   */
  async #inTurn<Value>(change: () => Promise<Value>): Promise<Value> {
    const changed = this.#changed.then(async () => {
      this.#isChanging = true;
      return change();
    });
    const ended = (): void => {
      this.#isChanging = false;
    };
    this.#changed = changed.then(ended, ended);
    return changed;
  }

  #replanIfOutdated(newHosts = 0): void {
    if (this.#planner.isOutdated(newHosts)) this.#replan();
  }

  #replan(): void {
    this.#planner.replan(this.states.all);
    const { plan } = this.#planner;
    this.#context.calls.plan(plan.freePerMinute);
    this.states.setStretch(plan.stretch);
    this.log.demand(plan);
    this.aspects();
  }

  /** If not everything can be polled at once, first polls are spread evenly. */
  #spreadIfNeeded(states: Iterable<State>): void {
    if (this.plan.stretch > 1) this.states.spread([...states]);
  }

  #remove(id: string): void {
    this.states.delete(id);
    this.#publisher.publish(id);
  }

  /** Of an application that lost only parts, the line of the poll that failed says it. */
  #logDropped(states: readonly State[]): void {
    this.log.dropped(states.filter(({ droppedMs }) => droppedMs !== undefined));
  }

  /** Of an account that asks for no list, nothing that earlier lists said counts any more. */
  #forgetDiscoveries(): void {
    this.#discovery = initialDiscovery;
    this.#unauthorized = undefined;
    this.#planner.discovered({ calls: 0, complete: true }, 1);
  }

  #isAnyQueryMissing(): boolean {
    return [...this.states.queries.values()].some((state) => missingTextOf(state) !== undefined);
  }

  /** A shard may have no query of the account: nothing is wrong there. */
  #noteWhetherAsked(options: AccountInUse, isAsking: boolean): void {
    const { up } = this.#queried;
    const isOther = isAsking ? this.states.queries.size === 0 : up.value !== true;
    const nowMs = this.#context.clock.monotonicMs();
    if (isOther)
      this.#queried = isAsking
        ? neverAsked
        : { up: { value: true, sinceMs: nowMs }, error: undefined };
    if (!seeksAny(options)) this.#showUp(options);
  }

  #noteUp({ error, unauthorized }: QueryOutcome, nowMs: number): void {
    const isUp = !unauthorized && isAnswered(error);
    this.#queried = { up: noted(this.#queried.up, isUp, nowMs), error: isUp ? undefined : error };
    if (!seeksAny(this.#options)) this.#showUp(this.#options);
  }

  /** Of an account without applications its queries say whether it is up. */
  #showUp({ account }: AccountInUse): void {
    this.#context.sink.accountUp(account.name, this.#queried.up.value === true);
  }

  #snapshotOf(id: string): Snapshot | undefined {
    const state = this.states.get(id);
    if (state?.kind === 'query') {
      const { query, reading, pollSucceeded, lastSuccessMs } = state;
      return { query, reading, pollSucceeded, lastSuccessMs };
    }
    if (state === undefined || state.gone) return undefined;
    const nowMs = this.#context.clock.monotonicMs();
    const isStale = isDiscoveryStale(this.#discovery, state, nowMs);
    return appSnapshotOf(this.#options.account.name, state, isStale);
  }
}
