import type { Clock } from '../model/clock.ts';
import type { Permit, Turn } from '../model/permit.ts';
import { CallLatency } from './call-latency.ts';
import { JobQueue, type JobQueueLimits, type JobTimes, type QueuedJob } from './job-queue.ts';
import type { Membership } from './membership.ts';

/** A call of a job, ready to be sent. Each of its requests takes its turn. It never rejects. */
export type ScheduledCall = (turn: Turn) => Promise<void>;

/** The calls of one stage of a batch. */
export interface Job extends JobTimes {
  /**
   * Taken one by one, and only when there is room: a poll of 10,000 hosts is not a queue of 10,000.
   */
  readonly calls: Iterator<ScheduledCall>;
  /** Called when every call of the job has ended and no further one will be started. */
  readonly ended: () => void;
}

/** What the account may send. */
type Limit = Pick<Membership, 'mayTake' | 'take' | 'onWake' | 'dueSinceMs'>;

const minuteMs = 60_000;
const firstWindow = 2;
/** Then a poll goes first: a tenth of what is sent. */
const mostListsInRow = 9;
/** Makes sure that a request counts as slow when the timer fires, however the clock rounds. */
const afterSlowMs = 1;

interface Waiter {
  readonly grant: (permit: Permit) => void;
}

interface RunningJob extends QueuedJob<Job> {
  readonly waiting: Waiter[];
  /** Calls that were started, and those of them that have not ended. */
  calls: number;
  openCalls: number;
}

/** A request in flight; one without a job is a list. */
interface SentRequest {
  readonly running: RunningJob | undefined;
  readonly sentMs: number;
}

/**
 * Decides which request of an account goes next, and takes the permit for it: nothing is sent that
 * has not been here.
 *
 * - Which one: lists first, as everything else depends on them, but after nine of them a poll; then earliest
 *   deadline first, over jobs (the calls of a poll); see `JobQueue`. A retry is a request of its job that waits again.
 * - When: as the limiter of the key says. A job that is overdue need not be spaced evenly.
 * - How many at a time: `concurrency` requests. Within that each job has an AIMD window of its own.
 *
 * Every event costs O(log n) for n waiting jobs.
 */
export class CallScheduler {
  /** For requests that belong to no job. */
  readonly first: Turn;
  readonly #clock: Clock;
  readonly #limit: Limit;
  readonly #latency = new CallLatency();
  readonly #jobs = new Map<Job, RunningJob>();
  readonly #queue: JobQueue<RunningJob>;
  readonly #lists: Waiter[] = [];
  /** Requests in flight that are not slow so far, in the order in which they were sent. */
  readonly #inTime = new Set<SentRequest>();
  #listsInRow = 0;
  #inFlight = 0;
  #jobsSoFar = 0;
  #limits: JobQueueLimits;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #isStopped = false;

