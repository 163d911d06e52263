import { type Clock, nowOf, wallTimeOf } from '../model/clock.ts';
import type { PollTiming } from '../model/config.ts';
import { hasValues, queryIdOf } from '../model/snapshot.ts';
import { type AppState, noParts, withoutFailingSince } from './app-state.ts';
import type { QueryState } from './query-state.ts';
import { askedOf, brings } from './question.ts';
import { dueAfter, gapMsOf, gapsAfter, type PollTimes, phaseOf } from './schedule.ts';
import { failingFrom, type Why, whatCallsWaitFor } from './subject-state.ts';

/** What is known about a subject of polls. */
export type State = AppState | QueryState;

export function subjectId(state: State): string {
  return state.kind === 'query' ? queryIdOf(state.query) : state.selected.application.id;
}

export function timingOf(state: State): PollTiming {
  return askedOf(state).poll;
}

/** Monotonic time at which values that are held become too old for that; infinite if none are. */
export function staleAtMs(state: State): number {
  if (state.reading === undefined) return Number.POSITIVE_INFINITY;
  return failingFrom(state, state.heldSinceMs) + timingOf(state).staleAfterMs;
}

/** Without values that were not renewed for `stale_after`: those of single parts, or all if a poll is late. */
function withoutStaleValues<One extends State>(state: One, nowMs: number): One {
  if (staleAtMs(state) > nowMs) return state;
  const sinceMs = nowMs - timingOf(state).staleAfterMs;
  const isAllStale = state.kind === 'query' || (state.lateSinceMs ?? Infinity) <= sinceMs;
  const none = state.kind === 'query' ? { reading: undefined, heldSinceMs: undefined } : noParts;
  const left = isAllStale ? none : withoutFailingSince(state, sinceMs);
  const isDropped = left.reading === undefined && hasValues(state.reading);
  return { ...state, ...left, pollSucceeded: false, droppedMs: isDropped ? nowMs : undefined };
}

