import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { createCallCounter } from '../../src/simulator/call-counter.ts';
import { createFleet } from '../../src/simulator/fleet.ts';
import { createNrqlRows, type NrqlRow } from '../../src/simulator/nrql-rows.ts';
import { type MetricName, metricNames } from '../../src/simulator/simulated-application.ts';
import { createTimeslices } from '../../src/simulator/timeslices.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('the rows of NRQL', () => {
  it('have as many calls as the REST API counts, of each host and in sum of each application', async () => {
    const oneRun = async (seed: number, startMinute: number, minutes: number): Promise<void> => {
      const clock = createFakeClock();
      const options = { applications: 5, hosts: 20, churnPerHour: 60, seed };
      const fleet = createFleet(options, { clock });
      const counting = { seed, traffic: 'daily', ingestDelayMs: 3 * minuteMs } as const;
      const calls = createCallCounter(counting, { clock });
      const timeslices = createTimeslices(counting, { calls, clock });
      const rows = createNrqlRows({ accountId: 1, appIds: 'number' }, { fleet, calls, timeslices });
      await clock.advance(60 * minuteMs);
      const fromMs = clock.wallMs() - startMinute * minuteMs;
      const toMs = fromMs + minutes * minuteMs;

      const found: readonly NrqlRow[] = [...rows({ fromMs, toMs }, undefined)];

      const sums = new Map<string, number>();
      for (const row of found) {
        const key = `${row.attribute('appId')} ${row.attribute('metricTimesliceName')}`;
        sums.set(key, (sums.get(key) ?? 0) + row.timeslice().count);
      }
      for (const application of fleet.applications()) {
        for (const name of metricNames as readonly MetricName[]) {
          const counted = calls.count(application, undefined, name, fromMs, toMs);
          expect([name, sums.get(`${application.id} ${name}`) ?? 0]).toEqual([name, counted]);
        }
      }
    };

    await fc.assert(
      fc.asyncProperty(fc.nat(99), fc.integer({ min: 15, max: 60 }), fc.nat(10), oneRun),
      { seed: 1, numRuns: 50 },
    );
  });

  it('of more than six hours have the mean rate of each host while it ran', async () => {
    const clock = createFakeClock();
    const fleet = createFleet(
      { applications: [{ id: 1, kind: 'web', webRpm: 90, hosts: [{ weight: 2 }, { weight: 1 }] }] },
      { clock },
    );
    const counting = { seed: 1, traffic: 'daily', ingestDelayMs: 0 } as const;
    const calls = createCallCounter(counting, { clock });
    const timeslices = createTimeslices(counting, { calls, clock });
    const rows = createNrqlRows({ accountId: 1, appIds: 'string' }, { fleet, calls, timeslices });
    const webOf = (hours: number, toMs = Date.UTC(2026, 8, 1, 10)): readonly number[] =>
      [...rows({ fromMs: toMs - hours * 60 * minuteMs, toMs }, undefined)]
        .filter((row) => row.attribute('metricTimesliceName') === 'HttpDispatcher')
        .map((row) => row.timeslice().count);

    expect(webOf(24)).toEqual([60 * 1440, 30 * 1440]);
    expect(webOf(6)).not.toEqual([60 * 360, 30 * 360]);

    // It starts half a minute after ten.
    fleet.addHost(1, { weight: 3 });
    await clock.advance(120 * minuteMs);

    expect(webOf(24, Date.UTC(2026, 8, 1, 12))).toEqual([60 * 1440, 30 * 1440, 90 * 119]);
  });
});