  constructor(limits: JobQueueLimits, clock: Clock, limit: Limit) {
    this.#clock = clock;
    this.#limit = limit;
    this.#limits = limits;
    this.#queue = new JobQueue<RunningJob>(limits);
    this.first = {
      next: async (delayMs, signal) => this.#wait(undefined, delayMs, signal),
    };
    limit.onWake(() => {
      this.#pump();
    });
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
      waiting: [],
      calls: 0,
      openCalls: 0,
    };
    this.#jobsSoFar += 1;
    this.#jobs.set(job, running);
    this.#queue.update(running);
    this.#pump();
  }

  /** No further call of the job is started, and `ended` is not called. */
  cancel(job: Job): void {
    const running = this.#jobs.get(job);
    if (running === undefined || this.#isStopped) return;
    this.#jobs.delete(job);
    running.isExhausted = true;
    this.#queue.update(running);
  }

  /** Starts nothing more, and leaves no timer. */
  stop(): void {
    this.#isStopped = true;
    this.#jobs.clear();
    this.#stopTimer();
  }

  resize(limits: JobQueueLimits): void {
    this.#limits = limits;
    this.#queue.resize(limits);
    this.#pump();
  }

  /**
   * Calls a minute that `concurrency` can carry while the vendor answers as fast as it does now.
   */
  carriedPerMinute(): number {
    const meanMs = this.#latency.meanMs();
    return meanMs === undefined || meanMs <= 0
      ? Number.POSITIVE_INFINITY
      : (this.#limits.concurrency * minuteMs) / meanMs;
  }

  /** Monotonic time since when requests have been due without being looked at. */
  dueSinceMs(): number | undefined {
    const atMs = this.#timer?.atMs;
    const isDue = atMs !== undefined && atMs <= this.#clock.monotonicMs();
    return isDue ? atMs : this.#limit.dueSinceMs();
  }

  #pump(): void {
    if (this.#isStopped) return;
    const nowMs = this.#clock.monotonicMs();
    this.#noticeSlow(nowMs);
    while (this.#inFlight < this.#limits.concurrency && this.#startNext(nowMs));
    this.#wakeLater(nowMs);
  }

  /** Returns whether there may be another one to start. */
  #startNext(nowMs: number): boolean {
    const [list] = this.#lists;
    const isPollReady = this.#queue.nextOverdueMs() !== undefined;
    if (list !== undefined && !(isPollReady && this.#listsInRow >= mostListsInRow)) {
      if (!this.#limit.mayTake(false)) return false;
      this.#listsInRow += 1;
      this.#lists.shift();
      list.grant(this.#permitFor(undefined, nowMs));
      return true;
    }
    if (!isPollReady) return false;
    const isAnyAllowed = this.#limit.mayTake(true);
    const running = this.#queue.next(nowMs, !isAnyAllowed);
    if (running === undefined || !(isAnyAllowed || this.#limit.mayTake(false))) return false;
    this.#listsInRow = 0;
    this.#start(running, nowMs);
    return true;
  }

  #start(running: RunningJob, nowMs: number): void {
    const waiter = running.waiting.shift();
    if (waiter !== undefined) {
      waiter.grant(this.#permitFor(running, nowMs));
      return;
    }
    const { calls, size } = running.job;
    const { value: call, done } = calls.next();
    if (done === true) {
      running.isExhausted = true;
      this.#queue.update(running);
      this.#finishIfDone(running);
      return;
    }
    running.calls += 1;
    running.openCalls += 1;
    // A job finds out that it has no call left without a place in flight and without budget.
    running.isExhausted = running.calls >= size && calls.next().done === true;
    void this.#run(running, call, this.#permitFor(running, nowMs));
  }

  async #run(running: RunningJob, call: ScheduledCall, first: Permit): Promise<void> {
    let unused: Permit | undefined = first;
    await call({
      next: async (delayMs, signal) => {
        const permit = unused;
        unused = undefined;
        return permit ?? this.#wait(running, delayMs, signal);
      },
    });
    unused?.release(false);
    running.openCalls -= 1;
    this.#finishIfDone(running);
    this.#pump();
  }

  async #wait(
    running: RunningJob | undefined,
    delayMs: number,
    signal: AbortSignal,
  ): Promise<Permit> {
    signal.throwIfAborted();
    const line = running?.waiting ?? this.#lists;
    return new Promise((resolve, reject) => {
      const changed = (): void => {
        if (running !== undefined) this.#queue.update(running);
        this.#pump();
      };
      const onAbort = (): void => {
        cancelTimer?.();
        const place = line.indexOf(waiter);
        if (place !== -1) line.splice(place, 1);
        changed();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        grant: (permit) => {
          signal.removeEventListener('abort', onAbort);
          resolve(permit);
        },
      };
      const join = (): void => {
        line.push(waiter);
        changed();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const cancelTimer = delayMs > 0 ? this.#clock.after(delayMs, join) : undefined;
      if (cancelTimer === undefined) join();
      else this.#pump();
    });
  }

  #permitFor(running: RunningJob | undefined, nowMs: number): Permit {
    const permit = this.#limit.take();
    const request: SentRequest = { running, sentMs: nowMs };
    this.#inFlight += 1;
    this.#inTime.add(request);
    if (running !== undefined) this.#queue.started(running);
    return {
      ...permit,
      release: (isAnswered) => {
        this.#ended(request, isAnswered);
        permit.release(isAnswered);
        // A call first looks at its answer, which may be the end of its job; then it ends or waits again.
        if (running === undefined) this.#pump();
      },
    };
  }

  #ended(request: SentRequest, isAnswered: boolean): void {
    const { running, sentMs } = request;
    const nowMs = this.#clock.monotonicMs();
    const tookMs = nowMs - sentMs;
    this.#inFlight -= 1;
    this.#inTime.delete(request);
    if (isAnswered) this.#latency.answered(tookMs);
    if (running === undefined) return;
    this.#queue.ended(running);
    // However long it took: an application that is always slow is not one that hangs.
    if (isAnswered) this.#queue.answered(running, nowMs);
    else if (tookMs > this.#latency.slowAfterMs()) this.#queue.slow(running, sentMs, nowMs);
  }

  #finishIfDone(running: RunningJob): void {
    if (!running.isExhausted || running.openCalls > 0 || !this.#jobs.delete(running.job)) return;
    running.job.ended();
  }

  #noticeSlow(nowMs: number): void {
    const slowAfterMs = this.#latency.slowAfterMs();
    for (const request of this.#inTime) {
      const { running, sentMs } = request;
      if (nowMs - sentMs <= slowAfterMs) break;
      this.#inTime.delete(request);
      if (running !== undefined) this.#queue.slow(running, sentMs, nowMs);
    }
  }

  /** What ends, and what the limiter lets go, wakes the others anyway. */
  #wakeLater(nowMs: number): void {
    const [oldest] = this.#inTime;
    const slowAtMs =
      oldest === undefined
        ? Number.POSITIVE_INFINITY
        : oldest.sentMs + this.#latency.slowAfterMs() + afterSlowMs;
    const overdueMs = this.#queue.nextOverdueMs() ?? 0;
    const atMs = Math.min(slowAtMs, overdueMs > nowMs ? overdueMs : Number.POSITIVE_INFINITY);
    if (this.#timer?.atMs === atMs) return;
    this.#stopTimer();
    if (!Number.isFinite(atMs)) return;
    const cancel = this.#clock.after(Math.max(1, Math.ceil(atMs - nowMs)), () => {
      this.#timer = undefined;
      this.#pump();
    });
    this.#timer = { atMs, cancel };
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
