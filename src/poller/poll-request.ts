import type { Clock } from '../model/clock.ts';
import type { AccountPlan } from './account-plan.ts';
import type { AppState } from './app-state.ts';
import type { PollRequest } from './batch-poll.ts';
import { shouldAskHostNames } from './host-names.ts';
import { dueMsOf, overdueMsOf, pollDeadlineMs } from './schedule.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The poll of an application that begins now: what it asks for, and its times. */
export function pollRequestOf(
  state: AppState,
  { stretch }: Pick<AccountPlan, 'stretch'>,
  {
    clock,
    time,
    isListed,
  }: {
    readonly clock: Pick<Clock, 'monotonicMs'>;
    readonly time: VirtualClock;
    readonly isListed: PollRequest['isListed'];
  },
): PollRequest {
  const { selected, turn, hostNames } = state;
  const { poll } = selected.entry;
  const overdueMs = time.monotonicMsOf(overdueMsOf(turn, poll.intervalMs));
  return {
    selected,
    dueMs: time.monotonicMsOf(dueMsOf(turn, poll.intervalMs)),
    overdueMs: stretch > 1 ? Number.POSITIVE_INFINITY : overdueMs,
    periodMs: poll.intervalMs * stretch,
    deadlineMs: pollDeadlineMs(poll, stretch),
    askHostNames: shouldAskHostNames(state, clock.monotonicMs()),
    hostNames: hostNames.names,
    isListed,
  };
}
