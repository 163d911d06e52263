import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Values } from '../../src/model/polled-series.ts';
import type { AppReading, AppSnapshot } from '../../src/model/snapshot.ts';
import { createThroughputHistory } from '../../src/status/throughput-history.ts';
import { anApplication, throughputSeries } from '../support/builders.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createFakeSink } from '../support/fake-sink.ts';

const minuteMs = 60_000;

function minuteOf(clock: FakeClock): number {
  return Math.floor(clock.wallMs() / minuteMs);
}

function aSnapshot(
  windowEndMs: number | undefined,
  application: Values,
  overrides: Partial<AppSnapshot> = {},
): AppSnapshot {
  const reading: AppReading = {
    windowEndMs,
    series: throughputSeries,
    application,
    hosts: new Map([['1', web(7)]]),
  };
  return {
    account: 'production',
    application: anApplication({ id: '101' }),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(),
    reading,
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: undefined,
    ...overrides,
  };
}

function web(perMinute: number): Values {
  return [perMinute];
}

function aHistory() {
  const clock = createFakeClock();
  const sink = createFakeSink();
  const history = createThroughputHistory(sink, { clock });
  const publish = (minutesAgo: number, application: Values): void => {
    const windowEndMs = (minuteOf(clock) - minutesAgo) * minuteMs;
    history.sink.publish(aSnapshot(windowEndMs, application));
  };
  /** The values that are there, by how many minutes ago. */
  const seen = (): Readonly<Record<number, number>> =>
    Object.fromEntries(
      history
        .of('production', '101')
        .flatMap((value, index) => (value === undefined ? [] : [[59 - index, value]])),
    ) as Record<number, number>;
  return { clock, sink, history, publish, seen };
}

describe('createThroughputHistory', () => {
  it('adds up the hosts where only hosts are polled', () => {
    const bench = aHistory();
    const snapshot = aSnapshot(bench.clock.wallMs(), [], { hostsOnly: true });

    bench.history.sink.publish(snapshot);

    expect(bench.seen()).toEqual({ 0: 7 });
  });

  it('forgets an application that is removed, and all of an account that is', () => {
    const bench = aHistory();
    bench.publish(0, web(1));
    bench.history.sink.remove('production', '101');
    const removed = bench.seen();
    bench.publish(0, web(2));
    const back = bench.seen();
    bench.history.sink.removeAccount('production');

    expect([removed, back, bench.seen()]).toEqual([{}, { 0: 2 }, {}]);
  });

  it('passes everything on', () => {
    const bench = aHistory();
    const snapshot = aSnapshot(0, web(1));

    bench.history.sink.publish(snapshot);
    bench.history.sink.accountUp('production', true);
    const { apps, up } = bench.sink;
    const published = [apps.size, up.size];
    bench.history.sink.remove('production', '101');
    const removed = [apps.size, up.size];
    bench.history.sink.removeAccount('production');

    expect(bench.sink.published).toEqual([snapshot]);
    expect([published, removed, [apps.size, up.size]]).toEqual([
      [1, 1],
      [0, 1],
      [0, 0],
    ]);
  });

  it('agrees with a list of everything, also when clocks are set back', async () => {
    const windows = fc.array(
      fc.record({ passed: fc.nat(90), ago: fc.nat(70), value: fc.nat(100_000) }),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(windows, async (all) => {
        const bench = aHistory();
        const byMinute = new Map<number, number>();
        for (const { passed, ago, value } of all) {
          await bench.clock.advance(passed * minuteMs);
          bench.publish(ago, web(value));
          const minute = minuteOf(bench.clock) - ago;
          // What lies ahead of the newest window, or an hour behind it, has been forgotten.
          for (const known of byMinute.keys()) {
            if (known > minute || known <= minute - 60) byMinute.delete(known);
          }
          byMinute.set(minute, value);
        }
        const expected = Array.from({ length: 60 }, (_, index) => {
          const minute = minuteOf(bench.clock) - 59 + index;
          return byMinute.get(minute);
        });
        expect(bench.history.of('production', '101')).toEqual(expected);
      }),
    );
  });
});
