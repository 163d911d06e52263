import type { Clock } from '../model/clock.ts';
import type { OnWire } from '../model/source.ts';
import { createTokenBucket, type TokenBucket } from '../model/token-bucket.ts';
import { createCallLatency, createInFlightCalls, type InFlightCall } from './in-flight-calls.ts';
import { createJobQueue, type JobQueueLimits, type JobTimes, type QueuedJob } from './job-queue.ts';

/**
 * A call of a job, ready to be sent. It says when its request is really on the wire, and never
 * rejects: it resolves to whether there was an answer, even a bad one.
 */
export type ScheduledCall = (onWire: OnWire) => Promise<boolean>;

/** The calls of one stage of a batch. */
export interface Job extends JobTimes {
  /**
   * Taken one by one, and only when there is room: a poll of 10,000 hosts is not a queue of 10,000.
   */
  readonly calls: Iterator<ScheduledCall>;
  /** Called when every call of the job has ended and no further one will be started. */
  readonly ended: () => void;
}

/**
 * Decides which call of an account starts next, and when.
 *
 * - Which one: earliest deadline first, over jobs (the calls of a poll); see `JobQueue`.
 * - When: a token bucket spaces the calls evenly within the budget, in batches of three seconds. A
 *   job that is overdue need not wait for a token.
 * - How many at a time: `concurrency` calls, and up to half as many on top while calls are slow; see
 *   `InFlightCalls`. Within that each job has an AIMD window of its own.
 *
 * Every event costs O(log n) for n waiting jobs.
 */
export interface CallScheduler {
  add(job: Job): void;
  /** No further call of the job is started, and `ended` is not called. */
  cancel(job: Job): void;
  /** Starts no further call of any job, and leaves no timer. */
  stop(): void;
  resize(limits: JobQueueLimits): void;
  /**
   * Calls a minute that `concurrency` can carry while the vendor answers as fast as it does now.
   */
  carriedPerMinute(): number;
  /** Monotonic time since when calls have been due without being looked at. */
  dueSinceMs(): number | undefined;
}

const minuteMs = 60_000;
const firstWindow = 2;
/** The values of a poll are published together, so a small poll should go out in one batch. */
const batchMs = 3000;

export function createCallScheduler(
  limits: JobQueueLimits,
  { clock }: { readonly clock: Clock },
): CallScheduler {
  return new DeadlineScheduler(limits, clock);
}

type RunningJob = QueuedJob<Job>;

class DeadlineScheduler implements CallScheduler {
  readonly #clock: Clock;
  readonly #latency = createCallLatency();
  readonly #calls = createInFlightCalls<RunningJob>(this.#latency);
  readonly #jobs = new Map<Job, RunningJob>();
  readonly #queue;
  #jobsSoFar = 0;
  #limits: JobQueueLimits;
  #bucket: TokenBucket;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #isStopped = false;

  constructor(limits: JobQueueLimits, clock: Clock) {
    this.#clock = clock;
    this.#limits = limits;
    this.#queue = createJobQueue<RunningJob>(limits);
    this.#bucket = createTokenBucket(limits.requestsPerMinute, clock.monotonicMs(), batchMs);
  }

  add(job: Job): void {
    const running: RunningJob = {
      job,
      number: this.#jobsSoFar,
      started: 0,
      inFlight: 0,
      window: firstWindow,
      isSuspect: this.#queue.isKnownSuspect(job.key),
      answeredMs: Number.NEGATIVE_INFINITY,
      isExhausted: false,
      deadlineMs: 0,
    };
    this.#jobsSoFar += 1;
    this.#jobs.set(job, running);
    this.#queue.update(running);
    this.#pump();
  }

