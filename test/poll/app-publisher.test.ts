import { describe, expect, it } from 'vitest';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { AppPublisher } from '../../src/poll/app-publisher.ts';
import { anApplication, throughputSeries } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeSink } from '../support/fake-sink.ts';

function snapshotWith(id: string, hosts: number): AppSnapshot {
  const values = [1];
  return {
    account: 'production',
    application: anApplication({ id }),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(),
    reading: {
      windowEndMs: 0,
      series: throughputSeries,
      application: values,
      hosts: new Map(Array.from({ length: hosts }, (_, host) => [String(host), values])),
    },
    pollSucceeded: true,
    failureReason: undefined,
    lastSuccessMs: 0,
  };
}

describe('publishAll', () => {
  it.each([
    { what: 'applications alone', hosts: 0, most: 250 },
    { what: 'applications of a hundred hosts', hosts: 100, most: 10 },
  ])(
    'lets other work run in between, and publishes everything in the end: $what',
    async ({ hosts, most }) => {
      const clock = createFakeClock();
      const sink = createFakeSink();
      const publisher = new AppPublisher('production', {
        clock,
        sink,
        snapshotOf: (id) => snapshotWith(id, hosts),
      });
      const ids = Array.from({ length: 1000 }, (_, id) => String(id));

      publisher.publishAll(ids);
      const atOnce = sink.published.length;
      await clock.advance(0);

      expect(atOnce).toBeGreaterThan(0);
      expect(atOnce).toBeLessThanOrEqual(most);
      expect(sink.published.map(({ application }) => application.id)).toEqual(ids);
      expect(clock.pendingTimers()).toBe(0);
    },
  );
});
