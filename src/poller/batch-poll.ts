import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Batch, Call, Question, Stage } from '../model/source.ts';
import type { CallScheduler, Job, ScheduledCall } from '../rate-limit/call-scheduler.ts';
import { subjectsPerTurn } from './app-publisher.ts';
import type { PollTimes } from './schedule.ts';

/** One application whose poll is due: what to ask for, and when. */
export interface PollRequest extends Question, PollTimes {}

export interface BatchPollDependencies {
  readonly scheduler: Pick<CallScheduler, 'add' | 'cancel' | 'stop'>;
  readonly clock: Clock;
  /** The vendor's wall time. Default: the wall time of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Called once for each request of a batch, unless it was dropped before. */
export type PollEnded<Request, Outcome> = (request: Request, outcome: Outcome) => void;

interface StartedPoll {
  readonly abort: AbortController;
  readonly wallMs: number;
}

/**
 * Passes the calls of a batch to the scheduler, stage by stage. The poll begins with its first
 * call; until then the batch is only an entry in a queue. Each outcome is reported once: when the
 * last call has ended, or at the deadline. The outcomes of a large batch are reported in several
 * turns of the event loop. The earliest times of its applications are the times of the batch.
 */
export class BatchPoll<
  Request extends PollTimes = PollRequest,
  Outcome extends Pick<PollOutcome, 'partCount'> = PollOutcome,
> {
  readonly #batch: Batch<Request, Outcome>;
  readonly #dependencies: BatchPollDependencies;
  readonly #ended: PollEnded<Request, Outcome>;
  readonly #wanted: Set<Request>;
  #job: Job | undefined;
  /** `undefined` before the first call: ten thousand batches may wait for their turn. */
  #begun: StartedPoll | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(
    batch: Batch<Request, Outcome>,
    dependencies: BatchPollDependencies,
    ended: PollEnded<Request, Outcome>,
  ) {
    this.#batch = batch;
    this.#dependencies = dependencies;
    this.#ended = ended;
    this.#wanted = new Set(batch.questions);
    this.#next();
  }

  /**
   * Drops a request whose outcome is no longer wanted: it is not reported. When no outcome is
   * wanted any longer, the calls of the batch are aborted with this reason.
   */
  drop(request: Request, reason: Error): void {
    this.#wanted.delete(request);
    if (this.#wanted.size > 0) return;
    this.#cancelTimer?.();
    this.#breakOff(reason);
  }

  #next(): void {
    if (this.#wanted.size === 0) return;
    const stage = this.#batch.nextStage();
    if (stage === undefined) {
      this.#finish();
      return;
    }
    this.#job = {
      key: this.#batch.key,
      size: stage.size,
      dueMs: this.#earliest(({ dueMs }) => dueMs),
      overdueMs: this.#earliest(({ overdueMs }) => overdueMs),
      periodMs: this.#earliest(({ periodMs }) => periodMs),
      calls: this.#scheduled(stage),
      ended: () => {
        this.#next();
      },
    };
    this.#dependencies.scheduler.add(this.#job);
  }

  *#scheduled({ calls }: Stage): Generator<ScheduledCall, undefined> {
    const { abort, wallMs } = this.#begin();
    const { signal } = abort;
    const scheduled =
      (call: Call): ScheduledCall =>
      async (turn) =>
        call({ turn, signal, wallMs });
    for (let next = calls.next(); next.done !== true; next = calls.next()) {
      yield scheduled(next.value);
    }
    return undefined;
  }

  #begin(): StartedPoll {
    if (this.#begun !== undefined) return this.#begun;
    const { clock, vendorWallMs = () => clock.wallMs() } = this.#dependencies;
    const deadlineMs = this.#earliest((request) => request.deadlineMs);
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    this.#begun = { abort, wallMs: vendorWallMs() };
    this.#cancelTimer = clock.after(deadlineMs, () => {
      this.#giveUp(deadlineMs);
    });
    return this.#begun;
  }

  #giveUp(deadlineMs: number): void {
    const seconds = Math.round(deadlineMs / 1000);
    const error = new ApiError(
      'timeout',
      `the poll did not end within ${seconds} s: New Relic answers too slowly, or the budget is too small for its retries`,
    );
    this.#batch.giveUp(error);
    this.#breakOff(error);
    // Lists that are cut short by a deadline still resolve to what they have read.
    this.#cancelTimer = this.#dependencies.clock.after(0, () => {
      this.#finish();
    });
  }

  #finish(): void {
    this.#cancelTimer?.();
    let subjects = 0;
    for (const request of this.#wanted) {
      if (subjects >= subjectsPerTurn) {
        this.#cancelTimer = this.#dependencies.clock.after(0, () => {
          this.#finish();
        });
        return;
      }
      this.#wanted.delete(request);
      const outcome = this.#batch.outcomeOf(request);
      subjects += 1 + outcome.partCount;
      this.#ended(request, outcome);
    }
  }

  #breakOff(reason: Error): void {
    if (this.#job !== undefined) this.#dependencies.scheduler.cancel(this.#job);
    this.#begun?.abort.abort(reason);
  }

  #earliest(timeOf: (request: Request) => number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const request of this.#wanted) earliest = Math.min(earliest, timeOf(request));
    return earliest;
  }
}
