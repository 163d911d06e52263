import type { Clock } from '../model/clock.ts';
import { createPriorityQueue } from '../model/priority-queue.ts';
import type { AppState } from './app-state.ts';
import { pollDeadlineMs, staleAtMs, whenStale } from './schedule.ts';

export interface FailingCount {
  readonly applications: number;
  /** Monotonic time at which the first of them began to fail, or the last one ceased to. */
  readonly changedMs: number;
}

/** The states of an account's applications, and when something happens to each of them next. */
export interface AppStates {
  readonly all: ReadonlyMap<string, AppState>;
  /** How many applications did not get everything with their last poll. */
  readonly failing: FailingCount;
  set(id: string, state: AppState): void;
  delete(id: string): void;
  /** The poll of the application has begun: it is under way, or waits for its first call. */
  begin(id: string): void;
  /** The poll of the application has ended. */
  end(id: string): void;
  /**
   * The application whose poll has been due for longest; `undefined` when none is due.
   *
   * @param withinMs how early an application counts as due
   */
  firstDue(nowMs: number, withinMs?: number): string | undefined;
  /** Drops the values that have become stale. Returns the ids of their applications. */
  dropStale(nowMs: number): readonly string[];
  /** Monotonic time at which the next poll is due or values become stale; `undefined` if never. */
  nextEventMs(): number | undefined;
  /** Stretches the time until each coming poll, so that all of them keep their order. */
  stretch(factor: number, nowMs: number): void;
}

/** @param stretch returns the factor by which the intervals are stretched at present */
export function createAppStates(
  stretch: () => number,
  { clock }: { readonly clock: Pick<Clock, 'monotonicMs'> },
): AppStates {
  return new QueuedStates(stretch, clock);
}

class QueuedStates implements AppStates {
  readonly #all = new Map<string, AppState>();
  readonly #stretch: () => number;
  readonly #polling = new Set<string>();
  readonly #polls = createPriorityQueue<string>();
  /** When to look at each application: no later than its values become stale. */
  readonly #stale = createPriorityQueue<string>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #failing: FailingCount;

  constructor(stretch: () => number, clock: Pick<Clock, 'monotonicMs'>) {
    this.#stretch = stretch;
    this.#clock = clock;
    this.#failing = { applications: 0, changedMs: clock.monotonicMs() };
  }

  get all(): ReadonlyMap<string, AppState> {
    return this.#all;
  }

  get failing(): FailingCount {
    return this.#failing;
  }

  set(id: string, state: AppState): void {
    this.#countFailing(this.#all.get(id), state);
    this.#all.set(id, state);
    if (this.#polling.has(id)) this.#polls.delete(id);
    else this.#polls.set(id, state.nextDueMs);
    const atMs = staleAtMs(state, this.#deadlineMsOf(state));
    if (atMs === undefined) this.#stale.delete(id);
    else this.#stale.set(id, atMs);
  }

  delete(id: string): void {
    this.#countFailing(this.#all.get(id), undefined);
    this.#all.delete(id);
    this.#polls.delete(id);
    this.#stale.delete(id);
  }

  begin(id: string): void {
    this.#polling.add(id);
    this.#polls.delete(id);
  }

  end(id: string): void {
    this.#polling.delete(id);
    const state = this.#all.get(id);
    if (state !== undefined) this.#polls.set(id, state.nextDueMs);
  }

  firstDue(nowMs: number, withinMs = 0): string | undefined {
    const id = this.#polls.first();
    const state = id === undefined ? undefined : this.#all.get(id);
    const earlyMs = this.#polls.firstPriority() - nowMs;
    if (state === undefined || earlyMs > withinMs) return undefined;
    // Half an interval after the last poll at the earliest: nothing is polled more than twice as
    // often.
    const halfMs = (state.selected.entry.poll.intervalMs * this.#stretch()) / 2;
    return earlyMs <= 0 || nowMs >= state.overdueMs - halfMs ? id : undefined;
  }

  dropStale(nowMs: number): readonly string[] {
    const dropped: string[] = [];
    while (this.#stale.firstPriority() <= nowMs) {
      const id = this.#stale.first();
      const state = id === undefined ? undefined : this.#all.get(id);
      if (id === undefined || state === undefined) break;
      const after = whenStale(state, this.#deadlineMsOf(state), nowMs);
      this.set(id, after);
      if (after !== state) dropped.push(id);
    }
    return dropped;
  }

  nextEventMs(): number | undefined {
    const nextMs = Math.min(this.#polls.firstPriority(), this.#stale.firstPriority());
    return Number.isFinite(nextMs) ? nextMs : undefined;
  }

  stretch(factor: number, nowMs: number): void {
    const moved = (dueMs: number): number =>
      dueMs > nowMs ? nowMs + (dueMs - nowMs) * factor : dueMs;
    for (const [id, before] of this.#all) {
      const { nextDueMs, overdueMs } = before;
      const state = { ...before, nextDueMs: moved(nextDueMs), overdueMs: moved(overdueMs) };
      this.#all.set(id, state);
      // Where values become stale later than before, they are merely looked at too early.
      if (factor >= 1) continue;
      const atMs = staleAtMs(state, this.#deadlineMsOf(state));
      if (atMs !== undefined) this.#stale.set(id, atMs);
    }
    this.#polls.mapPriorities(moved);
  }

  #countFailing(before: AppState | undefined, after: AppState | undefined): void {
    const change = Number(after?.pollSucceeded === false) - Number(before?.pollSucceeded === false);
    if (change === 0) return;
    const applications = this.#failing.applications + change;
    const isEdge = applications === 0 || this.#failing.applications === 0;
    const changedMs = isEdge ? this.#clock.monotonicMs() : this.#failing.changedMs;
    this.#failing = { applications, changedMs };
  }

  #deadlineMsOf({ selected }: AppState): number {
    return pollDeadlineMs(selected.entry.poll, this.#stretch());
  }
}
