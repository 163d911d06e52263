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
  /** The time within which it should be done. */
  readonly spanMs: number;
}

export interface Dispatcher {
  /** Resolves when every call of the job has ended. */
  run(job: Job): Promise<void>;
}

export interface DispatcherOptions {
  readonly requestsPerMinute: number;
  readonly concurrency: number;
}

interface RunningJob {
  readonly job: Job;
  readonly done: () => void;
  started: number;
  running: number;
  exhausted: boolean;
}

const minuteMs = 60_000;
/** A job is ranked by chunks of its calls, so that small ones are finished one after the other. */
const chunkCalls = 64;
/** How much slower than alone on the budget a job may be before it comes before younger ones. */
const patience = 4;
/** Calls under way per place in flight: those that wait for a retry must not idle the others. */
const outstandingPerConcurrency = 4;

/**
 * Decides whose call is next: the job whose current chunk should have been done first. Small jobs
 * overtake a large one, however many calls that has, and the large one still gets its share, since
 * its chunks grow older. One job never holds more than `concurrency` calls.
 */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { concurrency } = options;
  const hasRoom = (): boolean => outstanding < outstandingPerConcurrency * concurrency;
  const msPerCall = (patience * minuteMs) / options.requestsPerMinute;
  const jobs = new Set<RunningJob>();
  let outstanding = 0;

  const rankOf = ({ job, started }: RunningJob): number => {
    const chunkEnd = Math.min(job.size, Math.ceil((started + 1) / chunkCalls) * chunkCalls);
    return job.dueMs + Math.min(job.spanMs, chunkEnd * msPerCall);
  };

  const next = (): RunningJob | undefined => {
    let best: RunningJob | undefined;
    let bestRank = Number.POSITIVE_INFINITY;
    for (const candidate of jobs) {
      if (candidate.exhausted || candidate.running >= concurrency) continue;
      const rank = rankOf(candidate);
      if (rank < bestRank) {
        best = candidate;
        bestRank = rank;
      }
    }
    return best;
  };

  const finishIfDone = (running: RunningJob): void => {
    if (!running.exhausted || running.running > 0) return;
    jobs.delete(running);
    running.done();
  };

  const start = (running: RunningJob): void => {
    const { value: call, done } = running.job.calls.next();
    if (done === true) {
      running.exhausted = true;
      finishIfDone(running);
      return;
    }
    running.started += 1;
    running.running += 1;
    outstanding += 1;
    void call().finally(() => {
      running.running -= 1;
      outstanding -= 1;
      finishIfDone(running);
      pump();
    });
  };

  const pump = (): void => {
    for (let running = next(); running !== undefined && hasRoom(); running = next()) {
      start(running);
    }
  };

  return {
    run: async (job) => {
      await new Promise<void>((done) => {
        jobs.add({ job, done, started: 0, running: 0, exhausted: false });
        pump();
      });
    },
  };
}
