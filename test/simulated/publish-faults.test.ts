import { describe, expect, it } from 'vitest';
import { isOfQuery, type Snapshot, subjectIdOf } from '../../src/model/snapshot.ts';
import { minuteMs } from '../../src/model/time.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { linesOf, ownLinesOf, queriesStarted, queryStatus } from '../support/query-daemon.ts';
import type { RunningDaemon, RunningDaemonOptions } from '../support/running-daemon.ts';

const queries = ['calls', 'errors']
  .map(
    (name) => `  - { as: ${name}, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 20 }`,
  )
  .join('\n');

/** The subjects whose snapshots cannot be rendered. */
function brokenBy(broken: Set<string>): Pick<RunningDaemonOptions, 'watch'> {
  return {
    watch: (sink) => ({
      publish: (snapshot) => {
        sink.publish(broken.has(subjectIdOf(snapshot)) ? unreadable(snapshot) : snapshot);
      },
    }),
  };
}

/** The same, with a reading that throws whatever one asks of it. */
function unreadable(snapshot: Snapshot): Snapshot {
  const reading = new Proxy(
    {},
    {
      get: () => {
        throw new TypeError('a fault of this program');
      },
    },
  );
  // What is wrong with it is not in its type.
  return (isOfQuery(snapshot) ? { ...snapshot, reading } : { ...snapshot, reading }) as Snapshot;
}

function faultsLogged({ logger }: RunningDaemon): readonly unknown[] {
  return logger.lines
    .filter(({ message }) => message === 'fault while it was published')
    .map(({ fields }) => fields['subject']);
}

describe('5.3 a fault while one subject is published', () => {
  it.each([
    ['a query', 'query calls', /^calls|query="calls"/u],
    ['an application', '101', /app_id="101"/u],
  ])(
    'leaves out only that: %s, counted and logged once, until it works again',
    async (_, id, its) => {
      const broken = new Set<string>();
      const bench = await queriesStarted({ queries }, brokenBy(broken));
      const before = await linesOf(bench, /./u);
      broken.add(id);
      await bench.platform.clock.advance(10 * minuteMs);
      const page = await linesOf(bench, /./u);
      const whole = await bench.page();
      const named = (lines: readonly string[]): readonly string[] =>
        lines.map((line) => line.split(' ')[0] ?? '');

      expect(page.filter((line) => its.test(line))).toEqual([]);
      expect(named(page)).toEqual(named(before.filter((line) => !its.test(line))));
      expect(() => parseExposition(Buffer.from(whole))).not.toThrow();
      expect(
        await ownLinesOf(bench, /^newrelic_exporter_series_dropped_total\{.*reason="fault"/u),
      ).toEqual(['newrelic_exporter_series_dropped_total{account="one",reason="fault"} 1']);
      expect(faultsLogged(bench)).toEqual([id]);
      // It is asked as ever, and so is all else.
      const nowMs = bench.platform.clock.wallMs();
      for (const name of ['calls', 'errors']) {
        expect(nowMs - (queryStatus(bench, name)?.lastPollMs ?? 0)).toBeLessThan(2 * minuteMs);
      }
      broken.clear();
      await bench.platform.clock.advance(2 * minuteMs);
      expect(named(await linesOf(bench, /./u))).toEqual(named(before));
      expect(bench.daemon.stalled()).toBeUndefined();
    },
  );

  it('counts each subject, and again one that worked in between', async () => {
    const broken = new Set(['query calls', 'query errors', '102']);
    const bench = await queriesStarted({ queries }, brokenBy(broken));
    await bench.platform.clock.advance(2 * minuteMs);
    expect(faultsLogged(bench)).toHaveLength(3);
    broken.clear();
    await bench.platform.clock.advance(2 * minuteMs);
    broken.add('102');
    await bench.platform.clock.advance(2 * minuteMs);

    expect(faultsLogged(bench)).toHaveLength(4);
    expect(bench.daemon.store.droppedOf('one', 'fault')).toBe(4);
  });
});
