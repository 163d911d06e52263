import type { ApiError } from '../model/api-error.ts';
import { type Clock, type Now, nowOf } from '../model/clock.ts';
import type { Query } from '../model/config.ts';
import { type QueryOutcome, queryOutcomeOf } from '../model/poll-outcome.ts';
import { type QuerySnapshot, queryIdOf, type SnapshotSink } from '../model/snapshot.ts';
import type { PollObserver } from '../model/telemetry.ts';
import type { AccountPlanner } from './account-plan.ts';
import { AppPublisher } from './app-publisher.ts';
import type { AskedState } from './discovery-state.ts';
import { DueQueue, type DueQueueDependencies } from './due-queue.ts';
import type { PollLog } from './poll-log.ts';
import type { Polled } from './poll-loop.ts';
import {
  afterQueryPoll,
  asksSame,
  isAnswered,
  missingTextOf,
  type QueryRequest,
  type QueryState,
  queryRules,
} from './query-state.ts';
import { phaseOf, spreadTurn } from './schedule.ts';
import { unpolled } from './subject-state.ts';

export interface QueryTableDependencies extends Omit<DueQueueDependencies, 'clock'> {
  readonly clock: Clock;
  readonly sink: SnapshotSink;
  readonly observer: PollObserver;
  readonly log: Pick<PollLog, 'queryPolled' | 'dropped' | 'queryMissing'>;
  readonly planner: Pick<AccountPlanner, 'plan' | 'isOutdated'>;
  /** Makes a new plan. */
  readonly replan: () => void;
  /** Why New Relic refuses the key; `undefined` as far as is known. */
  readonly refusal: () => ApiError | undefined;
}

/**
 * The queries of one account, as they are configured: nothing that lists or chooses applications ever
 * sees one.
 */
export class QueryTable implements Polled<QueryRequest, QueryOutcome> {
  readonly #account: string;
  readonly #dependencies: QueryTableDependencies;
  readonly queue: DueQueue<QueryState>;
  readonly #publisher: AppPublisher;
  #phaseIndex = 0;
  /** Whether New Relic answered the last query. */
  #up: AskedState = { up: undefined, upChangedMs: undefined, error: undefined };
  #isAlone = false;

