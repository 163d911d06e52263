import type { AccountTable } from './account-table.ts';
import { isWorthPolling } from './demand.ts';
import { type Poll, type PollDependencies, startPoll } from './poll-application.ts';
import { type PollOutcome, silentOutcome } from './poll-outcome.ts';

/** Starts each application's poll when it is due, and never two of the same application. */
export interface PollLoop {
  /** Starts what is due now, and sets the timer for what is due next. */
  readonly wake: () => void;
  /**
   * Polls every application once, now; whether all that was asked for arrived. Rejects with the
   * signal's reason.
   */
  pollAll(signal: AbortSignal): Promise<boolean>;
  /** Ends the polls of these applications without an outcome; those still wanted start anew. */
  abort(ids: Iterable<string>): void;
  /** Ends every poll, and starts none. */
  stop(): void;
  /** Since when, on the monotonic clock, something is due that was not looked at. */
  dueSinceMs(): number | undefined;
}

export interface PollLoopDependencies extends PollDependencies {
  /** The vendor refused the key for an application for which it had not. */
  readonly unauthorized: () => void;
}

type Outcome = (outcome: PollOutcome | undefined) => void;

/** Polls that are started without a break: some milliseconds. */
const atATime = 200;

export function createPollLoop(table: AccountTable, dependencies: PollLoopDependencies): PollLoop {
  const { clock, unauthorized } = dependencies;
  const polls = new Map<string, Poll>();
  let cancelTimer: (() => void) | undefined;
  let isStopped = false;

  const clearTimer = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
  };

  const begin = (id: string, told: Outcome): void => {
    const request = table.begin(id);
    if (request === undefined) {
      told(undefined);
      return;
    }
    const startMs = clock.monotonicMs();
    const ended = (outcome: PollOutcome): void => {
      polls.delete(id);
      const asksWhy =
        table.isNewlyUnauthorized(id, outcome) && table.refusedOutcome() === undefined;
      table.polled(id, request, outcome, startMs);
      if (asksWhy) unauthorized();
      told(outcome);
    };
    const known = table.refusedOutcome() ?? silentOutcomeOf(request.selected);
    if (known === undefined) polls.set(id, startPoll(request, dependencies, ended));
    else ended(known);
  };

  const wakeAt = (atMs: number | undefined): void => {
    clearTimer();
    if (atMs === undefined || isStopped) return;
    cancelTimer = clock.after(Math.max(0, Math.ceil(atMs - clock.monotonicMs())), wake);
  };

  const wake = (): void => {
    if (isStopped) return;
    table.dropStale();
    let started = 0;
    for (let id = table.firstDue(); id !== undefined; id = table.firstDue()) {
      if (started >= atATime) {
        wakeAt(clock.monotonicMs());
        return;
      }
      started += 1;
      begin(id, pollEnded);
    }
    wakeAt(table.nextEventMs());
  };

  const pollEnded = (): void => {
    wakeAt(table.nextEventMs());
  };

  return {
    wake,
    pollAll: async (signal) => {
      signal.throwIfAborted();
      return new Promise<boolean>((resolve, reject) => {
        const ids = [...table.states.keys()];
        let left = ids.length;
        let isWhole = true;
        const onAbort = (): void => {
          reject(signal.reason);
        };
        const told: Outcome = (outcome) => {
          left -= 1;
          isWhole &&= outcome?.failed.size === 0;
          if (left > 0) return;
          signal.removeEventListener('abort', onAbort);
          resolve(isWhole);
        };
        if (left === 0) resolve(true);
        signal.addEventListener('abort', onAbort, { once: true });
        for (const id of ids) begin(id, told);
      });
    },
    abort: (ids) => {
      for (const id of ids) {
        polls.get(id)?.abort(new Error('the poll is not wanted any more'));
        if (polls.delete(id)) table.aborted(id);
      }
    },
    stop: () => {
      isStopped = true;
      clearTimer();
      dependencies.scheduler.stop();
      for (const poll of polls.values()) poll.abort(new Error('the account is stopped'));
      polls.clear();
    },
    dueSinceMs: () => {
      const nextMs = table.nextEventMs();
      return nextMs !== undefined && nextMs <= clock.monotonicMs() ? nextMs : undefined;
    },
  };
}

/** What a poll would bring of an application that cannot tell anything. */
function silentOutcomeOf(selected: Parameters<typeof isWorthPolling>[0]): PollOutcome | undefined {
  return isWorthPolling(selected) ? undefined : silentOutcome();
}
