import {
  hostsUnknownOutcome,
  nothingToAskOutcome,
  type PollOutcome,
} from '../model/poll-outcome.ts';
import {
  areHostsUnknown,
  asksForApplication,
  hostChoiceOf,
  hostsToPoll,
  isWorthPolling,
} from '../model/selected-application.ts';
import type { Batch, Source } from '../model/source.ts';
import type { AccountTable } from './account-table.ts';
import { BatchPoll, type BatchPollDependencies, type PollRequest } from './batch-poll.ts';

export interface PollLoopDependencies extends BatchPollDependencies {
  readonly source: Pick<Source, 'batches' | 'earlyMs' | 'listsHosts'>;
  /** Called when the vendor refuses the key for an application for which it was accepted before. */
  readonly unauthorized: () => void;
}

type OnEnd = (outcome: PollOutcome | undefined) => void;

/** A poll that has not ended and whose batch was started. */
interface RunningPoll {
  readonly request: PollRequest;
  readonly batch: BatchPoll;
}

/** Polls started in one turn of the event loop: some milliseconds. */
const pollsPerTurn = 200;

/**
 * Starts the poll of each application when it is due, and never two polls of the same application.
 */
export class PollLoop {
  readonly #table: AccountTable;
  readonly #dependencies: PollLoopDependencies;
  readonly #polls = new Map<string, RunningPoll>();
  /** Polls that are due and in no batch yet. */
  readonly #gathered = new Map<string, PollRequest>();
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;

  constructor(table: AccountTable, dependencies: PollLoopDependencies) {
    this.#table = table;
    this.#dependencies = dependencies;
  }

  /** Starts the polls that are due now, and sets the timer for the next ones. */
  wake(): void {
    if (this.#isStopped) return;
    this.#table.dropStale();
    // What ends at once needs no timer of its own: there is one below.
    this.#gather(this.#due(), () => undefined);
    const mayShareMore =
      this.#dependencies.source.earlyMs > 0 && this.#table.firstDue() !== undefined;
    if (!mayShareMore) this.#startBatches(() => this.#wakeInTime());
    this.#wakeInTime();
  }

  /**
   * Polls every application once, now. Resolves to whether everything that was asked for arrived.
   * Rejects with the signal's reason.
   */
  async pollAll(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return new Promise<boolean>((resolve, reject) => {
      const ids = [...this.#table.states.keys()];
      let left = ids.length;
      let isWhole = true;
      const onAbort = (): void => {
        reject(signal.reason);
      };
      const onEnd: OnEnd = (outcome) => {
        left -= 1;
        isWhole &&= outcome?.failed.size === 0;
        if (left > 0) return;
        signal.removeEventListener('abort', onAbort);
        resolve(isWhole);
      };
      if (left === 0) resolve(true);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#gather(ids, onEnd);
      this.#startBatches(onEnd);
    });
  }

  /**
   * Ends the polls of these applications without an outcome. Applications that are still wanted are
   * polled again.
   */
  abort(ids: Iterable<string>): void {
    // One error for all: ten thousand of them would take as long as all the rest.
    const reason = new Error('the poll is not wanted any more');
    for (const id of ids) {
      const poll = this.#polls.get(id);
      if (poll === undefined && !this.#gathered.has(id)) continue;
      this.#gathered.delete(id);
      this.#polls.delete(id);
      poll?.batch.drop(poll.request, reason);
      this.#table.aborted(id);
    }
  }

  /** Ends every poll, and starts no more. */
  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
    this.#dependencies.scheduler.stop();
    const reason = new Error('the account is stopped');
    for (const { batch, request } of this.#polls.values()) batch.drop(request, reason);
    this.#polls.clear();
    this.#gathered.clear();
  }

  /** Monotonic time since when something has been due without being looked at. */
  dueSinceMs(): number | undefined {
    const nextMs = this.#table.nextEventMs();
    return nextMs !== undefined && nextMs <= this.#dependencies.clock.monotonicMs()
      ? nextMs
      : undefined;
  }

  *#due(): Generator<string, undefined> {
    for (let count = 0; count < pollsPerTurn; count += 1) {
      const id = this.#table.firstDue();
      if (id === undefined) return undefined;
      yield id;
    }
    return undefined;
  }

  /** Collects polls that need calls, and ends the others at once. */
  #gather(ids: Iterable<string>, onEnd: OnEnd): void {
    for (const id of ids) {
      const request = this.#table.begin(id);
      const known =
        request && (this.#table.unauthorizedOutcome() ?? this.#silentOutcomeOf(request));
      if (request === undefined) onEnd(undefined);
      else if (known === undefined) this.#gathered.set(id, request);
      else this.#ended(request, known, this.#dependencies.clock.monotonicMs(), onEnd);
    }
  }

  #startBatches(onEnd: OnEnd): void {
    const due = [...this.#gathered.values()];
    this.#gathered.clear();
    if (due.length === 0) return;
    const early = this.#early();
    const batches = this.#dependencies.source.batches(
      due,
      early.filter((request) => this.#silentOutcomeOf(request) === undefined),
    );
    const left = new Set(early);
    for (const { questions } of left.size > 0 ? batches : []) {
      for (const request of questions) left.delete(request);
    }
    for (const request of left) this.#table.aborted(idOf(request));
    for (const batch of batches) this.#start(batch, onEnd);
  }

  /** Polls that are not due yet, but may fill up a batch. */
  #early(): readonly PollRequest[] {
    const { earlyMs } = this.#dependencies.source;
    const early: PollRequest[] = [];
    if (earlyMs === 0) return early;
    while (early.length < pollsPerTurn) {
      const id = this.#table.firstDue(earlyMs);
      const request = id === undefined ? undefined : this.#table.begin(id);
      if (request === undefined) break;
      early.push(request);
    }
    return early;
  }

  #start(batch: Batch<PollRequest>, onEnd: OnEnd): void {
    const startMs = this.#dependencies.clock.monotonicMs();
    const over = new Set<PollRequest>();
    const poll = new BatchPoll(batch, this.#dependencies, (request, outcome) => {
      over.add(request);
      this.#polls.delete(idOf(request));
      this.#ended(request, outcome, startMs, onEnd);
    });
    for (const request of batch.questions) {
      // A poll without a call has ended by now.
      if (!over.has(request)) this.#polls.set(idOf(request), { request, batch: poll });
    }
  }

  #ended(request: PollRequest, outcome: PollOutcome, startMs: number, onEnd: OnEnd): void {
    const id = idOf(request);
    const wasUnauthorized = this.#table.states.get(id)?.failure?.reason === 'auth';
    const isKnown = this.#table.unauthorizedOutcome() !== undefined;
    this.#table.polled(id, request, outcome, startMs);
    if (outcome.unauthorized && !wasUnauthorized && !isKnown) this.#dependencies.unauthorized();
    onEnd(outcome);
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

  /** The outcome of a poll that has nothing to ask for, or of an application that is silent. */
  #silentOutcomeOf({ selected, askHostNames, hostNames }: PollRequest): PollOutcome | undefined {
    if (!isWorthPolling(selected)) return nothingToAskOutcome;
    const { listsHosts } = this.#dependencies.source;
    const asksForHosts = listsHosts
      ? hostsToPoll(selected).length > 0
      : hostChoiceOf(selected.entry) !== false;
    if (askHostNames || asksForApplication(selected) || asksForHosts) return undefined;
    return areHostsUnknown(selected, hostNames) ? hostsUnknownOutcome : nothingToAskOutcome;
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}

function idOf({ selected }: PollRequest): string {
  return selected.application.id;
}
