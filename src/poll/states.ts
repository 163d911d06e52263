import type { Clock } from '../model/clock.ts';
import type { PollTiming } from '../model/config.ts';
import { neverWrong, noted, type Since } from '../model/since.ts';
import { queryIdOf } from '../model/snapshot.ts';
import { type AppState, appStaleAtMs, appWhenStale } from './app-state.ts';
import { type QueryState, queryStaleAtMs, queryWhenStale } from './query-state.ts';
import {
  dueMsOf,
  earliestMsOf,
  lateAfterMs,
  type PollTimes,
  pollDeadlineMs,
  spreadTurn,
  stretchedTurn,
  turnAfter,
} from './schedule.ts';

/** What is known about a subject of polls. */
export type State = AppState | QueryState;

export function idOf(state: State): string {
  return state.kind === 'query' ? queryIdOf(state.query) : state.selected.application.id;
}

export function timingOf(state: State): PollTiming {
  return state.kind === 'query' ? state.query.poll : state.selected.entry.poll;
}

/** Monotonic time at which values that are held become too old for that; `undefined` if none are. */
export function staleAtMs(state: State): number | undefined {
  return state.kind === 'query' ? queryStaleAtMs(state) : appStaleAtMs(state);
}

function whenStale(state: State, nowMs: number): State {
  return state.kind === 'query' ? queryWhenStale(state, nowMs) : appWhenStale(state, nowMs);
}

interface Due {
  readonly id: string;
  readonly dueMs: number;
}

/** What a look at all states shows. */
export interface Look {
  /** Those whose polls are due, the one that has been due for longest first. */
  readonly due: readonly string[];
  /** Those that are late, or lost values that were too old, and were replaced for that. */
  readonly changed: readonly State[];
  /** Monotonic time at which something happens to one of the others; infinite if never. */
  readonly nextMs: number;
}

/**
 * The states of an account's applications and queries: nothing else replaces them. When something happens
 * to one is found out by looking through all of them.
 */
