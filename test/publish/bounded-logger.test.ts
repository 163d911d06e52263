import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { type BoundedLogger, createBoundedLogger } from '../../src/publish/bounded-logger.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';

interface LoggerBench {
  readonly bounded: BoundedLogger;
  readonly clock: FakeClock;
  readonly logger: FakeLogger;
  fail(count: number, message?: string): void;
}

function aLogger(): LoggerBench {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const bounded = createBoundedLogger(logger, clock);
  let failures = 0;
  return {
    bounded,
    clock,
    logger,
    fail: (count, message = 'poll failed') => {
      for (let index = 0; index < count; index += 1) {
        failures += 1;
        bounded.warn({ app_id: failures }, message);
      }
    },
  };
}

/** How many lines were asked for, by those that were written. */
function countedIn({ lines }: FakeLogger): number {
  return lines.reduce((sum, { fields }) => sum + 1 + Number(fields['suppressed'] ?? 0), 0);
}

describe('the bounded logger', () => {
  it('writes three lines with the same message at once, and the last of the others after a minute', async () => {
    const bench = aLogger();

    bench.fail(10_000);
    await bench.clock.advance(minuteMs - 1);
    const within = bench.logger.lines.length;
    await bench.clock.advance(1);

    expect(within).toBe(3);
    expect(bench.logger.lines).toEqual([
      ...[1, 2, 3].map((id) => ({
        level: 'warn',
        message: 'poll failed',
        fields: { app_id: id },
      })),
      { level: 'warn', message: 'poll failed', fields: { app_id: 10_000, suppressed: 9996 } },
    ]);
  });

  it('bounds each message alone, with its level', async () => {
    const bench = aLogger();

    bench.fail(5);
    bench.fail(3, 'values dropped');
    bench.bounded.info({}, 'poll works again');
    bench.bounded.error({}, 'discovery failed');

    expect(bench.logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      ...Array.from({ length: 3 }, () => 'warn poll failed'),
      ...Array.from({ length: 3 }, () => 'warn values dropped'),
      'info poll works again',
      'error discovery failed',
    ]);
  });

  it('does not bound lines for those who debug', () => {
    const bench = aLogger();

    for (let call = 0; call < 100; call += 1) bench.bounded.debug({}, 'call to the vendor');

    expect(bench.logger.lines).toHaveLength(100);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('writes what it holds back when it is stopped, and then everything, without a timer', () => {
    const bench = aLogger();

    bench.fail(10);
    bench.bounded.stop();
    bench.fail(10);
    bench.bounded.stop();

    expect(bench.logger.lines[3]?.fields).toEqual({ app_id: 10, suppressed: 6 });
    expect(bench.logger.lines).toHaveLength(4 + 10);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('counts every line, and writes no more than five with a message in any minute', async () => {
    const bursts = fc.array(fc.tuple(fc.nat(20), fc.nat(90_000)), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(bursts, async (steps) => {
        const bench = aLogger();
        const atMs: number[] = [];
        for (const [count, pauseMs] of steps) {
          bench.fail(count);
          while (atMs.length < bench.logger.lines.length) atMs.push(bench.clock.monotonicMs());
          for (let ms = 0; ms < pauseMs; ms += 1000) {
            await bench.clock.advance(1000);
            while (atMs.length < bench.logger.lines.length) atMs.push(bench.clock.monotonicMs());
          }
        }
        bench.bounded.stop();

        expect(countedIn(bench.logger)).toBe(steps.reduce((sum, [count]) => sum + count, 0));
        for (const fromMs of atMs) {
          const inMinute = atMs.filter((ms) => ms >= fromMs && ms < fromMs + minuteMs);
          expect(inMinute.length).toBeLessThanOrEqual(5);
        }
      }),
      { numRuns: 30 },
    );
  });
});