  cancel(job: Job): void {
    const running = this.#jobs.get(job);
    if (running === undefined || this.#isStopped) return;
    this.#jobs.delete(job);
    running.isExhausted = true;
    this.#queue.update(running);
  }

  stop(): void {
    this.#isStopped = true;
    this.#jobs.clear();
    this.#stopTimer();
  }

  resize(limits: JobQueueLimits): void {
    const nowMs = this.#clock.monotonicMs();
    if (limits.requestsPerMinute !== this.#limits.requestsPerMinute) {
      this.#bucket = createTokenBucket(limits.requestsPerMinute, nowMs, batchMs);
      // No burst: calls that the old budget allowed still count.
      this.#bucket.restart(nowMs);
    }
    this.#limits = limits;
    this.#queue.resize(limits);
    this.#pump();
  }

  carriedPerMinute(): number {
    const meanMs = this.#latency.meanMs();
    return meanMs === undefined || meanMs <= 0
      ? Number.POSITIVE_INFINITY
      : (this.#limits.concurrency * minuteMs) / meanMs;
  }

  dueSinceMs(): number | undefined {
    const atMs = this.#timer?.atMs;
    return atMs !== undefined && atMs <= this.#clock.monotonicMs() ? atMs : undefined;
  }

  #pump(): void {
    if (this.#isStopped) return;
    const nowMs = this.#clock.monotonicMs();
    for (const { owner, sentMs } of this.#calls.newlySlow(nowMs)) {
      this.#queue.slow(owner, sentMs, nowMs);
    }
    for (let one = this.#next(nowMs); one !== undefined; one = this.#next(nowMs)) this.#start(one);
    this.#wakeLater(nowMs);
  }

  #next(nowMs: number): RunningJob | undefined {
    if (!this.#calls.hasRoom(this.#limits.concurrency)) return undefined;
    return this.#queue.next(nowMs, this.#bucket.waitMs(nowMs) > 0);
  }

  #start(running: RunningJob): void {
    const { calls, size } = running.job;
    const { value: call, done } = calls.next();
    if (done === true) {
      running.isExhausted = true;
      this.#queue.update(running);
      this.#finishIfDone(running);
      return;
    }
    this.#bucket.take();
    // A job finds out that it has no call left without a slot and without budget.
    running.isExhausted = running.started + 1 >= size && calls.next().done === true;
    this.#queue.started(running);
    const started = this.#calls.start(running, this.#clock.monotonicMs());
    const onWire: OnWire = (isOnWire) => {
      this.#calls.onWire(started, isOnWire, this.#clock.monotonicMs());
    };
    void this.#run(call, onWire, started);
  }

  async #run(
    call: ScheduledCall,
    onWire: OnWire,
    started: InFlightCall<RunningJob>,
  ): Promise<void> {
    this.#ended(started, await call(onWire));
  }

  #ended(call: InFlightCall<RunningJob>, isAnswered: boolean): void {
    const { owner, sentMs } = call;
    const nowMs = this.#clock.monotonicMs();
    this.#calls.end(call, nowMs, isAnswered);
    this.#queue.ended(owner);
    // However long it took: an application that is always slow is not one that hangs.
    if (isAnswered) this.#queue.answered(owner, nowMs);
    else if (call.tookMs > this.#latency.slowAfterMs()) this.#queue.slow(owner, sentMs, nowMs);
    this.#finishIfDone(owner);
    this.#pump();
  }

  #finishIfDone(one: RunningJob): void {
    if (!one.isExhausted || one.inFlight > 0 || !this.#jobs.delete(one.job)) return;
    one.job.ended();
  }

  /**
   * A timer is needed only if time alone can let a call start: a call that ends wakes the others
   * anyway.
   */
  #wakeLater(nowMs: number): void {
    const atMs = this.#nextWakeMs(nowMs);
    if (atMs === undefined) {
      this.#stopTimer();
      return;
    }
    if (this.#timer !== undefined && this.#timer.atMs <= atMs) return;
    this.#stopTimer();
    const cancel = this.#clock.after(Math.max(1, Math.ceil(atMs - nowMs)), () => {
      this.#timer = undefined;
      this.#pump();
    });
    this.#timer = { atMs, cancel };
  }

  #nextWakeMs(nowMs: number): number | undefined {
    const overdueMs = this.#queue.nextOverdueMs();
    if (overdueMs === undefined) return undefined;
    const { concurrency } = this.#limits;
    if (!this.#calls.hasRoom(concurrency)) return this.#calls.nextSlowAtMs(concurrency);
    return Math.min(nowMs + this.#bucket.waitMs(nowMs), overdueMs);
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
