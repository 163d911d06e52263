import { describe, expect, it } from 'vitest';
import { tickerOver } from '../../src/demo/demo.ts';
import { transactionTypes } from '../../src/model/application.ts';
import { seriesOf } from '../../src/model/polled-series.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, throughputSeries } from '../support/builders.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { createFakeSink } from '../support/fake-sink.ts';
import { webOf } from '../support/fake-source.ts';

function aSnapshot(id: string, requestsPerMinute: number): AppSnapshot {
  return {
    account: 'demo',
    application: anApplication({ id, name: `app ${id}` }),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(),
    reading: {
      windowEndMs: undefined,
      series: throughputSeries,
      application: webOf(requestsPerMinute),
      hosts: new Map(),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: undefined,
  };
}

describe('tickerOver', () => {
  it('prints a line when a value changes, with what it was, for the first five applications', () => {
    const { stdout } = createFakePlatform();
    const sink = createFakeSink();
    const ticker = tickerOver(sink, stdout);

    for (const id of ['1', '2', '3', '4', '5', '6']) ticker.publish(aSnapshot(id, 10));
    ticker.publish(aSnapshot('1', 10));
    ticker.publish(aSnapshot('1', 12));

    const lines = stdout.text().trimEnd().split('\n');
    expect(lines).toHaveLength(6);
    expect(lines.at(-1)?.trim()).toMatch(/^app 1 +web 12 rpm {3}\(was web 10 rpm\)$/u);
  });

  it('passes everything on', () => {
    const sink = createFakeSink();
    const ticker = tickerOver(sink, createFakePlatform().stdout);

    ticker.publish(aSnapshot('1', 10));
    ticker.publish(aSnapshot('2', 10));
    ticker.accountUp('demo', true);
    ticker.remove('demo', '1');
    const before = [[...sink.apps.keys()], [...sink.up]];
    ticker.removeAccount('demo');

    expect(before).toEqual([['2'], [['demo', true]]]);
    expect([sink.apps.size, sink.up.size]).toEqual([0, 0]);
  });

  it('says how fast, how faulty and how satisfying an application is, as far as it is known', () => {
    const { stdout } = createFakePlatform();
    const ticker = tickerOver(createFakeSink(), stdout);
    const series = seriesOf(['throughput', 'response_time', 'errors', 'apdex'], transactionTypes);
    const snapshot = aSnapshot('1', 120);

    ticker.publish({
      ...snapshot,
      reading: {
        windowEndMs: 0,
        series,
        application: [120, 30, 0.0453, undefined, 1.44, undefined, 0.937],
        hosts: new Map(),
      },
    });

    expect(stdout.text().trim()).toMatch(
      /^app 1 +web 120 rpm 45\.3 ms 1\.2 % errors, other 30 rpm, Apdex 0\.94$/u,
    );
  });
});