export class States {
  readonly #applications = new Map<string, AppState>();
  readonly #queries = new Map<string, QueryState>();
  readonly #polling = new Set<string>();
  readonly #clock: Clock;
  /** How many did not get everything with their last poll, and whether any. */
  readonly #failing = { application: 0, query: 0 };
  readonly #isAnyFailing = { application: neverWrong, query: neverWrong };
  readonly #phaseIndexes = { application: 0, query: 0 };
  /** The factor by which all intervals are stretched. */
  #stretch = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get applications(): ReadonlyMap<string, AppState> {
    return this.#applications;
  }

  get queries(): ReadonlyMap<string, QueryState> {
    return this.#queries;
  }

  /** The factor by which all intervals are longer than configured. */
  get stretch(): number {
    return this.#stretch;
  }

  /** How many applications did not get everything with their last poll. */
  get failingApplications(): number {
    return this.#failing.application;
  }

  /** Whether any of them did not, and since when. */
  failing(kind: State['kind']): Since<boolean> {
    return this.#isAnyFailing[kind];
  }

  get(id: string): State | undefined {
    return this.#applications.get(id) ?? this.#queries.get(id);
  }

  /** The number of a new one among all that ever were. */
  takePhaseIndex(kind: State['kind']): number {
    const index = this.#phaseIndexes[kind];
    this.#phaseIndexes[kind] = index + 1;
    return index;
  }

  /** The state of one from now on. Its next poll is due no later than a new interval demands. */
  set(next: State): State {
    const id = idOf(next);
    const before = this.get(id);
    const state = before === undefined ? next : this.#inTurn(before, next);
    this.#countFailing(state.kind, before, state);
    if (state.kind === 'query') this.#queries.set(id, state);
    else this.#applications.set(id, state);
    return state;
  }

  delete(id: string): void {
    const before = this.get(id);
    if (before === undefined) return;
    this.#countFailing(before.kind, before, undefined);
    this.#applications.delete(id);
    this.#queries.delete(id);
  }

  /** Its poll has begun: it is under way, or waits for its first call. */
  begin(id: string): void {
    this.#polling.add(id);
  }

  /** Its poll has ended, with or without an outcome. */
  end(id: string): void {
    this.#polling.delete(id);
  }

  /** All intervals are so many times as long from now on. What has passed of one keeps its share. */
  setStretch(stretch: number): void {
    if (stretch === this.#stretch) return;
    const factor = stretch / this.#stretch;
    const nowMs = this.#clock.monotonicMs();
    this.#stretch = stretch;
    for (const [id, state] of this.#applications) {
      this.#applications.set(id, { ...state, turn: stretchedTurn(state.turn, factor, nowMs) });
    }
    for (const [id, state] of this.#queries) {
      this.#queries.set(id, { ...state, turn: stretchedTurn(state.turn, factor, nowMs) });
    }
  }

  /** Spreads the polls of these over their intervals. The first of all is due at once. */
  spread(states: readonly State[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const state of states) {
      this.set({ ...state, turn: spreadTurn(state.phaseIndex, nowMs) });
    }
  }

  /**
   * The state with the turn after a poll that has just ended; and how many polls were skipped because it
   * took so long.
   *
   * @param startMs when it was queued
   */
  afterTurn<One extends State>(
    state: One,
    startMs: number,
    how: { readonly headroom: number; readonly phase: number | undefined },
  ): { readonly state: One; readonly skipped: number } {
    const times = { startMs, nowMs: this.#clock.monotonicMs() };
    const timing = { intervalMs: this.#intervalMsOf(state), ...how };
    const { turn, skipped } = turnAfter(state.turn, times, timing);
    return { state: { ...state, turn }, skipped };
  }

  /** When its next poll is due, late and over. */
  timesOf(state: State): PollTimes {
    return {
      dueMs: this.nextDueMs(state),
      periodMs: this.#intervalMsOf(state),
      deadlineMs: pollDeadlineMs(timingOf(state), this.#stretch),
      hasFailed: state.pollSucceeded === false,
    };
  }

  /** Monotonic time at which the next poll is due, as the plan is now. */
  nextDueMs(state: State): number {
    return dueMsOf(state.turn, this.#intervalMsOf(state));
  }

  /** When something happens to it next; infinite if never, or if it is being polled. */
  nextEventMs(state: State): number {
    const dueMs = this.#polling.has(idOf(state)) ? Infinity : this.nextDueMs(state);
    return Math.min(dueMs, this.#lateMsOf(state), staleAtMs(state) ?? Infinity);
  }

  /** Monotonic time since when something should have happened that nobody has looked at. */
  overdueSinceMs(): number | undefined {
    let sinceMs = this.#clock.monotonicMs();
    for (const state of [...this.#applications.values(), ...this.#queries.values()]) {
      sinceMs = Math.min(sinceMs, this.nextEventMs(state));
    }
    return sinceMs < this.#clock.monotonicMs() ? sinceMs : undefined;
  }

  /**
   * Finds what is due. One whose poll is late fails from now on, and values that have become stale are
   * dropped.
   *
   * @param isThrottled whether New Relic has answered 429 in the last minutes
   */
  look(isThrottled: boolean): Look {
    const nowMs = this.#clock.monotonicMs();
    const due: Due[] = [];
    const changed: State[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    const lookAt = (id: string, before: State): void => {
      const state = this.#inTime(before, nowMs, isThrottled);
      if (state !== before) changed.push(this.set(state));
      const dueMs = this.nextDueMs(state);
      const isPolling = this.#polling.has(id);
      if (!isPolling && dueMs <= nowMs) due.push({ id, dueMs });
      else if (!isPolling && dueMs < nextMs) nextMs = dueMs;
      nextMs = Math.min(nextMs, this.#lateMsOf(state), staleAtMs(state) ?? Infinity);
    };
    for (const [id, state] of this.#applications) lookAt(id, state);
    for (const [id, state] of this.#queries) lookAt(id, state);
    return { due: inOrder(due), changed, nextMs };
  }

  /** Applications that are not due yet, but may be polled with others, in the order in which they are due. */
  early(most: number): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const early: Due[] = [];
    for (const [id, state] of this.#applications) {
      if (this.#polling.has(id)) continue;
      const earliestMs = earliestMsOf(state.turn, this.#intervalMsOf(state));
      const isEarly = state.pollsEnded === 0 || earliestMs <= nowMs;
      if (isEarly) early.push({ id, dueMs: this.nextDueMs(state) });
    }
    return inOrder(early).slice(0, most);
  }

  #inTime(before: State, nowMs: number, isThrottled: boolean): State {
    const sinceMs = this.#lateMsOf(before);
    const state =
      sinceMs <= nowMs
        ? { ...before, late: lateSince(sinceMs, isThrottled), pollSucceeded: false }
        : before;
    return (staleAtMs(state) ?? Infinity) <= nowMs ? whenStale(state, nowMs) : state;
  }

  /** When one with values counts as failing unless its poll ends; infinite if it does already. */
  #lateMsOf(state: State): number {
    if (state.late !== undefined || state.reading === undefined) return Number.POSITIVE_INFINITY;
    return this.nextDueMs(state) + lateAfterMs(timingOf(state), this.#stretch);
  }

  #intervalMsOf(state: State): number {
    return timingOf(state).intervalMs * this.#stretch;
  }

  /**
   * A shorter interval spreads what it makes overdue, since a crowd of polls would hold up the
   * others; and first polls that would wait longer than that.
   */
  #inTurn(before: State, state: State): State {
    const intervalMs = this.#intervalMsOf(state);
    if (intervalMs >= this.#intervalMsOf(before)) return state;
    const nowMs = this.#clock.monotonicMs();
    const waitMs = this.nextDueMs(state) - nowMs;
    return waitMs >= 0 && waitMs <= intervalMs
      ? state
      : { ...state, turn: spreadTurn(state.phaseIndex, nowMs) };
  }

  #countFailing(kind: State['kind'], before: State | undefined, after: State | undefined): void {
    const change = Number(isFailing(after)) - Number(isFailing(before));
    this.#failing[kind] += change;
    const isAny = this.#failing[kind] > 0;
    this.#isAnyFailing[kind] = noted(this.#isAnyFailing[kind], isAny, this.#clock.monotonicMs());
  }
}

function lateSince(sinceMs: number, isThrottled: boolean): NonNullable<State['late']> {
  return { sinceMs, reason: isThrottled ? 'throttled' : 'timeout' };
}

function inOrder(due: readonly Due[]): readonly string[] {
  return due.toSorted((left, right) => left.dueMs - right.dueMs).map(({ id }) => id);
}

/** One that is gone has nothing that could fail. */
function isFailing(state: State | undefined): boolean {
  return state?.pollSucceeded === false && !state.gone;
}
