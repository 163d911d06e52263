import { describe, expect, it } from 'vitest';
import { JobQueue, type QueuedJob } from '../../src/rate-limit/job-queue.ts';

const limits = { requestsPerMinute: 800, concurrency: 8 };

interface JobOptions {
  readonly size?: number;
  readonly dueMs?: number;
  readonly overdueMs?: number;
  readonly periodMs?: number;
}

function aJob(
  queue: JobQueue<QueuedJob>,
  key: string,
  { size = 5, dueMs = 0, overdueMs = 0, periodMs = 600_000 }: JobOptions = {},
): QueuedJob {
  const job: QueuedJob = {
    job: { key, size, dueMs, overdueMs, periodMs },
    number: 0,
    started: 0,
    inFlight: 0,
    window: 2,
    isSuspect: queue.isKnownSuspect(key),
    answeredMs: Number.NEGATIVE_INFINITY,
    isExhausted: false,
    waiting: [],
    deadlineMs: 0,
  };
  queue.update(job);
  return job;
}

/** Starts calls as long as the queue has one, and returns the keys of their jobs. */
function startAll(queue: JobQueue<QueuedJob>, nowMs: number): readonly string[] {
  const keys: string[] = [];
  for (let one = queue.next(nowMs, false); one !== undefined; one = queue.next(nowMs, false)) {
    queue.started(one);
    keys.push(one.job.key);
  }
  return keys;
}

function aQueue(): JobQueue<QueuedJob> {
  return new JobQueue(limits);
}

describe('JobQueue: earliest deadline first', () => {
  it.each([
    {
      what: 'a small job before a large one that fell due at the same time',
      first: { size: 5 },
      second: { size: 10_000 },
    },
    {
      what: 'a job with a short interval before one with a long interval',
      first: { periodMs: 60_000 },
      second: { periodMs: 3_600_000 },
    },
    { what: 'an older job before a younger one', first: { dueMs: 0 }, second: { dueMs: 1 } },
    {
      what: 'a large job that has waited long before a small one that just fell due',
      first: { size: 10_000, dueMs: 0 },
      second: { size: 5, dueMs: 60_000 },
    },
    {
      what: 'a job whose interval has passed before one that needs all of its own',
      first: { size: 1e6, periodMs: 10_000, dueMs: 0 },
      second: { size: 1e6, periodMs: 60_000, dueMs: 0 },
    },
  ])('serves $what', ({ first, second }) => {
    const queue = aQueue();
    aJob(queue, 'second', second);
    aJob(queue, 'first', first);

    expect(queue.next(0, false)?.job.key).toBe('first');
  });

  it('keeps the deadline of a job within a quantum, and moves it on with the next one', () => {
    const queue = aQueue();
    const large = aJob(queue, 'large', { size: 10_000 });
    const deadlines = [0, 63, 64, 128].map((started) => {
      large.started = started;
      queue.update(large);
      return large.deadlineMs;
    });

    const [atFirst, within, next, later] = deadlines.map((ms) => ms - (deadlines[0] ?? 0));
    expect([atFirst, within]).toEqual([0, 0]);
    expect(next).toBeCloseTo((64 * 1.2 * 60_000) / 800, 6);
    expect(later).toBeCloseTo(2 * (next ?? 0), 6);
  });

  it('gives jobs more time on a smaller budget', () => {
    const queue = aQueue();
    const before = aJob(queue, 'a').deadlineMs;

    queue.resize({ ...limits, requestsPerMinute: 80 });

    expect(aJob(queue, 'b').deadlineMs).toBeGreaterThan(before);
  });

  it('serves only overdue jobs when no other may start, however late their deadline is', () => {
    const queue = aQueue();
    aJob(queue, 'in time', { dueMs: 0, overdueMs: 5000 });
    aJob(queue, 'overdue', { dueMs: 3000, overdueMs: 4000 });

    const overdue = [3999, 4000].map((nowMs) => queue.next(nowMs, true)?.job.key);

    expect(overdue).toEqual([undefined, 'overdue']);
    expect(queue.next(3999, false)?.job.key).toBe('in time');
    expect(queue.nextOverdueMs()).toBe(4000);
  });

  it('has no job to serve when each is exhausted or has a full window', () => {
    const queue = aQueue();
    const exhausted = aJob(queue, 'exhausted');
    exhausted.isExhausted = true;
    queue.update(exhausted);
    aJob(queue, 'busy');

    expect(startAll(queue, 0)).toEqual(['busy', 'busy']);
    expect(queue.nextOverdueMs()).toBeUndefined();
  });
});

