import type { Clock } from '../model/clock.ts';
import { PriorityQueue } from '../model/priority-queue.ts';
import { type AppState, staleAtMs, whenStale } from './app-state.ts';
import { dueMsOf, earliestMsOf, lateAfterMs, spreadTurn } from './schedule.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface FailingCount {
  readonly applications: number;
  /** Monotonic time at which the first of them began to fail, or the last one ceased to. */
  readonly changedMs: number;
}

export interface DueQueueDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly time: VirtualClock;
  /** Whether New Relic has asked for a pause that is not over. */
  readonly isPaused: () => boolean;
}

/** The states of an account's applications, and when something happens to each of them next. */
export class DueQueue {
  readonly #all = new Map<string, AppState>();
  readonly #polling = new Set<string>();
  /** When the next poll of each application is due, in virtual time. */
  readonly #polls = new PriorityQueue<string>();
  /** The same of what shares its poll with nothing else. */
  readonly #alone = new PriorityQueue<string>();
  /** When an application with values counts as failing unless its poll ends, in virtual time. */
  readonly #late = new PriorityQueue<string>();
  /** When the values of each application that fails become stale, in monotonic time. */
  readonly #stale = new PriorityQueue<string>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #time: VirtualClock;
  readonly #isPaused: () => boolean;
  #failing: FailingCount;

  constructor({ clock, time, isPaused }: DueQueueDependencies) {
    this.#isPaused = isPaused;
    this.#clock = clock;
    this.#time = time;
    this.#failing = { applications: 0, changedMs: clock.monotonicMs() };
  }

  get all(): ReadonlyMap<string, AppState> {
    return this.#all;
  }

  /** How many applications did not get everything with their last poll. */
  get failing(): FailingCount {
    return this.#failing;
  }

  /** The state of an application from now on. Its next poll is due no later than a new interval demands. */
  set(id: string, next: AppState): void {
    const before = this.#all.get(id);
    const state = before === undefined ? next : this.#inTurn(before, next);
    this.#countFailing(before, state);
    this.#all.set(id, state);
    const { poll } = state.selected.entry;
    const dueMs = dueMsOf(state.turn, poll.intervalMs);
    const isLate = state.late !== undefined;
    const lateMs = isLate || state.reading === undefined ? undefined : dueMs + lateAfterMs(poll);
    const polls = state.selected.entry.query !== undefined ? this.#alone : this.#polls;
    place(polls, id, this.#polling.has(id) ? undefined : dueMs);
    place(this.#late, id, lateMs);
    place(this.#stale, id, staleAtMs(state));
  }

  delete(id: string): void {
    this.#countFailing(this.#all.get(id), undefined);
    this.#all.delete(id);
    for (const queue of [this.#polls, this.#alone, this.#late, this.#stale]) queue.delete(id);
  }

  /** The poll of the application has begun: it is under way, or waits for its first call. */
  begin(id: string): void {
    this.#polling.add(id);
    for (const queue of [this.#polls, this.#alone]) queue.delete(id);
  }

  end(id: string): void {
    this.#polling.delete(id);
    const state = this.#all.get(id);
    if (state !== undefined) this.set(id, state);
  }

  /**
   * The application whose poll has been due for longest; `undefined` when none is due.
   *
   * @param withinMs how early an application counts as due
   */
  firstDue(withinMs = 0): string | undefined {
    const isAlone = withinMs === 0 && this.#alone.firstPriority() < this.#polls.firstPriority();
    const polls = isAlone ? this.#alone : this.#polls;
    const id = polls.first();
    const state = id === undefined ? undefined : this.#all.get(id);
    if (state === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const earlyMs = this.#time.monotonicMsOf(polls.firstPriority()) - nowMs;
    if (earlyMs <= 0) return id;
    const earliestMs = earliestMsOf(state.turn, state.selected.entry.poll.intervalMs);
    return earlyMs <= withinMs && this.#time.nowMs() >= earliestMs ? id : undefined;
  }

  /**
   * Applications whose poll is late fail from now on, and values that have become stale are dropped.
   * Returns the ids of both.
   */
  dropStale(): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const changed = new Set<string>();
    const reason = this.#isPaused() ? 'throttled' : 'timeout';
    for (let one = this.#firstLate(nowMs); one !== undefined; one = this.#firstLate(nowMs)) {
      const sinceMs = this.#time.monotonicMsOf(this.#late.firstPriority());
      this.set(one.id, { ...one.state, late: { sinceMs, reason }, pollSucceeded: false });
      changed.add(one.id);
    }
    while (this.#stale.firstPriority() <= nowMs) {
      const one = this.#known(this.#stale.first());
      if (one === undefined) break;
      const { id, state } = one;
      this.set(id, whenStale(state, nowMs));
      changed.add(id);
    }
    return [...changed];
  }

  /** Monotonic time at which the next poll is due or values become stale; `undefined` if never. */
  nextEventMs(): number | undefined {
    const queues = [this.#polls, this.#alone, this.#late];
    const virtualMs = Math.min(...queues.map((queue) => queue.firstPriority()));
    const nextMs = Math.min(this.#time.monotonicMsOf(virtualMs), this.#stale.firstPriority());
    return Number.isFinite(nextMs) ? nextMs : undefined;
  }

  /**
   * A shorter interval spreads what it makes overdue, since a crowd of polls would hold up the
   * others; and first polls that would wait longer than that.
   */
  #inTurn(before: AppState, state: AppState): AppState {
    const nowMs = this.#time.nowMs();
    const { intervalMs } = state.selected.entry.poll;
    if (intervalMs >= before.selected.entry.poll.intervalMs) return state;
    const waitMs = dueMsOf(state.turn, intervalMs) - nowMs;
    return waitMs >= 0 && waitMs <= intervalMs
      ? state
      : { ...state, turn: spreadTurn(state.phaseIndex, intervalMs, nowMs) };
  }

  #firstLate(nowMs: number): { readonly id: string; readonly state: AppState } | undefined {
    const isLate = this.#time.monotonicMsOf(this.#late.firstPriority()) <= nowMs;
    return isLate ? this.#known(this.#late.first()) : undefined;
  }

  #known(id: string | undefined): { readonly id: string; readonly state: AppState } | undefined {
    const state = id === undefined ? undefined : this.#all.get(id);
    return id === undefined || state === undefined ? undefined : { id, state };
  }

  #countFailing(before: AppState | undefined, after: AppState | undefined): void {
    const change = Number(isFailing(after)) - Number(isFailing(before));
    if (change === 0) return;
    const applications = this.#failing.applications + change;
    const isEdge = applications === 0 || this.#failing.applications === 0;
    const changedMs = isEdge ? this.#clock.monotonicMs() : this.#failing.changedMs;
    this.#failing = { applications, changedMs };
  }
}

/** One that is gone has nothing that could fail. */
function isFailing(state: AppState | undefined): boolean {
  return state?.pollSucceeded === false && !state.gone;
}

function place(queue: PriorityQueue<string>, id: string, atMs: number | undefined): void {
  if (atMs === undefined) queue.delete(id);
  else queue.set(id, atMs);
}
