import type { AccountTable } from './account-table.ts';
import { type PollDependencies, pollApplication } from './poll-application.ts';
import type { PollOutcome } from './poll-outcome.ts';

/** Starts each application's poll when it is due, and never two of the same application. */
export interface PollLoop {
  /** `undefined` when the application is no longer there. Rejects with the signal's reason only. */
  poll(id: string, signal: AbortSignal): Promise<PollOutcome | undefined>;
  /** Looks at what is due now, and sets the timer for what is due next. */
  readonly wake: (signal: AbortSignal) => void;
  stop(): void;
}

export interface PollLoopDependencies extends PollDependencies {
  /** The vendor refused the key in a poll. */
  readonly refused: () => void;
}

export function createPollLoop(table: AccountTable, dependencies: PollLoopDependencies): PollLoop {
  const { clock, refused } = dependencies;
  const polling = new Set<string>();
  let cancelTimer: (() => void) | undefined;

  const stop = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  const poll = async (id: string, signal: AbortSignal): Promise<PollOutcome | undefined> => {
    const request = table.requestFor(id);
    if (request === undefined) return undefined;
    polling.add(id);
    const startMs = clock.monotonicMs();
    try {
      const untried = table.refusedOutcome();
      const outcome = untried ?? (await pollApplication(request, dependencies, signal));
      if (untried === undefined && outcome.refused) refused();
      table.polled(id, request, outcome, clock.monotonicMs() - startMs);
      return outcome;
    } finally {
      polling.delete(id);
    }
  };

  const pollAndGoOn = async (id: string, signal: AbortSignal): Promise<void> => {
    try {
      await poll(id, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    wake(signal);
  };

  const wake = (signal: AbortSignal): void => {
    stop();
    if (signal.aborted) return;
    table.dropStale();
    for (const id of table.dueIds()) {
      if (!polling.has(id)) void pollAndGoOn(id, signal);
    }
    const nextMs = table.nextEventMs(polling);
    if (nextMs === undefined) return;
    const delayMs = Math.max(1, Math.ceil(nextMs - clock.monotonicMs()));
    cancelTimer = clock.after(delayMs, () => {
      wake(signal);
    });
  };

  return { poll, wake, stop };
}
