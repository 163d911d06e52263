import type { PollConfig } from '../model/config.ts';

/** What decides when an application is polled. */
export interface Rhythm {
  /** The effective interval. */
  readonly intervalMs: number;
  /** The share of the budget that the demand leaves free; 0 when there is too little. */
  readonly slack: number;
  /** A number of its own for each application, counted from 0. */
  readonly order: number;
}

/** A poll that has now ended. */
export interface PollTimes {
  readonly dueMs: number;
  readonly startMs: number;
  readonly nowMs: number;
}

export interface NextDue {
  readonly nextDueMs: number;
  /** From then on the poll is late: a whole interval has passed since the last one was due. */
  readonly overdueMs: number;
  /** Polls that were left out because this one took too long. */
  readonly skipped: number;
}

/**
 * Without slack a poll falls due so much of its interval before its turn, and waits for that: there is
 * always one to go on with, so that nothing of a budget is lost that is too small anyway.
 */
export const earlyShare = 0.1;

/** A poll may take as long as its interval, or as this if that is longer. */
const longestShortPollMs = 120_000;

/**
 * When a poll has failed that has not ended, counted from its start. Where intervals are stretched it
 * queues for most of its interval, so that it needs more than that.
 */
export function pollDeadlineMs(
  { intervalMs, staleAfterMs }: Pick<PollConfig, 'intervalMs' | 'staleAfterMs'>,
  stretch: number,
): number {
  const patience = stretch > 1 ? 2 : 1;
  return Math.max(patience * stretch * intervalMs, Math.min(longestShortPollMs, staleAfterMs));
}

/** Consecutive multiples of it fall evenly into an interval, however many there are. */
const goldenRatio = 0.618_033_988_749_895;

/** The application's place in every interval, so that all of them together are spread evenly. */
export function placeMs({ intervalMs, order }: Omit<Rhythm, 'slack'>): number {
  return (((order + 1) * goldenRatio) % 1) * intervalMs;
}

/**
 * When the next poll is due. First polls go out together where the budget allows it; from then on
 * each application moves towards its place by being polled a little early, as far as the free part
 * of the budget pays for that. It is never moved by making it wait.
 * After the machine has slept, what was missed meanwhile is not made up for.
 */
export function nextDue({ startMs, nowMs, ...times }: PollTimes, rhythm: Rhythm): NextDue {
  const { intervalMs, slack } = rhythm;
  const dueMs = startMs - times.dueMs >= intervalMs ? startMs : times.dueMs;
  const missed = Math.floor((nowMs - dueMs) / intervalMs);
  if (missed >= 1) return { nextDueMs: nowMs, overdueMs: nowMs, skipped: missed - 1 };
  if (slack === 0) return nextTurn(dueMs, nowMs, intervalMs);
  const overdueMs = dueMs + intervalMs;
  const pastPlaceMs = modulo(overdueMs - placeMs(rhythm), intervalMs);
  // Rounding may put a poll that is at its place a hair before it: that is not an interval past it.
  const isAtPlace = intervalMs - pastPlaceMs < 1;
  const earlyMs = isAtPlace ? 0 : Math.min(pastPlaceMs, slack * intervalMs);
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
