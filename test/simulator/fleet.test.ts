import { describe, expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../src/simulator/fleet.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function listedIds(fleet: Fleet): readonly number[] {
  return fleet
    .applications()
    .flatMap((application) => fleet.listedHosts(application).map((host) => host.id));
}

describe('churn', () => {
  it('replaces the given number of hosts an hour, evenly spread, and keeps the number of running ones', async () => {
    const clock = createFakeClock();
    const fleet = createFleet(
      { applications: 3, hosts: 30, kinds: ['web'], churnPerHour: 60 },
      { clock },
    );
    const before = new Set(listedIds(fleet));

    await clock.advance(10 * 60_000);
    const hosts = fleet.applications().flatMap((application) => [...application.hosts.values()]);

    expect(hosts.filter((host) => host.endedMs === undefined)).toHaveLength(30);
    expect(hosts.filter((host) => !before.has(host.id))).toHaveLength(10);
    expect(listedIds(fleet)).toHaveLength(40);
  });
});
