import type { AppState } from './app-state.ts';
import type { PollRequest } from './batch-poll.ts';
import { shouldAskHostNames } from './host-names.ts';
import { pollDeadlineMs } from './schedule.ts';

/** The poll of an application that begins now: what it asks for, and its times. */
export function pollRequestOf(
  state: AppState,
  {
    stretch,
    nowMs,
    isListed,
  }: {
    /** The factor by which intervals are stretched. */
    readonly stretch: number;
    readonly nowMs: number;
    readonly isListed: PollRequest['isListed'];
  },
): PollRequest {
  const { selected, nextDueMs, overdueMs, hostNames } = state;
  const { poll } = selected.entry;
  return {
    selected,
    dueMs: nextDueMs,
    overdueMs: stretch > 1 ? Number.POSITIVE_INFINITY : overdueMs,
    periodMs: poll.intervalMs * stretch,
    deadlineMs: pollDeadlineMs(poll, stretch),
    askHostNames: shouldAskHostNames(state, nowMs),
    hostNames: hostNames.names,
    isListed,
  };
}
