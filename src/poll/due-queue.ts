import type { Clock } from '../model/clock.ts';
import type { PollTiming } from '../model/config.ts';
import { PriorityQueue } from '../model/priority-queue.ts';
import {
  dueMsOf,
  earliestMsOf,
  lateAfterMs,
  type PollTimes,
  pollDeadlineMs,
  spreadTurn,
  turnAfter,
} from './schedule.ts';
import type { SubjectState } from './subject-state.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface FailingCount {
  readonly subjects: number;
  /** Monotonic time at which the first of them began to fail, or the last one ceased to. */
  readonly changedMs: number;
}

export interface DueQueueDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly time: VirtualClock;
  /** Whether New Relic has answered 429 in the last minutes. */
  readonly isThrottled: () => boolean;
}

/** What differs between the states of applications and of queries. */
export interface StateRules<State> {
  timingOf(state: State): Pick<PollTiming, 'intervalMs' | 'staleAfterMs'>;
  /** Monotonic time at which values that are held become too old for that; `undefined` if none are. */
  staleAtMs(state: State): number | undefined;
  /** The state without the values that are too old now. */
  whenStale(state: State, nowMs: number): State;
}

/** The states of an account's applications, or of its queries, and when something happens to each next. */
export class DueQueue<State extends SubjectState> {
  readonly #all = new Map<string, State>();
  readonly #polling = new Set<string>();
  /** When the next poll of each is due, in virtual time. */
  readonly #polls = new PriorityQueue<string>();
  /** When one with values counts as failing unless its poll ends, in virtual time. */
  readonly #late = new PriorityQueue<string>();
  /** When the values of each that fails become stale, in monotonic time. */
  readonly #stale = new PriorityQueue<string>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #time: VirtualClock;
  readonly #isThrottled: () => boolean;
  readonly #rules: StateRules<State>;
  #failing: FailingCount;

  constructor(rules: StateRules<State>, { clock, time, isThrottled }: DueQueueDependencies) {
    this.#rules = rules;
    this.#isThrottled = isThrottled;
    this.#clock = clock;
    this.#time = time;
    this.#failing = { subjects: 0, changedMs: clock.monotonicMs() };
  }

  get all(): ReadonlyMap<string, State> {
    return this.#all;
  }

  /** How many did not get everything with their last poll. */
  get failing(): FailingCount {
    return this.#failing;
  }

