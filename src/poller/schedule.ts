import type { PollConfig } from '../model/config.ts';
import { createPriorityQueue } from '../model/priority-queue.ts';
import type { AppState } from './app-state.ts';

/** What decides when an application is polled. */
export interface Timing {
  /** The effective interval. */
  readonly intervalMs: number;
  /** The share of the budget that the demand leaves free; 0 when there is too little. */
  readonly headroom: number;
  /** The number of the application, from 0; `undefined` if it keeps the phase of its batch. */
  readonly phaseIndex: number | undefined;
}

/** The times of a poll that has just ended. */
export interface PollTimes {
  readonly dueMs: number;
  readonly startMs: number;
  readonly nowMs: number;
}

export interface NextDue {
  readonly nextDueMs: number;
  /** After this time the poll is late: a whole interval has passed since the last one was due. */
  readonly overdueMs: number;
  /** Polls that were skipped because this one took too long. */
  readonly skipped: number;
}

/**
 * Without headroom a poll falls due this share of its interval early, and waits for its turn. So
 * there is always a poll to go on with, and nothing is lost of a budget that is too small anyway.
 */
export const earlyShare = 0.1;

/** A poll may take as long as its interval, or as this if that is longer. */
const longestShortPollMs = 120_000;

/**
 * How long after its start a poll that has not ended has failed. Where intervals are stretched, a
 * poll queues for most of its interval, so it may take twice that.
 */
export function pollDeadlineMs(
  { intervalMs, staleAfterMs }: Pick<PollConfig, 'intervalMs' | 'staleAfterMs'>,
  stretch: number,
): number {
  const deadlineFactor = stretch > 1 ? 2 : 1;
  return Math.max(
    deadlineFactor * stretch * intervalMs,
    Math.min(longestShortPollMs, staleAfterMs),
  );
}

/** The fractional parts of its multiples are spread evenly, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/** When in each interval the application is polled: all together are spread evenly. */
export function phaseMs(intervalMs: number, phaseIndex: number): number {
  return (((phaseIndex + 1) * goldenRatio) % 1) * intervalMs;
}

/**
 * When the next poll is due. First polls go out together where the budget allows it. From then on
 * each application moves towards its phase: it is polled a little early, as far as the headroom
 * allows, and never made to wait. Applications that share a batch stay together: each is due an
 * interval after the batch began, even if it was not due itself then. Polls missed while the
 * machine slept are not made up for.
 */
export function nextDue({ startMs, nowMs, ...times }: PollTimes, timing: Timing): NextDue {
  const { intervalMs, headroom, phaseIndex } = timing;
  const dueMs = startMs - times.dueMs >= intervalMs ? startMs : times.dueMs;
  const missed = Math.floor((nowMs - dueMs) / intervalMs);
  if (missed >= 1) return { nextDueMs: nowMs, overdueMs: nowMs, skipped: missed - 1 };
  if (headroom === 0) return nextTurn(dueMs, nowMs, intervalMs);
  const overdueMs = Math.min(dueMs, startMs) + intervalMs;
  const targetMs = phaseIndex === undefined ? overdueMs : phaseMs(intervalMs, phaseIndex);
  const pastPhaseMs = modulo(overdueMs - targetMs, intervalMs);
  // Rounding may put a poll that is in phase slightly before its phase: that is not far past it.
  const isInPhase = intervalMs - pastPhaseMs < 1;
  const earlyMs = isInPhase ? 0 : Math.min(pastPhaseMs, headroom * intervalMs);
  return { nextDueMs: Math.max(nowMs, overdueMs - earlyMs), overdueMs, skipped: 0 };
}

/** The next turn is one interval after this one, or after its end if that came earlier. */
function nextTurn(dueMs: number, nowMs: number, intervalMs: number): NextDue {
  const earlyMs = earlyShare * intervalMs;
  const overdueMs = Math.min(dueMs + earlyMs, nowMs) + intervalMs;
  return { nextDueMs: Math.max(nowMs, overdueMs - earlyMs), overdueMs, skipped: 0 };
}

function modulo(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}

/** The states of an account's applications, and when something happens to each of them next. */
export interface AppStates {
  readonly all: ReadonlyMap<string, AppState>;
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
export function createAppStates(stretch: () => number): AppStates {
  return new QueuedStates(stretch);
}

class QueuedStates implements AppStates {
  readonly #all = new Map<string, AppState>();
  readonly #stretch: () => number;
  readonly #polling = new Set<string>();
  readonly #polls = createPriorityQueue<string>();
  /** When to look at each application: no later than its values become stale. */
  readonly #stale = createPriorityQueue<string>();

  constructor(stretch: () => number) {
    this.#stretch = stretch;
  }

  get all(): ReadonlyMap<string, AppState> {
    return this.#all;
  }

  set(id: string, state: AppState): void {
    this.#all.set(id, state);
    if (this.#polling.has(id)) this.#polls.delete(id);
    else this.#polls.set(id, state.nextDueMs);
    const atMs = staleAtMs(state, this.#deadlineMsOf(state));
    if (atMs === undefined) this.#stale.delete(id);
    else this.#stale.set(id, atMs);
  }

  delete(id: string): void {
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

  #deadlineMsOf({ selected }: AppState): number {
    return pollDeadlineMs(selected.entry.poll, this.#stretch());
  }
}

/**
 * Monotonic time at which the values become too old to be held any longer: polls have failed for
 * `stale_after`, or the poll that is due has not ended `stale_after` after its deadline.
 */
export function staleAtMs(
  { failingSinceMs, reading, selected, nextDueMs }: AppState,
  deadlineMs: number,
): number | undefined {
  if (reading === undefined) return undefined;
  const notRenewedSinceMs = Math.min(failingSinceMs ?? Infinity, nextDueMs + deadlineMs);
  return notRenewedSinceMs + selected.entry.poll.staleAfterMs;
}

/** Drops values that were not renewed in time. */
export function whenStale(state: AppState, deadlineMs: number, nowMs: number): AppState {
  const atMs = staleAtMs(state, deadlineMs);
  if (atMs === undefined || nowMs < atMs) return state;
  return { ...state, reading: undefined, pollSucceeded: false };
}
