import type { Clock } from '../model/clock.ts';
import type { OnWire } from '../model/source.ts';
import { createTokenBucket, type TokenBucket } from '../model/token-bucket.ts';
import { createCallTimes } from './call-times.ts';
import { createDoubts } from './doubts.ts';
import { createJobPlaces, type JobPlaces, type PlaceTaken } from './job-places.ts';
import { createRanking, firstInRank, type JobProgress } from './job-ranking.ts';

/**
 * One vendor call, ready to be sent. It deals with its own failure and never rejects. It may tell when
 * its request is really on its way.
 */
export type Call = (onWire: OnWire) => Promise<void>;

/** The calls of one poll. */
export interface Job {
  /** What is polled: jobs with the same key follow each other. */
  readonly key: string;
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
  /** Another budget from now on. */
  resize(requestsPerMinute: number): void;
}

export interface DispatcherOptions {
  readonly requestsPerMinute: number;
  readonly concurrency: number;
}

interface RunningJob extends JobProgress {
  readonly job: Job;
  readonly places: JobPlaces;
  readonly done: () => void;
  started: number;
  /** No call is left to start. */
  exhausted: boolean;
  isAborted: boolean;
}

/** The share of the places that all jobs in doubt have together. */
const doubtfulShare = 0.25;
/** The values of a poll are published together, so small polls had better go out at once. */
const batchMs = 3000;

/**
 * Decides whose call is next, and when. Calls keep an even distance within the budget, in batches,
 * unless their poll is overdue. One job never holds more than `concurrency` calls, and those jobs
 * whose calls hang have only a few between them.
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
  readonly #times = createCallTimes();
  readonly #doubts = createDoubts();
  readonly #jobs = new Set<RunningJob>();
  #evenly: TokenBucket;
  #rankOf: (progress: JobProgress) => number;
  #cancelTimer: (() => void) | undefined;

  constructor({ concurrency, requestsPerMinute }: DispatcherOptions, clock: Clock) {
    this.#clock = clock;
    this.#concurrency = concurrency;
    this.#evenly = createTokenBucket(requestsPerMinute, clock.monotonicMs(), batchMs);
    this.#rankOf = createRanking(requestsPerMinute);
  }

  resize(requestsPerMinute: number): void {
    const nowMs = this.#clock.monotonicMs();
    this.#evenly = createTokenBucket(requestsPerMinute, nowMs, batchMs);
    // No burst: what was spent with the old budget still counts.
    this.#evenly.restart(nowMs);
    this.#rankOf = createRanking(requestsPerMinute);
    this.#pump();
  }

  async run(job: Job, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const onAbort = (): void => {
        running.exhausted = true;
        running.isAborted = true;
        this.#finishIfDone(running);
        this.#wakeLater();
      };
      const done = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const places = createJobPlaces(
        { concurrency: this.#concurrency, wasDoubtful: this.#doubts.has(job.key) },
        this.#times,
      );
      const running: RunningJob = {
        job,
        places,
        done,
        started: 0,
        exhausted: false,
        isAborted: false,
      };
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
    const nowMs = this.#clock.monotonicMs();
    if (this.#jobs.size === 0 || !this.#hasRoom(nowMs)) return undefined;
    const onlyOverdue = this.#evenly.waitMs(nowMs) > 0;
    const isReady = this.#readiness(nowMs);
    return firstInRank(
      this.#jobs,
      (one) => (!onlyOverdue || one.job.overdueMs <= nowMs) && isReady(one),
      this.#rankOf,
    );
  }

  /** Tells whether a job may have one more call. Of those in doubt it is one at a time. */
  #readiness(nowMs: number): (one: RunningJob) => boolean {
    const isFree = ({ exhausted, places }: RunningJob): boolean =>
      !exhausted && places.hasRoom(nowMs);
    const doubtful = [...this.#jobs].filter(({ places }) => places.isDoubtful(nowMs));
    if (doubtful.length === 0) return isFree;
    const calls = doubtful.reduce((sum, { places }) => sum + places.running(), 0);
    const share = Math.max(1, Math.floor(doubtfulShare * this.#concurrency));
    const longestWaiting =
      calls < share
        ? firstInRank(doubtful, isFree, ({ job }) => this.#doubts.sinceMs(job.key))
        : undefined;
    return (one) => isFree(one) && (one === longestWaiting || !doubtful.includes(one));
  }

  #start(running: RunningJob): void {
    const { job, places } = running;
    const { value: call, done } = job.calls.next();
    if (done === true) {
      running.exhausted = true;
      this.#finishIfDone(running);
      return;
    }
    const startMs = this.#clock.monotonicMs();
    this.#evenly.take();
    running.started += 1;
    const place = places.start(startMs);
    const onWire: OnWire = (isOnWire) => {
      place.onWire(isOnWire, this.#clock.monotonicMs());
    };
    void call(onWire).finally(() => {
      this.#ended(running, place);
      this.#finishIfDone(running);
      this.#pump();
    });
  }

  #ended({ job, places, isAborted }: RunningJob, place: PlaceTaken): void {
    const nowMs = this.#clock.monotonicMs();
    const wasDoubtful = places.isDoubtful(nowMs);
    if (isAborted) place.givenUp(nowMs);
    else place.ended(nowMs);
    if (places.isDoubtful(nowMs)) this.#doubts.add(job.key, nowMs);
    else if (wasDoubtful) this.#doubts.clear(job.key);
  }

  #finishIfDone(running: RunningJob): void {
    if (!running.exhausted || running.places.running() > 0) return;
    this.#jobs.delete(running);
    running.done();
  }

  /** Only who waits for time to pass needs a timer: a call that ends wakes the others anyway. */
  #wakeLater(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const isWaiting = [...this.#jobs].some(({ exhausted }) => !exhausted);
    const delayMs = isWaiting ? this.#waitMs(this.#clock.monotonicMs()) : undefined;
    if (delayMs === undefined) return;
    this.#cancelTimer = this.#clock.after(Math.ceil(delayMs), () => {
      this.#cancelTimer = undefined;
      this.#pump();
    });
  }

  #waitMs(nowMs: number): number | undefined {
    // Calls that become slow meanwhile make room for others.
    if (!this.#hasRoom(nowMs)) return this.#times.slowAfterMs();
    const isReady = this.#readiness(nowMs);
    let overdueMs: number | undefined;
    for (const one of this.#jobs) {
      if (isReady(one)) overdueMs = Math.min(overdueMs ?? Infinity, one.job.overdueMs);
    }
    if (overdueMs === undefined) return undefined;
    return Math.min(this.#evenly.waitMs(nowMs), Math.max(1, overdueMs - nowMs));
  }

  /**
   * A slow call may be one that waits for a retry and holds no connection, which must not idle the
   * others; or one that hangs and does hold one. So only some of them are not counted.
   */
  #hasRoom(nowMs: number): boolean {
    let outstanding = 0;
    let slow = 0;
    for (const { places } of this.#jobs) {
      outstanding += places.running();
      slow += places.slow(nowMs);
    }
    return outstanding - Math.min(slow, this.#concurrency / 2) < this.#concurrency;
  }
}
