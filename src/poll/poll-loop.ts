import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Batch } from '../model/source.ts';
import { BatchPoll, type BatchPollDependencies, type PollRequest } from './batch-poll.ts';
import type { DueQueue } from './due-queue.ts';
import type { PollTimes } from './schedule.ts';
import type { SubjectState } from './subject-state.ts';

/** What a loop polls: the applications of an account, or its queries. */
export interface Polled<Request, Outcome> {
  readonly queue: Pick<DueQueue<SubjectState>, 'all' | 'firstDue' | 'end' | 'nextEventMs'>;
  /** Whether New Relic is known to refuse the key. */
  readonly isRefused: boolean;
  /** Begins a poll; `undefined` if its subject is no longer there. */
  begin(id: string): Request | undefined;
  idOf(request: Request): string;
  /** The outcome of a poll for which nobody need be asked. */
  knownOutcomeOf(request: Request): Outcome | undefined;
  /** Returns whether all that was asked for arrived. */
  polled(id: string, request: Request, outcome: Outcome, startMs: number): boolean;
  /** Shows which polls are late, and drops the values that were not renewed in time. */
  dropStale(): void;
}

export interface PollLoopDependencies<Request, Outcome> extends BatchPollDependencies {
  readonly source: {
    readonly sharesCalls: boolean;
    batches(due: readonly Request[], early: readonly Request[]): readonly Batch<Request, Outcome>[];
  };
  /** Called when the vendor refuses the key for something for which it was accepted before. */
  readonly unauthorized: () => void;
}

type AnyOutcome = Pick<PollOutcome, 'partCount' | 'unauthorized'>;

/** @param isWhole whether all that was asked for arrived */
type OnEnd = (isWhole: boolean) => void;

/** A poll that has not ended and whose batch was started. */
interface RunningPoll<Request extends PollTimes, Outcome extends AnyOutcome> {
  readonly request: Request;
  readonly batch: BatchPoll<Request, Outcome>;
  /** When it was queued, in monotonic time. */
  readonly startMs: number;
}

/** The plan may change meanwhile: what is due then depends on it. */
const longestPauseMs = 60_000;
/** Polls started in one turn of the event loop: some milliseconds. */
const pollsPerTurn = 200;

/**
 * Starts the poll of each application, or query, when it is due, and never two polls of the same one.
 */
export class PollLoop<
  Request extends PollTimes = PollRequest,
  Outcome extends AnyOutcome = PollOutcome,