  /** The state of one from now on. Its next poll is due no later than a new interval demands. */
  set(id: string, next: State): void {
    const before = this.#all.get(id);
    const state = before === undefined ? next : this.#inTurn(before, next);
    this.#countFailing(before, state);
    this.#all.set(id, state);
    const timing = this.#rules.timingOf(state);
    const dueMs = dueMsOf(state.turn, timing.intervalMs);
    const isLate = state.late !== undefined;
    const lateMs = isLate || state.reading === undefined ? undefined : dueMs + lateAfterMs(timing);
    place(this.#polls, id, this.#polling.has(id) ? undefined : dueMs);
    place(this.#late, id, lateMs);
    place(this.#stale, id, this.#rules.staleAtMs(state));
  }

  delete(id: string): void {
    this.#countFailing(this.#all.get(id), undefined);
    this.#all.delete(id);
    for (const queue of [this.#polls, this.#late, this.#stale]) queue.delete(id);
  }

  /** Its poll has begun: it is under way, or waits for its first call. */
  begin(id: string): void {
    this.#polling.add(id);
    this.#polls.delete(id);
  }

  /** Its poll has ended without an outcome. */
  end(id: string): void {
    this.#polling.delete(id);
    const state = this.#all.get(id);
    if (state !== undefined) this.set(id, state);
  }

  /**
   * Its poll has ended with this state. Returns how many polls were skipped because it took so long.
   *
   * @param startMs when it was queued, in monotonic time
   */
  ended(
    id: string,
    state: State,
    startMs: number,
    { headroom, phase }: { readonly headroom: number; readonly phase: number | undefined },
  ): number {
    this.#polling.delete(id);
    const times = { startMs: this.#time.at(startMs), nowMs: this.#time.nowMs() };
    const { intervalMs } = this.#rules.timingOf(state);
    const { turn, skipped } = turnAfter(state.turn, times, { intervalMs, headroom, phase });
    this.set(id, { ...state, turn });
    return skipped;
  }

  /** When its next poll is due, late and over. */
  timesOf(state: State, stretch: number): PollTimes {
    const timing = this.#rules.timingOf(state);
    return {
      dueMs: this.nextDueMs(state),
      periodMs: timing.intervalMs * stretch,
      deadlineMs: pollDeadlineMs(timing, stretch),
      hasFailed: state.pollSucceeded === false,
    };
  }

  /** Monotonic time at which the next poll is due, as the plan is now. */
  nextDueMs(state: State): number {
    return this.#time.monotonicMsOf(dueMsOf(state.turn, this.#rules.timingOf(state).intervalMs));
  }

  /**
   * The one whose poll has been due for longest; `undefined` when none is due.
   *
   * @param isEarly whether one counts as due that may be polled with others
   */
  firstDue(isEarly = false): string | undefined {
    const id = this.#polls.first();
    const state = id === undefined ? undefined : this.#all.get(id);
    if (state === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#time.monotonicMsOf(this.#polls.firstPriority()) <= nowMs) return id;
    const earliestMs = earliestMsOf(state.turn, this.#rules.timingOf(state).intervalMs);
    return isEarly && this.#time.nowMs() >= earliestMs ? id : undefined;
  }

  /**
   * Those whose poll is late fail from now on, and values that have become stale are dropped.
   * Returns the ids of both.
   */
  dropStale(): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const changed = new Set<string>();
    const reason = this.#isThrottled() ? 'throttled' : 'timeout';
    for (let one = this.#firstLate(nowMs); one !== undefined; one = this.#firstLate(nowMs)) {
      const sinceMs = this.#time.monotonicMsOf(this.#late.firstPriority());
      this.set(one.id, { ...one.state, late: { sinceMs, reason }, pollSucceeded: false });
      changed.add(one.id);
    }
    while (this.#stale.firstPriority() <= nowMs) {
      const one = this.#known(this.#stale.first());
      if (one === undefined) break;
      const { id, state } = one;
      this.set(id, this.#rules.whenStale(state, nowMs));
      changed.add(id);
    }
    return [...changed];
  }

  /** Monotonic time at which the next poll is due or values become stale; `undefined` if never. */
  nextEventMs(): number | undefined {
    const virtualMs = Math.min(this.#polls.firstPriority(), this.#late.firstPriority());
    const nextMs = Math.min(this.#time.monotonicMsOf(virtualMs), this.#stale.firstPriority());
    return Number.isFinite(nextMs) ? nextMs : undefined;
  }

  /**
   * A shorter interval spreads what it makes overdue, since a crowd of polls would hold up the
   * others; and first polls that would wait longer than that.
   */
  #inTurn(before: State, state: State): State {
    const nowMs = this.#time.nowMs();
    const { intervalMs } = this.#rules.timingOf(state);
    if (intervalMs >= this.#rules.timingOf(before).intervalMs) return state;
    const waitMs = dueMsOf(state.turn, intervalMs) - nowMs;
    return waitMs >= 0 && waitMs <= intervalMs
      ? state
      : { ...state, turn: spreadTurn(state.phaseIndex, intervalMs, nowMs) };
  }

  #firstLate(nowMs: number): { readonly id: string; readonly state: State } | undefined {
    const isLate = this.#time.monotonicMsOf(this.#late.firstPriority()) <= nowMs;
    return isLate ? this.#known(this.#late.first()) : undefined;
  }

  #known(id: string | undefined): { readonly id: string; readonly state: State } | undefined {
    const state = id === undefined ? undefined : this.#all.get(id);
    return id === undefined || state === undefined ? undefined : { id, state };
  }

  #countFailing(before: State | undefined, after: State | undefined): void {
    const change = Number(isFailing(after)) - Number(isFailing(before));
    if (change === 0) return;
    const subjects = this.#failing.subjects + change;
    const isEdge = subjects === 0 || this.#failing.subjects === 0;
    const changedMs = isEdge ? this.#clock.monotonicMs() : this.#failing.changedMs;
    this.#failing = { subjects, changedMs };
  }
}

/** One that is gone has nothing that could fail. */
function isFailing(state: SubjectState | undefined): boolean {
  return state?.pollSucceeded === false && !state.gone;
}

function place(queue: PriorityQueue<string>, id: string, atMs: number | undefined): void {
  if (atMs === undefined) queue.delete(id);
  else queue.set(id, atMs);
}
