import type { Clock } from '../model/clock.ts';
import { createTokenBucket, type TokenBucket } from '../model/token-bucket.ts';
import { createRanking, firstInRank, type JobProgress } from './job-ranking.ts';

/** One vendor call, ready to be sent. It deals with its own failure and never rejects. */
export type Call = () => Promise<void>;

/** The calls of one poll. */
export interface Job {
  /** Asked one by one, and only when there is room: a poll of 10,000 hosts is no queue of 10,000. */
  readonly calls: Iterator<Call>;
  /** How many there will be, about. */
  readonly size: number;
  /** When the poll fell due, on the monotonic clock. */
  readonly dueMs: number;
  /** From then on its calls go out as fast as they can, instead of evenly. */
  readonly overdueMs: number;
  /** The time within which it should be done. */
  readonly spanMs: number;
}

export interface Dispatcher {
  /** Resolves when every call of the job has ended. When aborted, no further one is started. */
  run(job: Job, signal: AbortSignal): Promise<void>;
}

export interface DispatcherOptions {
  readonly requestsPerMinute: number;
  readonly concurrency: number;
}

interface RunningJob extends JobProgress {
  readonly job: Job;
  readonly done: () => void;
}

/** Calls under way per place in flight: those that wait for a retry must not idle the others. */
const outstandingPerConcurrency = 4;

/**
 * Decides whose call is next, and when. Calls keep an even distance within the budget unless their
 * poll is overdue. One job never holds more than `concurrency` calls.
 */
export function createDispatcher(
  options: DispatcherOptions,
  dependencies: { readonly clock: Clock },
): Dispatcher {
  return new FairDispatcher(options, dependencies.clock);
}

class FairDispatcher implements Dispatcher {
  readonly #clock: Clock;
  readonly #concurrency: number;
  readonly #evenly: TokenBucket;
  readonly #rankOf: (progress: JobProgress) => number;
  readonly #jobs = new Set<RunningJob>();
  #outstanding = 0;
  #cancelTimer: (() => void) | undefined;

  constructor({ concurrency, requestsPerMinute }: DispatcherOptions, clock: Clock) {
    this.#clock = clock;
    this.#concurrency = concurrency;
    this.#evenly = createTokenBucket(requestsPerMinute, clock.monotonicMs());
    this.#rankOf = createRanking(requestsPerMinute);
  }

  async run(job: Job, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const onAbort = (): void => {
        running.exhausted = true;
        this.#finishIfDone(running);
        this.#wakeLater();
      };
      const done = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const running: RunningJob = { job, done, started: 0, running: 0, exhausted: false };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#jobs.add(running);
      this.#pump();
    });
  }

  #pump(): void {
    for (let one = this.#next(); one !== undefined; one = this.#next()) this.#start(one);
    this.#wakeLater();
  }

  /** The best of the jobs that may start a call at this moment. */
  #next(): RunningJob | undefined {
    if (!this.#hasRoom()) return undefined;
    const nowMs = this.#clock.monotonicMs();
    const onlyOverdue = this.#evenly.waitMs(nowMs) > 0;
    return firstInRank(
      this.#jobs,
      (one) => this.#isReady(one) && (!onlyOverdue || one.job.overdueMs <= nowMs),
      this.#rankOf,
    );
  }

  #start(running: RunningJob): void {
    const { value: call, done } = running.job.calls.next();
    if (done === true) {
      running.exhausted = true;
      this.#finishIfDone(running);
      return;
    }
    this.#evenly.take();
    running.started += 1;
    running.running += 1;
    this.#outstanding += 1;
    void call().finally(() => {
      running.running -= 1;
      this.#outstanding -= 1;
      this.#finishIfDone(running);
      this.#pump();
    });
  }

  #finishIfDone(running: RunningJob): void {
    if (!running.exhausted || running.running > 0) return;
    this.#jobs.delete(running);
    running.done();
  }

  /** Only who waits for time to pass needs a timer: a call that ends wakes the others anyway. */
  #wakeLater(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (!this.#hasRoom()) return;
    let overdueMs: number | undefined;
    for (const one of this.#jobs) {
      if (this.#isReady(one)) overdueMs = Math.min(overdueMs ?? Infinity, one.job.overdueMs);
    }
    if (overdueMs === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const delayMs = Math.min(this.#evenly.waitMs(nowMs), Math.max(1, overdueMs - nowMs));
    this.#cancelTimer = this.#clock.after(Math.ceil(delayMs), () => {
      this.#cancelTimer = undefined;
      this.#pump();
    });
  }

  #isReady({ exhausted, running }: RunningJob): boolean {
    // A job that hangs must leave the others room: it gets half of the places, unless it is alone.
    const places = this.#jobs.size > 1 ? Math.ceil(this.#concurrency / 2) : this.#concurrency;
    return !exhausted && running < places;
  }

  #hasRoom(): boolean {
    return this.#outstanding < outstandingPerConcurrency * this.#concurrency;
  }
}
