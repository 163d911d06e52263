import { PriorityQueue } from '../model/priority-queue.ts';

/**
 * A poll falls due this share of its period early where the budget does not suffice, and waits for its
 * turn: so there is always a poll to go on with.
 */
export const earlyShare = 0.1;

/** What decides the deadline of a job, and so its turn. */
export interface JobTimes {
  /** What is polled. Jobs with the same key follow each other. */
  readonly key: string;
  /** The number of calls at most. */
  readonly size: number;
  /** When the poll fell due, on the monotonic clock. */
  readonly dueMs: number;
  /** After this time its calls go out as fast as they can, instead of evenly. */
  readonly overdueMs: number;
  /** The time that the job may take. */
  readonly periodMs: number;
}

/** A job with what the queue knows about it. */
export interface QueuedJob<Times extends JobTimes = JobTimes> {
  readonly job: Times;
  /** Jobs with the same deadline are served in the order of their numbers. */
  readonly number: number;
  started: number;
  inFlight: number;
  /** The AIMD window: requests in flight at most. An answer adds one, a slow call halves it. */
  window: number;
  /** A call is slow, and none has been answered since it was sent. */
  isSuspect: boolean;
  answeredMs: number;
  isExhausted: boolean;
  /** Further requests of calls that have been started: retries and pages. They go first. */
  readonly waiting: readonly unknown[];
  /** The deadline of the present quantum of its calls. */
  deadlineMs: number;
}

export interface JobQueueLimits {
  /** Calls in any 60 seconds. */
  readonly requestsPerMinute: number;
  /** Requests in flight at most. */
  readonly concurrency: number;
}

const minuteMs = 60_000;
const suspectShare = 0.25;
/** Suspects that were deleted are never cleared: the bound keeps the map from growing. */
const mostSuspects = 10_000;
/** The deadline of a job moves on after this many of its calls, so that small jobs overtake it. */
const quantum = 64;
/** The factor by which a job may be slower than if it had the budget alone. */
const slowdown = 1.2;

/**
 * The jobs that may start a call: earliest deadline first.
 *
 * - A small job has one deadline. That of a large one moves on every 64 calls, like the quantum of
 *   deficit round robin, so that small jobs finish in between.
 * - Each job has an AIMD window, as in congestion control: it limits what one job whose calls are
 *   slow can take from the others.
 * - A job whose calls hang is a suspect, and so is its application in later polls: a half-open
 *   circuit breaker, with one call at a time until one is answered. All suspects together have a
 *   bulkhead of a quarter of the slots. The one whose call hung longest ago comes first.
 */
export class JobQueue<Job extends QueuedJob> {
  readonly #byDeadline = new PriorityQueue<Job>();
  readonly #byOverdue = new PriorityQueue<Job>();
  readonly #suspects = new PriorityQueue<Job>();
  /** When a call of each suspect last hung, by key; the oldest first. */
  readonly #slowAtMs = new Map<string, number>();
  #suspectCalls = 0;
  #limits: JobQueueLimits;

  constructor(limits: JobQueueLimits) {
    this.#limits = limits;
  }

  /** Whether an earlier poll of the same application ended as a suspect. */
  isKnownSuspect(key: string): boolean {
    return this.#slowAtMs.has(key);
  }

  /**
   * Puts the job where it now belongs, or takes it out. To be called after every change of the job.
   */
  update(one: Job): void {
    const { job, isSuspect, isExhausted, inFlight, waiting } = one;
    const most = isSuspect ? 1 : Math.min(one.window, this.#limits.concurrency);
    const isReady = (!isExhausted || waiting.length > 0) && inFlight < most;
    one.deadlineMs = this.#deadlineMsOf(one);
    if (isReady && !isSuspect) {
      this.#byDeadline.set(one, one.deadlineMs, one.number);
      this.#byOverdue.set(one, job.overdueMs, one.number);
    } else {
      this.#byDeadline.delete(one);
      this.#byOverdue.delete(one);
    }
    if (isReady && isSuspect) this.#suspects.set(one, this.#slowAtMs.get(job.key) ?? 0);
    else this.#suspects.delete(one);
  }

  /** A call that was sent at `sentMs` is slow, or was slow and has failed. */
  slow(one: Job, sentMs: number, nowMs: number): void {
    one.window = Math.max(1, one.window >> 1);
    if (one.answeredMs < sentMs) {
      if (!one.isSuspect) this.#suspectCalls += one.inFlight;
      one.isSuspect = true;
      this.#remember(one.job.key, nowMs);
    }
    this.update(one);
  }

  answered(one: Job, nowMs: number): void {
    one.answeredMs = nowMs;
    one.window = Math.min(this.#limits.concurrency, one.window + 1);
    if (one.isSuspect) this.#suspectCalls -= one.inFlight;
    one.isSuspect = false;
    this.#slowAtMs.delete(one.job.key);
    this.update(one);
  }

  started(one: Job): void {
    one.started += 1;
    one.inFlight += 1;
    if (one.isSuspect) this.#suspectCalls += 1;
    this.update(one);
  }

  ended(one: Job): void {
    one.inFlight -= 1;
    if (one.isSuspect) this.#suspectCalls -= 1;
    this.update(one);
  }

  /** @param onlyOverdue whether jobs that are not overdue have to wait */
  next(nowMs: number, onlyOverdue: boolean): Job | undefined {
    const isAllowed = (one: Job | undefined): boolean =>
      one !== undefined && (!onlyOverdue || one.job.overdueMs <= nowMs);
    const normal = [this.#byDeadline.first(), this.#byOverdue.first()].find(isAllowed);
    const longestWaiting = this.#mayStartSuspect() ? this.#suspects.first() : undefined;
    if (longestWaiting === undefined || !isAllowed(longestWaiting)) return normal;
    return normal === undefined || longestWaiting.deadlineMs <= normal.deadlineMs
      ? longestWaiting
      : normal;
  }

  /** When the next job that may start a call becomes overdue; `undefined` if none may start one. */
  nextOverdueMs(): number | undefined {
    const suspect = this.#mayStartSuspect() ? this.#suspects.first() : undefined;
    if (this.#byOverdue.size === 0 && suspect === undefined) return undefined;
    return Math.min(this.#byOverdue.firstPriority(), suspect?.job.overdueMs ?? Infinity);
  }

  resize(limits: JobQueueLimits): void {
    this.#limits = limits;
  }

  #mayStartSuspect(): boolean {
    return this.#suspectCalls < Math.max(1, Math.floor(suspectShare * this.#limits.concurrency));
  }

  #remember(key: string, nowMs: number): void {
    this.#slowAtMs.delete(key);
    this.#slowAtMs.set(key, nowMs);
    const [oldest] = this.#slowAtMs.keys();
    if (this.#slowAtMs.size > mostSuspects && oldest !== undefined) this.#slowAtMs.delete(oldest);
  }

  /** Polls begin a little early. A large job has more time, up to its whole period. */
  #deadlineMsOf({ job, started }: Job): number {
    const calls = Math.min(job.size, Math.ceil((started + 1) / quantum) * quantum);
    const neededMs = (slowdown * minuteMs * calls) / this.#limits.requestsPerMinute;
    return job.dueMs + earlyShare * job.periodMs + Math.min(job.periodMs, neededMs);
  }
}
