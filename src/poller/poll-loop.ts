import type { AccountTable } from './account-table.ts';
import { hostsToPoll, isWorthPolling } from './demand.ts';
import {
  type Poll,
  type PollDependencies,
  type PollRequest,
  startPoll,
} from './poll-application.ts';
import { type PollOutcome, silentOutcome } from './poll-outcome.ts';

/** Starts each application's poll when it is due, and never two of the same application. */
export interface PollLoop {
  /** Starts what is due now, and sets the timer for what is due next. */
  wake(): void;
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
  return new DuePolls(table, dependencies);
}

class DuePolls implements PollLoop {
  readonly #table: AccountTable;
  readonly #dependencies: PollLoopDependencies;
  readonly #polls = new Map<string, Poll>();
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(table: AccountTable, dependencies: PollLoopDependencies) {
    this.#table = table;
    this.#dependencies = dependencies;
  }

  wake(): void {
    if (this.#isStopped) return;
    this.#table.dropStale();
    let started = 0;
    for (let id = this.#table.firstDue(); id !== undefined; id = this.#table.firstDue()) {
      if (started >= atATime) break;
      started += 1;
      this.#begin(id, () => {
        this.#wakeInTime();
      });
    }
    this.#wakeInTime();
  }

  async pollAll(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return new Promise<boolean>((resolve, reject) => {
      const ids = [...this.#table.states.keys()];
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
      for (const id of ids) this.#begin(id, told);
    });
  }

  abort(ids: Iterable<string>): void {
    // One for all: ten thousand of them take as long as all the rest.
    const reason = new Error('the poll is not wanted any more');
    for (const id of ids) {
      this.#polls.get(id)?.abort(reason);
      if (this.#polls.delete(id)) this.#table.aborted(id);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
    this.#dependencies.scheduler.stop();
    const reason = new Error('the account is stopped');
    for (const poll of this.#polls.values()) poll.abort(reason);
    this.#polls.clear();
  }

  dueSinceMs(): number | undefined {
    const nextMs = this.#table.nextEventMs();
    return nextMs !== undefined && nextMs <= this.#dependencies.clock.monotonicMs()
      ? nextMs
      : undefined;
  }

  #begin(id: string, told: Outcome): void {
    const request = this.#table.begin(id);
    if (request === undefined) {
      told(undefined);
      return;
    }
    const startMs = this.#dependencies.clock.monotonicMs();
    const ended = (outcome: PollOutcome): void => {
      this.#polls.delete(id);
      this.#ended(id, request, outcome, startMs);
      told(outcome);
    };
    const known = this.#table.refusedOutcome() ?? silentOutcomeOf(request);
    if (known === undefined) this.#polls.set(id, startPoll(request, this.#dependencies, ended));
    else ended(known);
  }

  #ended(id: string, request: PollRequest, outcome: PollOutcome, startMs: number): void {
    const wasUnauthorized = this.#table.states.get(id)?.failedFor === 'auth';
    const isKnown = this.#table.refusedOutcome() !== undefined;
    this.#table.polled(id, request, outcome, startMs);
    if (outcome.unauthorized && !wasUnauthorized && !isKnown) this.#dependencies.unauthorized();
  }

  #wakeInTime(): void {
    this.#clearTimer();
    const atMs = this.#table.nextEventMs();
    if (atMs === undefined || this.#isStopped) return;
    const { clock } = this.#dependencies;
    const delayMs = Math.max(0, Math.ceil(atMs - clock.monotonicMs()));
    this.#cancelTimer = clock.after(delayMs, () => {
      this.wake();
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

/** What a poll would bring that has nothing to ask, or an application that cannot tell anything. */
function silentOutcomeOf({ selected, askHostNames }: PollRequest): PollOutcome | undefined {
  const hasQuestion =
    askHostNames || selected.entry.application || hostsToPoll(selected).length > 0;
  return hasQuestion && isWorthPolling(selected) ? undefined : silentOutcome();
}
