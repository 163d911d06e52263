import { expect, it } from 'vitest';
import type { Values } from '../../src/model/polled-series.ts';
import { createThroughputHistory } from '../../src/status/throughput-history.ts';
import { anApplication, throughputSeries } from '../support/builders.ts';
import { collectedBytes } from '../support/collected-bytes.ts';
import { createFakeClock } from '../support/fake-clock.ts';

it('takes less than 1 kB for each of 10,000 applications, however long it runs', () => {
  const clock = createFakeClock();
  const sink = {
    publish: () => undefined,
    remove: () => undefined,
    accountUp: () => undefined,
    removeAccount: () => undefined,
  };
  const history = createThroughputHistory(sink, { clock });
  const applications = Array.from({ length: 10_000 }, (_, index) =>
    anApplication({ id: String(index) }),
  );
  const values: Values = [1];
  const before = collectedBytes();
  for (let minute = 0; minute < 300; minute += 20) {
    const windowEndMs = clock.wallMs() + minute * 60_000;
    for (const application of applications) {
      history.sink.publish({
        account: 'production',
        application,
        hostsOnly: false,
        labels: {},
        hostNames: new Map(),
        reading: { windowEndMs, series: throughputSeries, application: values, hosts: new Map() },
        pollSucceeded: true,
        failureReason: undefined,
        lastSuccessMs: undefined,
      });
    }
  }
  const bytes = collectedBytes() - before;

  expect(history.of('production', '9999')).toHaveLength(60);
  expect(bytes / applications.length).toBeGreaterThan(240);
  expect(bytes / applications.length).toBeLessThan(1000);
});