/** A poll that is due for so long fails: values must not grow old in silence while it waits. */
const lateAfterIntervals = 2;
/** A poll that is late waits, or its calls do: that is no failure of New Relic's. */
const waiting: Why = {
  reason: 'throttled',
  message: `The poll that was due has not ended: ${whatCallsWaitFor}`,
};

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
  /** Those that are new, or want what no poll has brought. */
  readonly #unasked = new Set<string>();
  readonly #clock: Clock;
  /** How many there have ever been. */
  #count = 0;
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

  get all(): readonly State[] {
    return [...this.#applications.values(), ...this.#queries.values()];
  }

  /** Those that did not get everything with their last poll. One that is gone has nothing that could fail. */
  failing(): readonly State[] {
    return this.all.filter(({ pollSucceeded, gone }) => pollSucceeded === false && !gone);
  }

  get(id: string): State | undefined {
    return this.#applications.get(id) ?? this.#queries.get(id);
  }

  /** The phase of a new one. */
  takePhase(): number {
    this.#count += 1;
    return phaseOf(this.#count);
  }

  /** The state of one from now on. */
  set(next: State): State {
    const id = subjectId(next);
    const before = this.get(id);
    const state = before === undefined ? next : this.#inTurn(before, next);
    // One that still waits for its first poll keeps its place.
    const isAwaited = before?.pollsEnded === 0;
    if (!isAwaited && !brings(before && askedOf(before), askedOf(next))) this.#unasked.add(id);
    if (state.kind === 'query') this.#queries.set(id, state);
    else this.#applications.set(id, state);
    return state;
  }

  delete(id: string): void {
    this.#unasked.delete(id);
    this.#applications.delete(id);
    this.#queries.delete(id);
  }

  /** Its poll begins: it is under way, or waits for its first call. Returns false if one was already. */
  begin(id: string): boolean {
    const { size } = this.#polling;
    return this.#polling.add(id).size > size;
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
    for (const state of this.all) {
      this.set({ ...state, dueMs: nowMs + (state.dueMs - nowMs) * factor });
    }
  }

  /**
   * What is new, or wants what no poll has brought, is due at once; if not everything can be polled as often as
   * configured, it is spread over its interval, the first of all at once. Nothing is due later than it was.
   */
  askNew(kind: State['kind']): void {
    const unasked = [...this.#unasked].flatMap((id) => this.get(id) ?? []);
    for (const [index, state] of unasked.filter((one) => one.kind === kind).entries()) {
      this.#unasked.delete(subjectId(state));
      const { dueMs } = this.#dueIn(state, this.#stretch > 1 ? phaseOf(index) : 0);
      const latestMs = state.pollsEnded === 0 ? Infinity : state.dueMs;
      this.set({ ...state, dueMs: Math.min(dueMs, latestMs) });
    }
  }

  /**
   * The state after a poll that has just ended, with its next turn and without what is stale; and how many
   * polls were skipped because it took so long.
   *
   * @param startMs when it was queued
   */
  afterTurn<One extends State>(
    state: One,
    startMs: number,
    how: { readonly headroom: number; readonly phase: number | undefined },
  ): { readonly state: One; readonly skipped: number } {
    const nowMs = this.#clock.monotonicMs();
    const timing = { intervalMs: this.#intervalMsOf(state), ...how };
    const { dueMs, skipped } = dueAfter(state.dueMs, { startMs, nowMs }, timing);
    const before = this.get(subjectId(state)) ?? state;
    const gaps = gapsAfter(before, timing.intervalMs, nowMs);
    const next = { ...state, dueMs, endedMs: nowMs, gaps };
    return { state: withoutStaleValues(next, nowMs), skipped };
  }

  /**
   * The factor by which the intervals of these were longer than configured in the last ten minutes: that of the
   * plan, or the median of their longest gaps. What holds up a key (a pause, another user, a process that stands
   * still) holds up nearly all alike, since they take turns; what fails or hangs on its own is told there. By
   * the mean, one that hangs would make a slow account.
   */
  reachedStretch(some: readonly State[], isAsked: (one: State) => boolean = () => true): number {
    const nowMs = this.#clock.monotonicMs();
    const gapOf = (state: State): number =>
      gapMsOf(state, this.#intervalMsOf(state), nowMs) / timingOf(state).intervalMs;
    // As a rule none is late, and that costs less to find out than which are asked for.
    if (!some.some((state) => gapOf(state) > 0)) return this.#stretch;
    const gaps = Float64Array.from(some.filter(isAsked), gapOf).toSorted();
    // Of two, the shorter one.
    return Math.max(this.#stretch, gaps[Math.ceil(gaps.length / 2) - 1] ?? 0);
  }

  /** When its next poll is due. */
  timesOf(state: State): PollTimes {
    return {
      dueMs: state.dueMs,
      periodMs: this.#intervalMsOf(state),
      hasFailed: state.pollSucceeded === false,
    };
  }

  /** When something happens to it next; infinite if never. While it is polled, it is not due. */
  nextEventMs(state: State): number {
    const dueMs = this.#polling.has(subjectId(state)) ? Infinity : state.dueMs;
    return Math.min(dueMs, this.#lateMsOf(state), staleAtMs(state));
  }

  /** Monotonic time since when something should have happened that nobody has looked at. */
  overdueSinceMs(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    let sinceMs = nowMs;
    for (const state of this.all) sinceMs = Math.min(sinceMs, this.nextEventMs(state));
    return sinceMs < nowMs ? sinceMs : undefined;
  }

  /**
   * Finds what is due. One whose poll is late fails from now on, and values that have become stale are
   * dropped.
   */
  look(): Look {
    const nowMs = this.#clock.monotonicMs();
    const due: State[] = [];
    const changed: State[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const before of this.all) {
      const state = this.#inTime(before, nowMs);
      if (state !== before) changed.push(this.set(state));
      if (state.dueMs > nowMs || this.#polling.has(subjectId(state))) {
        nextMs = Math.min(nextMs, this.nextEventMs(state));
      } else {
        due.push(state);
        nextMs = Math.min(nextMs, this.#lateMsOf(state), staleAtMs(state));
      }
    }
    return { due: dueInOrder(due), changed, nextMs };
  }

  /** Applications that are not due yet, but may be polled with others, in the order in which they are due. */
  early(most: number): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const early: AppState[] = [];
    for (const [id, state] of this.#applications) {
      // Nothing is polled more than twice as often as its interval.
      const isNear = state.dueMs - this.#intervalMsOf(state) / 2 <= nowMs;
      if ((isNear || state.pollsEnded === 0) && !this.#polling.has(id)) early.push(state);
    }
    return dueInOrder(early).slice(0, most);
  }

  #inTime(before: State, nowMs: number): State {
    const sinceMs = this.#lateMsOf(before);
    if (sinceMs > nowMs) return withoutStaleValues(before, nowMs);
    const failure = before.failure ?? {
      ...waiting,
      sinceMs: wallTimeOf(nowOf(this.#clock))(sinceMs),
    };
    const late = { ...before, failure, lateSinceMs: sinceMs, pollSucceeded: false };
    return withoutStaleValues(late, nowMs);
  }

  /** When one counts as failing unless its poll ends; infinite if it does already. */
  #lateMsOf(state: State): number {
    if (state.lateSinceMs !== undefined) return Number.POSITIVE_INFINITY;
    return state.dueMs + lateAfterIntervals * this.#intervalMsOf(state);
  }

  #intervalMsOf(state: State): number {
    return timingOf(state).intervalMs * this.#stretch;
  }

  /** A shorter interval spreads polls that would wait longer than that: a crowd would hold up the others. */
  #inTurn(before: State, state: State): State {
    const intervalMs = this.#intervalMsOf(state);
    const waitMs = state.dueMs - this.#clock.monotonicMs();
    const isShorter = intervalMs < this.#intervalMsOf(before);
    return isShorter && waitMs > intervalMs ? this.#dueIn(state, state.phase) : state;
  }

  /** @param share of its interval that will have passed then */
  #dueIn(state: State, share: number): State {
    return { ...state, dueMs: this.#clock.monotonicMs() + share * this.#intervalMsOf(state) };
  }
}

function dueInOrder(due: readonly State[]): readonly string[] {
  return due.toSorted((left, right) => left.dueMs - right.dueMs).map(subjectId);
}