> {
  readonly #table: Polled<Request, Outcome>;
  readonly #dependencies: PollLoopDependencies<Request, Outcome>;
  readonly #polls = new Map<string, RunningPoll<Request, Outcome>>();
  /** Polls that are due and in no batch yet. */
  readonly #gathered = new Map<string, Request>();
  #cancelTimer: (() => void) | undefined;
  #isStopped = false;
  /** Whether everything is polled once: then nothing joins that was polled already. */
  #pollsAll = false;

  constructor(
    table: Polled<Request, Outcome>,
    dependencies: PollLoopDependencies<NoInfer<Request>, NoInfer<Outcome>>,
  ) {
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
      this.#dependencies.source.sharesCalls && this.#table.queue.firstDue() !== undefined;
    if (!mayShareMore) this.#startBatches(() => this.#wakeInTime());
    this.#wakeInTime();
  }

  /**
   * Polls everything once, now. Resolves to whether everything that was asked for arrived.
   * Rejects with the signal's reason.
   */
  async pollAll(signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    this.#pollsAll = true;
    return new Promise<boolean>((resolve, reject) => {
      const ids = [...this.#table.queue.all.keys()];
      let left = ids.length;
      let isWhole = true;
      const onAbort = (): void => {
        reject(signal.reason);
      };
      const onEnd: OnEnd = (isOne) => {
        left -= 1;
        isWhole &&= isOne;
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
   * Ends these polls without an outcome. What is still wanted is polled again.
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
      this.#table.queue.end(id);
    }
  }

  /** Ends every poll, and starts no more. */
  stop(): void {
    this.#isStopped = true;
    this.#clearTimer();
    const reason = new Error('the account is stopped');
    const polls = [...this.#polls.values()];
    this.#polls.clear();
    this.#gathered.clear();
    for (const { batch, request } of polls) batch.drop(request, reason);
  }

  /** Monotonic time since when something has been due without being looked at. */
  dueSinceMs(): number | undefined {
    const nextMs = this.#table.queue.nextEventMs();
    return nextMs !== undefined && nextMs <= this.#dependencies.clock.monotonicMs()
      ? nextMs
      : undefined;
  }

  *#due(): Generator<string, undefined> {
    for (let count = 0; count < pollsPerTurn; count += 1) {
      const id = this.#table.queue.firstDue();
      if (id === undefined) return undefined;
      yield id;
    }
    return undefined;
  }

  /** Collects polls that need calls, and ends the others at once. */
  #gather(ids: Iterable<string>, onEnd: OnEnd): void {
    for (const id of ids) {
      const request = this.#table.begin(id);
      const known = request && this.#table.knownOutcomeOf(request);
      if (request === undefined) onEnd(false);
      else if (known === undefined) this.#gathered.set(id, request);
      else this.#ended(request, known, this.#dependencies.clock.monotonicMs(), onEnd);
    }
  }

  #startBatches(onEnd: OnEnd): void {
    const due = [...this.#gathered.values()];
    this.#gathered.clear();
    if (due.length === 0) return;
    for (const batch of this.#dependencies.source.batches(due, [])) this.#start(batch, onEnd);
  }

  #start(batch: Batch<Request, Outcome>, onEnd: OnEnd): void {
    const startMs = this.#dependencies.clock.monotonicMs();
    const over = new Set<Request>();
    const poll = new BatchPoll<Request, Outcome>(batch, this.#dependencies, {
      begins: (wanted, begun) => this.#filled(wanted, begun),
      ended: (request, outcome) => {
        over.add(request);
        const id = this.#table.idOf(request);
        const queuedMs = this.#polls.get(id)?.startMs ?? startMs;
        this.#polls.delete(id);
        this.#ended(request, outcome, queuedMs, onEnd);
      },
    });
    for (const request of batch.questions) {
      // A poll without a call has ended by now.
      if (over.has(request)) continue;
      this.#polls.set(this.#table.idOf(request), { request, batch: poll, startMs });
    }
  }

  /** A batch that begins is filled up with what waits in others, and with what will be due soon. */
  #filled(
    wanted: readonly Request[],
    poll: BatchPoll<Request, Outcome>,
  ): Batch<Request, Outcome> | undefined {
    const { source } = this.#dependencies;
    if (!source.sharesCalls || this.#isStopped) return undefined;
    const nowMs = this.#dependencies.clock.monotonicMs();
    const waiting = [...this.#polls.values()].filter(
      ({ batch }) => !batch.hasBegun && batch !== poll,
    );
    const soon = this.#pollsAll ? [] : this.#soon();
    const mayJoin = soon.filter((one) => this.#table.knownOutcomeOf(one) === undefined);
    const may = [...waiting.map(({ request }) => request), ...mayJoin];
    // What is wanted was one batch before.
    const [filled] = source.batches(wanted, may);
    const taken = new Set(filled?.questions);
    const moved = new Error('the poll belongs to another batch');
    for (const { request, batch, startMs } of waiting) {
      if (!taken.has(request)) continue;
      batch.drop(request, moved);
      this.#polls.set(this.#table.idOf(request), { request, batch: poll, startMs });
    }
    for (const request of soon) {
      const id = this.#table.idOf(request);
      if (taken.has(request)) this.#polls.set(id, { request, batch: poll, startMs: nowMs });
      else this.#table.queue.end(id);
    }
    return filled;
  }

  /** Polls that are not due yet, but may fill up a batch. */
  #soon(): readonly Request[] {
    const soon: Request[] = [];
    while (soon.length < pollsPerTurn) {
      const id = this.#table.queue.firstDue(true);
      const request = id === undefined ? undefined : this.#table.begin(id);
      if (request === undefined) break;
      soon.push(request);
    }
    return soon;
  }

  #ended(request: Request, outcome: Outcome, startMs: number, onEnd: OnEnd): void {
    const table = this.#table;
    const id = table.idOf(request);
    const wasUnauthorized = table.queue.all.get(id)?.failure?.reason === 'auth';
    const isKnown = table.isRefused;
    const isWhole = table.polled(id, request, outcome, startMs);
    if (outcome.unauthorized && !wasUnauthorized && !isKnown) this.#dependencies.unauthorized();
    onEnd(isWhole);
  }

  #wakeInTime(): void {
    this.#clearTimer();
    const atMs = this.#table.queue.nextEventMs();
    if (atMs === undefined || this.#isStopped) return;
    const { clock } = this.#dependencies;
    const delayMs = Math.max(0, Math.ceil(atMs - clock.monotonicMs()));
    this.#cancelTimer = clock.after(Math.min(delayMs, longestPauseMs), () => {
      this.wake();
    });
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
