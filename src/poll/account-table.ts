import pLimit from 'p-limit';
import type { ApiError } from '../model/api-error.ts';
import { nowOf, sleep } from '../model/clock.ts';
import type { AccountInUse, Query } from '../model/config.ts';
import type { PollOutcome, QueryOutcome } from '../model/poll-outcome.ts';
import { createOwns } from '../model/shard.ts';
import { cutText } from '../model/shown-text.ts';
import { queryIdOf, type Snapshot } from '../model/snapshot.ts';
import type { Discovery, Polled } from '../model/source.ts';
import type { MissingMetric } from '../model/telemetry.ts';
import { type AccountPlan, AccountPlanner } from './account-plan.ts';
import { AppPublisher, appSnapshotOf } from './app-publisher.ts';
import { type AppState, afterPoll } from './app-state.ts';
import type { Context } from './context.ts';
import {
  type AskedState,
  askedAfterQuery,
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
import { isStillAsked, type PollRequest } from './poll-request.ts';
import { afterQueryPoll, newQueryState, type QueryState } from './query-state.ts';
import { brings } from './question.ts';
import { type LetOthersRun, reconcile, reconfigure } from './reconcile.ts';
import { type Look, type State, States, subjectId } from './states.ts';

/** Names may be of any length. */
const longestTagName = 256;

/** What is known about one account. Nothing else replaces its states or publishes them. */
export class AccountTable {
  readonly states: States;
  #options: AccountInUse;
  readonly #context: Context;
  readonly #planner: AccountPlanner;
  readonly #publisher: AppPublisher;
  readonly #metrics = new MetricWatch();
  #discovery = initialDiscovery;
  #queried = neverAsked;
  /**
   * Gives applications what a discovery or a configuration says; one after the other, so that all have the
   * entries of one configuration. No change waits for the vendor.
   */
  readonly #changes = pLimit(1);

  constructor(options: AccountInUse, context: Context) {
    const { clock, sink } = context;
    const { name } = options.account;
    this.#options = options;
    this.#context = context;
    this.#planner = new AccountPlanner(discoveryOptionsOf(options.entries).intervalMs, context);
    this.states = new States(clock);
    this.#publisher = new AppPublisher(name, sink, (id) => this.#snapshotOf(id));
    // Before its first discovery an account must not look like a healthy one without applications.
    sink.accountUp(name, false);
    this.ask(options);
  }

  /** New Relic refused the key in the last discovery. Until the next one polls would fail too. */
  get refusal(): ApiError | undefined {
    const { error } = this.#discovery;
    return isUnauthorized(error) ? error : undefined;
  }

  get discovery(): DiscoveryState {
    return this.#discovery;
  }

  /** What says whether the account is up: discoveries, or where there are none, queries. */
  get asked(): AskedState {
    return this.#askedOf(this.#options);
  }

  get missingMetrics(): readonly MissingMetric[] {
    return this.#metrics.missing;
  }

  /** As the limit was at the last look. */
  get plan(): AccountPlan {
    return this.#planner.plan;
  }

  /**
   * Asks the queries of these settings from now on, in this turn. One that asks the same as before keeps its
   * values.
   */
  ask(options: AccountInUse): void {
    const { clock } = this.#context;
    const owns = createOwns(options.account.shard);
    const own = (options.queries ?? []).filter((query) => owns(queryIdOf(query)));
    const next = new Map(own.map((query): [string, Query] => [queryIdOf(query), query]));
    if (this.states.queries.size === 0) this.#queried = neverAsked;
    for (const [id, { query }] of this.states.queries) {
      if (!brings(query, next.get(id))) this.#remove(id);
    }
    for (const [id, query] of next) {
      const known = this.states.queries.get(id);
      const nowMs = clock.monotonicMs();
      this.states.set(
        known ? { ...known, query } : newQueryState(query, this.states.takePhase(), nowMs),
      );
    }
    if (!seeksAny(options.entries)) this.#showUp(options);
    this.#replan();
    this.states.askNew('query');
  }

  /**
   * Uses other settings from now on. What is known stays if it is still wanted. With many applications it
   * takes several turns of the event loop. An abort leaves it half done, but every state is consistent.
   */
  async reconfigure(options: AccountInUse, signal: AbortSignal): Promise<void> {
    await this.#changes(async () => {
      this.#options = options;
      const chosen = { entries: options.entries, owns: createOwns(options.account.shard) };
      const released = await reconfigure(this.states, chosen, this.#letOthersRun(signal));
      for (const id of released) this.#publisher.publish(id);
      this.#metrics.judge(this.states.applications);
      if (!seeksAny(options.entries)) {
        // Nothing that earlier lists said counts any more.
        this.#discovery = initialDiscovery;
        this.#planner.discovered({ calls: 0, complete: true }, 1);
      }
      this.#replan();
      this.states.askNew('application');
    });
  }

  /** Applies what a discovery found, in the same way. */
  async discovered(discovery: Discovery, signal: AbortSignal): Promise<void> {
    await this.#changes(async () => {
      signal.throwIfAborted();
      const { account, entries } = this.#options;
      const { clock } = this.#context;
      const chosen = { entries, owns: createOwns(account.shard) };
      const known = this.states.applications;
      const letOthersRun = this.#letOthersRun(signal);
      const nowMs = clock.monotonicMs();
      const change = await reconcile(this.states, chosen, discovery, nowMs, letOthersRun);
      const { removed, missing, excluded } = change;
      // In the same turn: an application that is forgotten but still shown would never be removed.
      for (const id of removed) this.#remove(id);
      this.#metrics.judge(known);
      this.#planner.discovered(discovery, discoveryOptionsOf(this.#options.entries).intervalMs);
      this.#replan();
      this.states.askNew('application');
      const showNothing = missing && [...missing, ...entriesWithoutHost(known.values())];
      const told = { missing: showNothing, excluded };
      const { error, lastSuccessMs } = this.#discovery;
      // After a failure it works again: another line says so.
      if (discovery.complete && error === undefined && lastSuccessMs === undefined) {
        const counts = { listed: discovery.applications.length, selected: known.size };
        this.#context.logger.info({ account: account.name, ...counts }, 'account discovered');
      }
      this.#discovery = discoveryAfter(this.#discovery, discovery, told, nowOf(clock));
      this.#showUp(this.#options);
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
    if (this.#planner.isOutdated()) this.#replan();
    const look = this.states.look();
    for (const state of look.changed) this.#publisher.publish(subjectId(state));
    if (this.#changes.activeCount === 0) return look;
    // Applications that have their entry already are due when all have theirs: first polls may be spread yet.
    return { ...look, due: look.due.filter((id) => this.states.queries.has(id)) };
  }

  /** A poll has ended. Returns whether all that was asked for arrived. */
  ended(request: PollRequest, polled: Polled): boolean {
    const { id, queuedMs } = request;
    const { observer, clock } = this.#context;
    const isWhole =
      polled.kind === 'query'
        ? polled.outcome.error === undefined
        : polled.outcome.failed.size === 0;
    this.states.end(id);
    observer.polled((clock.monotonicMs() - queuedMs) / 1000, isWhole);
    // In this turn a reload may have changed what is wanted.
    if (!isStillAsked(request, this.states)) return isWhole;
    const before = this.states.get(id);
    if (before?.kind === 'query' && polled.kind === 'query') {
      this.#queryEnded(before, polled.outcome, queuedMs);
    } else if (before?.kind === 'application' && polled.kind === 'application') {
      this.#appEnded(before, polled.outcome, queuedMs);
    }
    return isWhole;
  }

  #appEnded(before: AppState, outcome: PollOutcome, startMs: number): void {
    const { clock, source } = this.#context;
    const phase = source.sharesCalls ? undefined : before.phase;
    const polled = afterPoll(before, outcome, startMs, nowOf(clock));
    const after = this.#afterTurn(polled, startMs, phase);
    this.#metrics.polled(after, outcome.reading);
    if (before.gone !== after.gone) {
      const { id, name } = after.selected.application;
      const { name: account } = this.#options.account;
      const fields = { account, app_id: id, app_name: cutText(name, longestTagName) };
      this.#context.logger.info(fields, `application is ${after.gone ? 'gone' : 'back'}`);
    }
  }

  #queryEnded(before: QueryState, outcome: QueryOutcome, startMs: number): void {
    const now = nowOf(this.#context.clock);
    const polled = afterQueryPoll(before, outcome, startMs, now);
    this.#afterTurn(polled, startMs, before.phase);
    this.#queried = askedAfterQuery(this.#queried, outcome, now.monotonicMs);
    this.#showUp(this.#options);
  }

  #afterTurn<One extends State>(polled: One, startMs: number, phase: number | undefined): One {
    const how = { headroom: this.plan.headroom, phase };
    const { state, skipped } = this.states.afterTurn(polled, startMs, how);
    if (skipped > 0) this.#context.observer.skipped(skipped);
    this.states.set(state);
    this.#publisher.publish(subjectId(state));
    return state;
  }

  #letOthersRun(signal: AbortSignal): LetOthersRun {
    return async () => sleep(this.#context.clock, 0, signal);
  }

  #replan(): void {
    const { all } = this.states;
    this.#planner.replan(all);
    const { plan } = this.#planner;
    this.#context.calls.plan(plan.freePerMinute);
    this.states.setStretch(plan.stretch);
  }

  #remove(id: string): void {
    this.states.delete(id);
    this.#publisher.publish(id);
  }

  /** Whether the account is up, in these settings. */
  #showUp(options: AccountInUse): void {
    this.#context.sink.accountUp(options.account.name, this.#askedOf(options).up === true);
  }

  /** Without lists the queries say it. A shard may have no query of the account: nothing is wrong there. */
  #askedOf(options: AccountInUse): AskedState {
    if (seeksAny(options.entries)) return this.#discovery;
    const isUp = this.states.queries.size === 0 || this.#queried.up === true;
    return isUp ? { ...this.#queried, up: true, error: undefined } : this.#queried;
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
