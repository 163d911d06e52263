import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seriesOf } from '../../src/model/polled-series.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, throughputSeries } from '../support/builders.ts';
import { webOf } from '../support/fake-source.ts';
import { renderedOf, textOf } from './builders.ts';

const otherSeries = seriesOf(['apdex', 'throughput'], ['other']);

const names = ['a', 'b', 'a\u0000', 'a\uFFFD'] as const;

const anySnapshot: fc.Arbitrary<AppSnapshot> = fc.record({
  account: fc.constantFrom('production', 'test'),
  application: fc
    .record({
      name: fc.constantFrom(...names),
      healthStatus: fc.constantFrom('green', 'odd', undefined),
      hostIds: fc.constantFrom(['1', '2'], undefined),
    })
    .map((one) => anApplication(one)),
  hostsOnly: fc.boolean(),
  labels: fc.constantFrom({}, { team: 'payments' }),
  hostNames: fc.constantFrom(
    new Map(),
    new Map([
      ['1', 'one'],
      ['2', 'one\u0000'],
    ]),
  ),
  reading: fc.option(
    fc.record({
      windowEndMs: fc.constantFrom(undefined, 60_000),
      series: fc.constantFrom(throughputSeries, otherSeries),
      application: fc.constantFrom(webOf(1), webOf(2), []),
      hosts: fc.constantFrom(
        new Map(),
        new Map([['1', webOf(1)]]),
        new Map([
          ['1', webOf(1)],
          ['2', webOf(3)],
          ['x\u0000', webOf(3)],
          ['x\uFFFD', webOf(3)],
        ]),
      ),
    }),
    { nil: undefined },
  ),
  pollSucceeded: fc.constantFrom(undefined, true, false),
  failureReason: fc.constantFrom(undefined, 'timeout', 'auth'),
  lastSuccessMs: fc.constantFrom(undefined, 1000, 2000),
});

describe('renderApplication', () => {
  it('shows only the hosts of an application that is itself not wanted', () => {
    fc.assert(
      fc.property(anySnapshot, (snapshot) => {
        const all = textOf(renderedOf({ ...snapshot, hostsOnly: false })).split('\n');
        const hosts = all.filter((line) =>
          line.startsWith('newrelic_application_host_requests_per_minute{'),
        );

        const rendered = renderedOf({ ...snapshot, hostsOnly: true });

        expect(
          textOf(rendered)
            .split('\n')
            .filter((line) => line !== ''),
        ).toEqual(hosts);
        expect(rendered.series).toBe(hosts.length);
      }),
    );
  });
});
