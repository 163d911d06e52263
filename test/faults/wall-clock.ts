import { expect } from 'vitest';
import { hourMs, minuteMs } from '../../src/model/time.ts';
import { type TimedBench, withTimedFaults } from './fault-bench.ts';
import { freshness } from './freshness.ts';
import type { FaultSource } from './sources.ts';

export const everyone: readonly string[] = [
  'neighbour 101',
  'neighbour 102',
  'production 101',
  'production 102',
];

export const beforeDiscoveryMs: number = 5 * minuteMs - 1;
/** Polls begin here before the next answer comes. */
export const betweenDiscoveriesMs: number = 5.5 * minuteMs;

/** When the polls of `shop` asked for the application itself, since a moment. */
export function pollTimes(
  source: FaultSource,
  { faulty }: TimedBench,
  sinceMs: number,
): readonly number[] {
  return source
    .windowsOf('101', faulty.simulator.journal.entries())
    .map(({ atMonotonicMs }) => atMonotonicMs)
    .filter((timeMs) => timeMs >= sinceMs);
}

/** A jump of the wall clock, and when it comes. */
export interface Jump {
  readonly hours: number;
  readonly jumpAtMs: number;
}

/** The wall clock of this machine jumps; polls come as before, and ask for the vendor's time. */
export async function expectSameRhythm(
  source: FaultSource,
  { hours, jumpAtMs }: Jump,
): Promise<void> {
  await withTimedFaults({ source: source.account }, async (bench) => {
    await bench.advance(jumpAtMs);
    const jumpedAtMs = bench.clock.monotonicMs();
    bench.platform.clock.jumpWall(hours * hourMs);
    const jumped = await bench.scrape();
    await bench.advance(10 * minuteMs);
    const page = await bench.scrape();

    const times = pollTimes(source, bench, jumpedAtMs);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(jumped.series('newrelic_application_requests_per_minute')).toHaveLength(6);
    expect(gaps).toEqual(gaps.map(() => minuteMs));
    expect(times).toHaveLength(10);
    const askedUntil = source
      .allWindows(bench.faulty.simulator.journal.entries())
      .filter(({ atMonotonicMs }) => atMonotonicMs >= jumpedAtMs)
      .map(({ ageMs }) => ageMs);
    const awayMs =
      bench.clock.wallMs() - (bench.faulty.simulator.journal.entries().at(-1)?.wallMs ?? 0);
    expect(Math.round(awayMs / hourMs)).toBe(hours);
    // Of the vendor's time, which did not jump.
    expect(Math.min(...askedUntil)).toBeGreaterThanOrEqual(3 * minuteMs);
    expect(Math.max(...askedUntil)).toBeLessThanOrEqual(5 * minuteMs);
    expect(freshness(page, bench.clock)).toEqual(everyone);
  });
}
