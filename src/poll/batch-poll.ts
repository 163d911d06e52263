import { setMaxListeners } from 'node:events';
import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { PollOutcome } from '../model/poll-outcome.ts';
import type { Batch, Call, Question, Stage } from '../model/source.ts';
import type { AccountCalls, Job, ScheduledCall } from '../newrelic/calls/account-calls.ts';
import { subjectsPerTurn } from './app-publisher.ts';
import type { PollTimes } from './schedule.ts';

/** One application whose poll is due: what to ask for, and when. */
export interface PollRequest extends Question, PollTimes {}

export interface BatchPollDependencies {
  readonly calls: Pick<AccountCalls, 'run'>;
  readonly clock: Clock;
  /** The vendor's wall time. Default: the wall time of the clock. */
  readonly vendorWallMs?: (() => number) | undefined;
}

type OutcomeSize = Pick<PollOutcome, 'partCount'>;

export interface BatchPollEvents<Request extends PollTimes, Outcome extends OutcomeSize> {
  /** Called with the first call: the batch to ask for instead, with more that can be asked for together. */
  readonly begins: (
    wanted: readonly Request[],
    poll: BatchPoll<Request, Outcome>,
  ) => Batch<Request, Outcome> | undefined;
  /** Called once for each request of the batch, unless it was dropped before. */
  readonly ended: (request: Request, outcome: Outcome) => void;
}

/**
 * Asks for a batch, stage by stage. The poll begins with its first call; until then it only waits in the
 * queue of its account. Each outcome is reported once: when the last call has ended, or at the deadline. The
 * outcomes of a large batch are reported in several turns of the event loop. The earliest times of its
 * applications are the times of the batch.
 */
export class BatchPoll<
  Request extends PollTimes = PollRequest,
  Outcome extends OutcomeSize = PollOutcome,
> {
  readonly #dependencies: BatchPollDependencies;
  readonly #events: BatchPollEvents<Request, Outcome>;
  readonly #wanted: Set<Request>;
  readonly #stop = new AbortController();
  #batch: Batch<Request, Outcome>;
  #stage: Stage | undefined;
  /** The vendor's wall time when the poll began. */
  #wallMs: number | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(
    batch: Batch<Request, Outcome>,
    dependencies: BatchPollDependencies,
    events: BatchPollEvents<Request, Outcome>,
  ) {
    this.#batch = batch;
    this.#dependencies = dependencies;
    this.#events = events;
    this.#wanted = new Set(batch.questions);
    setMaxListeners(0, this.#stop.signal);
    void this.#run();
  }

  /** Whether a call of it was made. */
  get hasBegun(): boolean {
    return this.#wallMs !== undefined;
  }

  /**
   * Drops a request whose outcome is no longer wanted: it is not reported. When no outcome is
   * wanted any longer, the calls of the batch are aborted with this reason.
   */
  drop(request: Request, reason: Error): void {
    this.#wanted.delete(request);
    if (this.#wanted.size > 0) return;
    this.#cancelTimer?.();
    this.#stop.abort(reason);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (
      this.#stage = this.#batch.nextStage();
      this.#stage;
      this.#stage = this.#batch.nextStage()
    ) {
      await this.#dependencies.calls.run(this.#jobOf(this.#stage), signal);
      if (signal.aborted) return;
    }
    this.#report();
  }

  #jobOf(stage: Stage): Job {
    const size = (): number => this.#stage?.size ?? stage.size;
    return {
      key: this.#batch.key,
      dueMs: this.#earliest(({ dueMs }) => dueMs),
      periodMs: this.#earliest(({ periodMs }) => periodMs),
      calls: this.#scheduled(),
      get size() {
        return size();
      },
    };
  }

  *#scheduled(): Generator<ScheduledCall, undefined> {
    const { signal } = this.#stop;
    const wallMs = this.#wallMs ?? this.#begin();
    const isRepeated = [...this.#wanted].every(({ hasFailed }) => hasFailed);
    const scheduled =
      (call: Call): ScheduledCall =>
      async (turn) =>
        call({ turn, signal, wallMs, isRepeated });
    const calls = this.#stage?.calls ?? [].values();
    for (let next = calls.next(); next.done !== true; next = calls.next()) {
      yield scheduled(next.value);
    }
    return undefined;
  }

  #begin(): number {
    const { clock, vendorWallMs = () => clock.wallMs() } = this.#dependencies;
    const wallMs = vendorWallMs();
    this.#wallMs = wallMs;
    const batch = this.#events.begins([...this.#wanted], this);
    if (batch !== undefined) {
      this.#batch = batch;
      this.#stage = batch.nextStage();
      for (const request of batch.questions) this.#wanted.add(request);
    }
    const deadlineMs = this.#earliest((request) => request.deadlineMs);
    this.#cancelTimer = clock.after(deadlineMs, () => {
      this.#giveUp(deadlineMs);
    });
    return wallMs;
  }

  #giveUp(deadlineMs: number): void {
    const seconds = Math.round(deadlineMs / 1000);
    const error = new ApiError(
      'timeout',
      `the poll did not end within ${seconds} s: New Relic answers too slowly, or the budget is too small for its retries`,
    );
    this.#batch.giveUp(error);
    this.#stop.abort(error);
    // Lists that are cut short by a deadline still resolve to what they have read.
    this.#reportLater();
  }

  #report(): void {
    this.#cancelTimer?.();
    let subjects = 0;
    for (const request of this.#wanted) {
      if (subjects >= subjectsPerTurn) {
        this.#reportLater();
        return;
      }
      this.#wanted.delete(request);
      const outcome = this.#batch.outcomeOf(request);
      subjects += 1 + outcome.partCount;
      this.#events.ended(request, outcome);
    }
  }

  #reportLater(): void {
    this.#cancelTimer = this.#dependencies.clock.after(0, () => {
      this.#report();
    });
  }

  #earliest(timeOf: (request: Request) => number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const request of this.#wanted) earliest = Math.min(earliest, timeOf(request));
    return earliest;
  }
}
