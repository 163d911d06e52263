import { earlyShare } from './schedule.ts';

/** How far the calls of one job have got. */
export interface JobProgress {
  readonly job: {
    readonly size: number;
    readonly dueMs: number;
    readonly spanMs: number;
  };
  /** Calls that were started so far. */
  readonly started: number;
}

const minuteMs = 60_000;
/** A job is ranked by chunks of its calls, so that small ones are finished one after the other. */
const chunkCalls = 64;
/** How much slower than alone on the budget a job may be before it comes before younger ones. */
const patience = 1.2;

/**
 * The rank of a job: when its current chunk should have been done, so the least is served first.
 * Small jobs overtake a large one, however many calls that has; the large one still gets its share,
 * since its chunks grow older. Jobs with a long interval have more time than those with a short one.
 */
export function createRanking(requestsPerMinute: number): (progress: JobProgress) => number {
  const msPerCall = (patience * minuteMs) / requestsPerMinute;
  return ({ job, started }) => {
    const chunkEnd = Math.min(job.size, Math.ceil((started + 1) / chunkCalls) * chunkCalls);
    const lateMs = job.dueMs + earlyShare * job.spanMs;
    return lateMs + Math.min(job.spanMs, chunkEnd * msPerCall);
  };
}

/** The first of the candidates with the least rank. */
export function firstInRank<Candidate>(
  candidates: Iterable<Candidate>,
  isEligible: (candidate: Candidate) => boolean,
  rankOf: (candidate: Candidate) => number,
): Candidate | undefined {
  let first: Candidate | undefined;
  let firstRank = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    if (!isEligible(candidate)) continue;
    const rank = rankOf(candidate);
    if (first === undefined || rank < firstRank) {
      first = candidate;
      firstRank = rank;
    }
  }
  return first;
}
