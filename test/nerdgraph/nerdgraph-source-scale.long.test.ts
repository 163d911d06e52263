import { describe, expect, it } from 'vitest';
import type { AppEntry } from '../../src/model/config.ts';
import { presetNames } from '../../src/model/presets.ts';
import { applicationMetrics } from '../../src/model/snapshot.ts';
import type { FleetOptions, HostSpec } from '../../src/simulator/fleet-options.ts';
import { anEntry } from '../support/builders.ts';
import { aSimulatedSource, costOf, discovered, polled } from './a-nerdgraph-source.ts';

/** Applications with web requests of so many hosts each. */
function fleetOf(
  applications: number,
  hosts: number,
  nameOf: (host: number) => string,
): FleetOptions {
  return {
    traffic: 'flat',
    applications: Array.from({ length: applications }, (_, index) => ({
      id: 1_000_000 + index,
      name: `app ${index}`,
      kind: 'web',
      webRpm: 60 * hosts,
      hosts: Array.from(
        { length: hosts },
        (__, host): HostSpec => ({
          name: nameOf(index * hosts + host),
          instances: 1,
        }),
      ),
    })),
  };
}

describe('all presets', () => {
  it.each([
    { applications: 1, hosts: 1 },
    { applications: 10, hosts: 20 },
    { applications: 250, hosts: 10 },
    { applications: 1000, hosts: 10 },
  ])(
    'of $applications applications with $hosts hosts cost as many calls as throughput alone, and as planned',
    async ({ applications, hosts }) => {
      const callsWith = async (metrics: AppEntry['poll']['metrics']): Promise<unknown> => {
        const bench = aSimulatedSource({
          fleet: fleetOf(applications, hosts, (host) => `web-${host}`),
          quotaPerMinute: 1_000_000,
          graphql: { nrqlPerMinute: 1_000_000, concurrency: 1000 },
        });
        const entry = anEntry({ poll: { metrics } });
        const found = await discovered(bench, entry);
        const { source } = bench;
        const first = await polled(bench, found);
        const second = await polled(bench, found);
        const readings = [...second.outcomes.values()].map(({ reading }) => reading);

        expect(first.stages).toEqual([costOf(source, found)]);
        expect(second.stages).toEqual([costOf(source, found)]);
        expect(readings.every((reading) => reading?.hosts.size === hosts)).toBe(true);
        expect(
          readings.every((reading) => reading?.application.length === entry.series.length),
        ).toBe(true);
        return [first.stages, second.stages];
      };

      expect(await callsWith(presetNames)).toEqual(await callsWith(['throughput']));
    },
  );
});

describe('a large account', () => {
  it.each([
    {
      applications: 500,
      hosts: 20,
      nameOf: (host: number) => `ip-10-0-${host >> 8}-${host & 255}`,
    },
    { applications: 10_000, hosts: 1, nameOf: (host: number) => `web-${host}` },
    { applications: 1, hosts: 12_000, nameOf: (host: number) => `web-${host}` },
    { applications: 1, hosts: 12_000, nameOf: (host: number) => `web-${host}.prod.example.com` },
    { applications: 1, hosts: 12_000, nameOf: (host: number) => `10.0.${host >> 8}.${host & 255}` },
  ])(
    'of $applications applications with $hosts hosts arrives whole, in the calls that it costs',
    async ({ applications, hosts, nameOf }) => {
      const bench = aSimulatedSource({
        fleet: fleetOf(applications, hosts, nameOf),
        quotaPerMinute: 1_000_000,
        graphql: { nrqlPerMinute: 1_000_000, concurrency: 1000 },
      });
      const found = await discovered(bench, anEntry());
      let named = found;
      // Names that are not known yet may be divided badly at first.
      for (let poll = 0; poll < 3; poll += 1) {
        const cost = costOf(bench.source, named);
        const before = await polled(bench, named);
        expect(before.stages).toEqual([cost]);
        named = named.map(({ application, entry }) => {
          const hostIds = before.outcomes.get(application.id)?.hostIds;
          return { application: { ...application, hostIds }, entry };
        });
      }
      const { outcomes, stages } = await polled(bench, named);
      const readings = [...outcomes.values()].map(({ reading }) => reading);

      expect(found).toHaveLength(applications);
      expect(
        readings.every((reading) => applicationMetrics(reading).get('web') === 60 * hosts),
      ).toBe(true);
      expect(readings.every((reading) => reading?.hosts.size === hosts)).toBe(true);
      expect(
        readings.every((reading) =>
          [...(reading?.hosts.values() ?? [])].every(([web]) => web === 60),
        ),
      ).toBe(true);
      expect(stages).toEqual([costOf(bench.source, named)]);
      expect([...outcomes.values()].every(({ failed }) => failed.size === 0)).toBe(true);
    },
  );
});
