import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { createMissingLog } from '../../src/poller/missing-log.ts';
import { anEntry } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function setUp() {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  return { clock, logger, log: createMissingLog('production', { clock, logger }) };
}

function entries(count: number): readonly AppEntry[] {
  return Array.from({ length: count }, (_, id) =>
    anEntry({ selector: { kind: 'id', id: String(id) } }),
  );
}

/** What the lines say of entries, those in full and those that are only counted. */
function toldOf({ logger }: ReturnType<typeof setUp>): readonly number[] {
  const counts = (level: string): number =>
    logger.lines
      .filter((line) => line.level === level)
      .reduce((sum, { fields }) => sum + Number(fields['entries'] ?? 1), 0);
  return [counts('warn'), counts('info')];
}

describe('createMissingLog', () => {
  it('works through ten thousand entries in turns, and tells of every one', async () => {
    const bench = setUp();

    bench.log.update(entries(10_000));
    const atOnce = bench.logger.lines.length;
    // The timers of the change log, and that of the next turn.
    const timersAtFirst = bench.clock.pendingTimers();
    await bench.clock.advance(0);
    const timersLater = bench.clock.pendingTimers();
    await bench.clock.advance(60_000);

    expect(atOnce).toBe(10);
    expect(timersAtFirst - timersLater).toBe(1);
    expect(toldOf(bench)).toEqual([10_000, 0]);
    bench.log.stop();
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('tells of all when it is stopped in between', () => {
    const bench = setUp();

    bench.log.update(entries(5000));
    bench.log.stop();

    expect(toldOf(bench)).toEqual([5000, 0]);
    expect(bench.clock.pendingTimers()).toBe(0);
  });

  it('tells of all when the next list comes in between', () => {
    const bench = setUp();

    bench.log.update(entries(5000));
    bench.log.update([]);
    bench.log.stop();

    expect(toldOf(bench)).toEqual([5000, 5000]);
  });

  it('says nothing for a list that it knows, or another one with the same entries', () => {
    const bench = setUp();
    const list = entries(3);

    bench.log.update(list);
    bench.log.update(list);
    bench.log.update(entries(3));

    expect(bench.logger.lines).toHaveLength(3);
    bench.log.stop();
  });
});
