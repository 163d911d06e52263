import { describe, expect, it } from 'vitest';
import { createQuota, type Quota } from '../../src/simulator/quota.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const wallStartMs = Date.UTC(2026, 8, 1, 10, 0, 30);

function takeMany(quota: Quota, key: string, count: number): number {
  return Array.from({ length: count }, () => quota.acquire(key)).filter(
    (verdict) => verdict.allowed,
  ).length;
}

describe('quota', () => {
  it('allows exactly the limit in one window and counts everything above as a violation', () => {
    const clock = createFakeClock(wallStartMs);
    const quota = createQuota({ perMinute: 1000, phaseMs: 0 }, { clock });

    const allowed = takeMany(quota, 'a', 1007);

    expect(allowed).toBe(1000);
    expect(quota.violations()).toBe(7);
  });

  it('starts every window at 0, so that two bursts may follow each other', async () => {
    const clock = createFakeClock(wallStartMs);
    const quota = createQuota({ perMinute: 10, phaseMs: 0 }, { clock });
    await clock.advance(59_999);

    const before = takeMany(quota, 'a', 10);
    const refused = quota.acquire('a').allowed;
    await clock.advance(1);
    const after = takeMany(quota, 'a', 10);

    expect({ before, refused, after }).toEqual({ before: 10, refused: false, after: 10 });
  });

  it('counts throttled requests as well: hammering does not help', async () => {
    const clock = createFakeClock(wallStartMs);
    const quota = createQuota({ perMinute: 10, phaseMs: 0 }, { clock });

    takeMany(quota, 'a', 100);
    await clock.advance(59_000);

    expect(takeMany(quota, 'a', 5)).toBe(0);
    expect(quota.violations()).toBe(95);
  });

  it.each([
    { phaseMs: 0, elapsedMs: 0, resetSeconds: wallStartMs / 1000 + 60 },
    { phaseMs: 0, elapsedMs: 59_999, resetSeconds: wallStartMs / 1000 + 60 },
    { phaseMs: 0, elapsedMs: 60_000, resetSeconds: wallStartMs / 1000 + 120 },
    { phaseMs: 17_000, elapsedMs: 0, resetSeconds: wallStartMs / 1000 + 17 },
    { phaseMs: 17_000, elapsedMs: 17_000, resetSeconds: wallStartMs / 1000 + 77 },
    { phaseMs: 16_500, elapsedMs: 0, resetSeconds: wallStartMs / 1000 + 17 },
  ])(
    'names $resetSeconds as the end of the window after $elapsedMs ms with phase $phaseMs',
    async ({ phaseMs, elapsedMs, resetSeconds }) => {
      const clock = createFakeClock(wallStartMs);
      const quota = createQuota({ perMinute: 1, phaseMs }, { clock });

      await clock.advance(elapsedMs);

      expect(quota.acquire('a').resetSeconds).toBe(resetSeconds);
    },
  );

  it('opens no new window when the wall clock jumps', () => {
    const clock = createFakeClock(wallStartMs);
    const quota = createQuota({ perMinute: 2, phaseMs: 0 }, { clock });
    takeMany(quota, 'a', 2);

    clock.jumpWall(3_600_000);

    expect(quota.acquire('a')).toEqual({
      allowed: false,
      limit: 2,
      resetSeconds: wallStartMs / 1000 + 3660,
    });
  });
});
