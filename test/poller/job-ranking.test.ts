import { describe, expect, it } from 'vitest';
import { createRanking, firstInRank, type JobProgress } from '../../src/poller/job-ranking.ts';

function aJob(size: number, started: number, dueMs = 0, spanMs = 600_000): JobProgress {
  return { job: { size, dueMs, spanMs }, started };
}

describe('createRanking', () => {
  const rankOf = createRanking(800);

  it('ranks a small job before a large one that fell due at the same time', () => {
    expect(rankOf(aJob(5, 0))).toBeLessThan(rankOf(aJob(10_000, 0)));
  });

  it('keeps the rank of a job while it is within a chunk, so that it is finished', () => {
    expect(rankOf(aJob(64, 63))).toBe(rankOf(aJob(64, 0)));
  });

  it('ranks a large job later with every chunk that it has had', () => {
    const ranks = [0, 64, 128, 192].map((started) => rankOf(aJob(10_000, started)));

    expect(ranks).toEqual(ranks.toSorted((left, right) => left - right));
    expect(new Set(ranks).size).toBe(4);
  });

  it('ranks a large job that has waited long before small ones that just fell due', () => {
    expect(rankOf(aJob(10_000, 64, 0))).toBeLessThan(rankOf(aJob(5, 0, 60_000)));
  });

  it('never ranks a job later than its span allows', () => {
    expect(rankOf(aJob(100_000, 99_000, 1000, 60_000))).toBe(
      rankOf(aJob(100_000, 0, 1000, 0)) + 66_000,
    );
  });

  it('gives a job with a long interval more time than one with a short interval', () => {
    expect(rankOf(aJob(5, 0, 0, 60_000))).toBeLessThan(rankOf(aJob(5, 0, 0, 600_000)));
  });

  it('gives a job on a small budget more time than the same one on a large budget', () => {
    expect(createRanking(100)(aJob(5, 0))).toBeGreaterThan(rankOf(aJob(5, 0)));
  });
});

describe('firstInRank', () => {
  it('takes the first of equals, and only who is eligible', () => {
    const candidates = [
      { name: 'barred', rank: 0 },
      { name: 'first', rank: 1 },
      { name: 'equal', rank: 1 },
    ];

    const first = firstInRank(
      candidates,
      ({ name }) => name !== 'barred',
      ({ rank }) => rank,
    );

    expect(first?.name).toBe('first');
  });

  it('is somebody even when all ranks are infinite', () => {
    const first = firstInRank(
      [1, 2],
      () => true,
      () => Number.POSITIVE_INFINITY,
    );

    expect(first).toBe(1);
  });

  it('is nobody when nobody is eligible', () => {
    const first = firstInRank(
      [1, 2],
      () => false,
      (rank) => rank,
    );

    expect(first).toBeUndefined();
  });
});