describe('JobQueue: the window of a job', () => {
  it('begins with two calls and grows with every answer, up to the concurrency', () => {
    const queue = aQueue();
    const job = aJob(queue, 'a', { size: 100 });

    const started = [0, 200, 400, 600].map((nowMs) => {
      const calls = startAll(queue, nowMs);
      for (const _ of calls) {
        queue.ended(job);
        queue.answered(job, nowMs + 200);
      }
      return calls.length;
    });

    expect(started).toEqual([2, 4, 8, 8]);
  });

  it('is halved by each slow call, as long as others are answered', () => {
    const queue = aQueue();
    const job = aJob(queue, 'a', { size: 100 });
    job.window = 8;
    queue.answered(job, 500);

    queue.slow(job, 400, 2000);

    expect(job).toMatchObject({ window: 4, isSuspect: false });
  });
});

describe('JobQueue: suspects', () => {
  it('makes a job a suspect when a call is slow and none has been answered since it was sent', () => {
    const queue = aQueue();
    const [silent, answered] = [aJob(queue, 'silent'), aJob(queue, 'answered')];
    startAll(queue, 0);
    queue.ended(answered);
    queue.answered(answered, 300);

    queue.slow(silent, 300.5, 2000);
    queue.slow(answered, 300, 2000);

    expect([silent.isSuspect, answered.isSuspect]).toEqual([true, false]);
  });

  it('gives suspects a quarter of the slots together, with one call each', () => {
    const queue = aQueue();
    const jobs = ['a', 'b', 'c', 'd'].map((key) => aJob(queue, key));
    for (const [index, job] of jobs.entries()) queue.slow(job, 0, 1000 + index);

    expect(startAll(queue, 5000)).toEqual(['a', 'b']);
  });

  it('serves the suspect first whose call hung longest ago, in its later polls too', () => {
    const queue = aQueue();
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      const earlier = aJob(queue, key);
      queue.slow(earlier, 0, 3000 - index);
      earlier.isExhausted = true;
      queue.update(earlier);
    }
    const jobs = ['a', 'b', 'c'].map((key) => aJob(queue, key));

    expect(jobs.every(({ isSuspect }) => isSuspect)).toBe(true);
    expect(startAll(queue, 5000)).toEqual(['c', 'b']);
  });

  it('serves a suspect after jobs with an earlier deadline, and before those with a later one', () => {
    const queue = aQueue();
    const suspect = aJob(queue, 'suspect', { dueMs: 1000 });
    queue.slow(suspect, 0, 1000);
    aJob(queue, 'earlier', { dueMs: 0 });
    aJob(queue, 'later', { dueMs: 2000 });

    expect(startAll(queue, 5000)).toEqual(['earlier', 'earlier', 'suspect', 'later', 'later']);
  });

  it('clears a suspect when one of its calls is answered, which makes room for the next one', () => {
    const queue = aQueue();
    const [one, two, three] = ['a', 'b', 'c'].map((key) => aJob(queue, key));
    for (const [index, job] of [one, two, three].entries()) {
      if (job !== undefined) queue.slow(job, 0, 1000 + index);
    }
    const first = startAll(queue, 5000);
    if (one === undefined) throw new Error('there is a job');
    queue.ended(one);
    queue.answered(one, 5200);

    expect(first).toEqual(['a', 'b']);
    expect(startAll(queue, 5200).toSorted()).toEqual(['a', 'a', 'c']);
    expect(queue.isKnownSuspect('a')).toBe(false);
  });

  it('frees the slots of the other calls of a suspect that was answered', () => {
    const queue = new JobQueue({ ...limits, concurrency: 4 });
    const wide = aJob(queue, 'wide');
    startAll(queue, 0);
    queue.slow(wide, 0, 1000);
    queue.ended(wide);
    queue.answered(wide, 1200);
    const other = aJob(queue, 'other');
    queue.slow(other, 0, 1300);
    wide.isExhausted = true;
    queue.ended(wide);

    expect(startAll(queue, 5000)).toEqual(['other']);
  });

  it('counts the calls of a suspect once while it is one, however many it had before', () => {
    const queue = aQueue();
    const recovered = aJob(queue, 'recovered');
    startAll(queue, 0);
    queue.slow(recovered, 0, 1000);
    queue.slow(recovered, 0, 1001);
    for (const atMs of [1200, 1300]) {
      queue.ended(recovered);
      queue.answered(recovered, atMs);
      queue.started(recovered);
    }
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      queue.slow(aJob(queue, key, { dueMs: -1 }), 0, 2000 + index);
    }

    expect(startAll(queue, 5000).filter((key) => key !== 'recovered')).toEqual(['a', 'b']);
  });

  it('forgets the oldest suspect instead of growing without bound', () => {
    const queue = aQueue();
    for (let key = 0; key < 10_000; key += 1) queue.slow(aJob(queue, `${key}`), 0, 1000 + key);

    queue.slow(aJob(queue, '0'), 0, 20_000);
    queue.slow(aJob(queue, 'one more'), 0, 20_001);

    const known = ['0', '1', '2', 'one more'].map((key) => queue.isKnownSuspect(key));
    expect(known).toEqual([true, false, true, true]);
  });
});
