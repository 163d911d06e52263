import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Batch, Call, Question, Stage } from '../model/source.ts';
import type { CallScheduler, Job, ScheduledCall } from './call-scheduler.ts';

/** One application whose poll is due: what to ask for, and when. */
export interface PollRequest extends Question {
  readonly dueMs: number;
  /** From then on its calls need not keep an even distance to each other. */
  readonly overdueMs: number;
  /** The effective interval. */
  readonly periodMs: number;
  /** What has not arrived by then, counted from the first call of the poll, has failed. */
  readonly deadlineMs: number;
}

export interface BatchPollDependencies {
  readonly scheduler: Pick<CallScheduler, 'add' | 'cancel' | 'stop'>;
  readonly clock: Clock;
  /** Wall time at the vendor. Without it: that of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

/** Told of each application of a batch that was not dropped before. */
export type PollEnded = (request: PollRequest, outcome: PollOutcome) => void;

/** The poll of a batch that has not ended. */
export interface BatchPoll {
  /**
   * The outcome of this application is not wanted any more, and is not told. Without one that is
   * wanted the batch ends now, with this reason for its calls under way.
   */
  drop(request: PollRequest, reason: Error): void;
}

/**
 * Puts the calls of a batch into the scheduler, stage by stage. It begins with its first call: until
 * that has its turn the batch is an entry in a queue. Each outcome is told once: when the last call has
 * ended, or at the deadline; those of a large batch in several turns of the event loop. As the times
 * of a batch the earliest of its applications count.
 */
export function startBatchPoll(
  batch: Batch<PollRequest>,
  dependencies: BatchPollDependencies,
  ended: PollEnded,
): BatchPoll {
  return new StagedPoll(batch, dependencies, ended);
}

/** Outcomes that are told without a break: each is published at once, which takes some milliseconds. */
const atATime = 50;

interface Begun {
  readonly abort: AbortController;
  readonly wallMs: number;
}

class StagedPoll implements BatchPoll {
  readonly #batch: Batch<PollRequest>;
  readonly #dependencies: BatchPollDependencies;
  readonly #ended: PollEnded;
  readonly #wanted: Set<PollRequest>;
  #job: Job | undefined;
  /** Not before the first call: ten thousand may wait for their turn. */
  #begun: Begun | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(batch: Batch<PollRequest>, dependencies: BatchPollDependencies, ended: PollEnded) {
    this.#batch = batch;
    this.#dependencies = dependencies;
    this.#ended = ended;
    this.#wanted = new Set(batch.questions);
    this.#next();
  }

  drop(request: PollRequest, reason: Error): void {
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
      async (onWire) =>
        call({ onWire, signal, wallMs });
    for (let next = calls.next(); next.done !== true; next = calls.next()) {
      yield scheduled(next.value);
    }
    return undefined;
  }

  #begin(): Begun {
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
      `the poll did not end within ${seconds} s: the vendor answers too slowly, or the budget is too small for its retries`,
    );
    this.#batch.giveUp(error);
    this.#breakOff(error);
    // Lists that are broken off by a deadline still give what they have.
    this.#cancelTimer = this.#dependencies.clock.after(0, () => {
      this.#finish();
    });
  }

  #finish(): void {
    this.#cancelTimer?.();
    let told = 0;
    for (const request of this.#wanted) {
      if (told === atATime) {
        this.#cancelTimer = this.#dependencies.clock.after(0, () => {
          this.#finish();
        });
        return;
      }
      told += 1;
      this.#wanted.delete(request);
      this.#ended(request, this.#batch.outcomeOf(request));
    }
  }

  #breakOff(reason: Error): void {
    if (this.#job !== undefined) this.#dependencies.scheduler.cancel(this.#job);
    this.#begun?.abort.abort(reason);
  }

  #earliest(timeOf: (request: PollRequest) => number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const request of this.#wanted) earliest = Math.min(earliest, timeOf(request));
    return earliest;
  }
}