  constructor(account: string, dependencies: QueryTableDependencies) {
    this.#account = account;
    this.#dependencies = dependencies;
    this.queue = new DueQueue(queryRules, dependencies);
    this.#publisher = new AppPublisher(account, {
      ...dependencies,
      snapshotOf: (id) => {
        const state = this.states.get(id);
        return state && snapshotOf(state);
      },
    });
  }

  get states(): ReadonlyMap<string, QueryState> {
    return this.queue.all;
  }

  /** Whether some query has never had a value. */
  get isMissing(): boolean {
    return [...this.states.values()].some((state) => missingTextOf(state) !== undefined);
  }

  get up(): AskedState {
    return this.#up;
  }

  get isRefused(): boolean {
    return this.#dependencies.refusal() !== undefined;
  }

  /**
   * Asks these queries from now on, in this turn. One that asks the same as before keeps its values and
   * its poll under way. Returns the ids of those whose polls under way are no longer wanted.
   *
   * @param isAlone whether the account has no applications: then its queries say whether it is up
   */
  ask(queries: readonly Query[], isAlone: boolean): readonly string[] {
    this.#isAlone = isAlone;
    this.#noteWhetherAsked(queries.length > 0);
    const next = new Map(queries.map((query) => [queryIdOf(query), query]));
    const unwanted = [...this.states.values()]
      .filter(({ query }) => !asksSame(query, next.get(queryIdOf(query))))
      .map(({ query }) => queryIdOf(query));
    for (const id of unwanted) {
      this.queue.delete(id);
      this.#publisher.remove(id);
    }
    const isNew = (id: string): boolean => !this.states.has(id);
    const added = [...next.keys()].filter(isNew);
    for (const [id, query] of next) {
      const known = this.states.get(id);
      this.queue.set(id, known === undefined ? this.#newState(query) : { ...known, query });
    }
    this.#dependencies.replan();
    if (this.#dependencies.planner.plan.stretch > 1) this.#spread(added);
    this.#publisher.publishAll(next.keys());
    return unwanted;
  }

  begin(id: string): QueryRequest | undefined {
    const state = this.states.get(id);
    if (state === undefined) return undefined;
    this.queue.begin(id);
    const times = this.queue.timesOf(state, this.#dependencies.planner.plan.stretch);
    return { query: state.query, ...times };
  }

  idOf({ query }: QueryRequest): string {
    return queryIdOf(query);
  }

  knownOutcomeOf(): QueryOutcome | undefined {
    const refusal = this.#dependencies.refusal();
    return refusal && { ...queryOutcomeOf(refusal), unauthorized: true };
  }

  polled(id: string, _: QueryRequest, outcome: QueryOutcome, startMs: number): boolean {
    const { clock, observer, log, planner } = this.#dependencies;
    const now = nowOf(clock);
    const isWhole = outcome.error === undefined;
    observer.polled((now.monotonicMs - startMs) / 1000, isWhole);
    const before = this.states.get(id);
    if (before === undefined) return isWhole;
    const after = afterQueryPoll(before, outcome, startMs, now);
    const { headroom } = planner.plan;
    const timing = { headroom, phase: phaseOf(before.phaseIndex) };
    const skipped = this.queue.ended(id, after, startMs, timing);
    if (skipped > 0) observer.skipped(skipped);
    this.#publisher.publish(id);
    this.#noteUp(outcome, now);
    log.queryPolled(before, after, outcome.error, this.states);
    if (before.reading !== undefined && after.droppedMs !== undefined) log.dropped([after]);
    const missing = missingTextOf(after);
    const isNew = missing !== undefined && missingTextOf(before) === undefined;
    if (isNew) log.queryMissing(after, missing);
    if (isNew || planner.isOutdated()) this.#dependencies.replan();
    return isWhole;
  }

  dropStale(): void {
    if (this.#dependencies.planner.isOutdated()) this.#dependencies.replan();
    const ids = this.queue.dropStale();
    for (const id of ids) this.#publisher.publish(id);
    const changed = ids.flatMap((id) => this.states.get(id) ?? []);
    this.#dependencies.log.dropped(changed.filter(({ droppedMs }) => droppedMs !== undefined));
  }

  /** Publishes nothing more of what was left for a later turn of the event loop. */
  stop(): void {
    this.#publisher.stop();
  }

  #newState(query: Query): QueryState {
    const base = unpolled(this.#phaseIndex, this.#dependencies.time.nowMs());
    this.#phaseIndex += 1;
    return { ...base, query, reading: undefined, failedMs: undefined, emptyAnswers: 0 };
  }

  /** If not everything can be polled at once, first polls are spread over their intervals. */
  #spread(ids: readonly string[]): void {
    const virtualMs = this.#dependencies.time.nowMs();
    for (const id of ids) {
      const state = this.states.get(id);
      if (state === undefined) continue;
      const turn = spreadTurn(state.phaseIndex, state.query.poll.intervalMs, virtualMs);
      this.queue.set(id, { ...state, turn });
    }
  }

  /** A shard may have no query of the account: nothing is wrong there. */
  #noteWhetherAsked(isAsking: boolean): void {
    const { clock, sink } = this.#dependencies;
    const isOther = isAsking ? this.states.size === 0 : this.#up.up !== true;
    const [up, upChangedMs] = isAsking ? [] : [true, clock.monotonicMs()];
    if (isOther) this.#up = { up, upChangedMs, error: undefined };
    if (this.#isAlone) sink.accountUp(this.#account, this.#up.up === true);
  }

  #noteUp({ error, unauthorized }: QueryOutcome, { monotonicMs }: Now): void {
    const up = !unauthorized && isAnswered(error);
    const upChangedMs = up === this.#up.up ? this.#up.upChangedMs : monotonicMs;
    this.#up = { up, upChangedMs, error: up ? undefined : error };
    if (this.#isAlone) this.#dependencies.sink.accountUp(this.#account, up);
  }
}

function snapshotOf({ query, reading, pollSucceeded, lastSuccessMs }: QueryState): QuerySnapshot {
  return { query, reading, pollSucceeded, lastSuccessMs };
}
