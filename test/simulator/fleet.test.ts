import { describe, expect, it } from 'vitest';
import { Fleet } from '../../src/simulator/fleet.ts';
import { createFakeClock } from '../support/fake-clock.ts';

describe('churn', () => {
  it('replaces the given number of hosts an hour, evenly spread, and keeps the number of running ones', async () => {
    const clock = createFakeClock();
    const options = { applications: 3, hosts: 30, kinds: ['web'], churnPerHour: 60 } as const;
    const fleet = new Fleet(options, clock);
    const listed = (): readonly number[] =>
      fleet.applications().flatMap((one) => fleet.listedHosts(one).map(({ id }) => id));
    const before = new Set(listed());

    await clock.advance(10 * 60_000);
    const hosts = fleet.applications().flatMap((application) => [...application.hosts.values()]);

    expect(hosts.filter((host) => host.endedMs === undefined)).toHaveLength(30);
    expect(hosts.filter((host) => !before.has(host.id))).toHaveLength(10);
    expect(listed()).toHaveLength(40);
  });
});
