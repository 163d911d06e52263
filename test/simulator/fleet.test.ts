import { describe, expect, it } from 'vitest';
import { createFleet, type Fleet } from '../../src/simulator/fleet.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const hourMs = 3_600_000;

function listedIds(fleet: Fleet): readonly number[] {
  return fleet
    .applications()
    .flatMap((application) => fleet.listedHosts(application).map((host) => host.id));
}

describe('a fleet with a given shape', () => {
  it('has exactly the stated applications and hosts', () => {
    const fleet = createFleet(
      {
        applications: [
          {
            id: 31_584_797,
            name: 'A',
            kind: 'web',
            language: 'go',
            hosts: [{ id: 7, name: 'h-7', weight: 2, instances: 5 }, {}],
            webRpm: 60,
          },
        ],
      },
      { clock: createFakeClock() },
    );

    const application = fleet.application(31_584_797);

    expect(application).toMatchObject({ id: 31_584_797, name: 'A', language: 'go' });
    expect(application?.ratesPerMinute).toEqual({ HttpDispatcher: 60, 'OtherTransaction/all': 0 });
    expect(application?.hosts.size).toBe(2);
    expect(application?.hosts.get(7)).toMatchObject({ name: 'h-7', weight: 2 });
    expect(application?.hosts.get(7)?.instanceIds).toHaveLength(5);
  });

  it('refuses an id that is given twice', () => {
    const applications = [{ id: 5 }, { id: 5 }];

    expect(() => createFleet({ applications }, { clock: createFakeClock() })).toThrow(
      'The simulated account has the id 5 twice: give it to one thing only.',
    );
  });
});

function aFleet(): { readonly fleet: Fleet; readonly clock: FakeClock } {
  const clock = createFakeClock();
  const application = { id: 1, name: 'A', kind: 'web', hosts: [{ id: 11 }, { id: 12 }] } as const;
  return { clock, fleet: createFleet({ applications: [application] }, { clock }) };
}

describe('changes of a fleet', () => {
  it('lists a removed host for an hour', async () => {
    const { fleet, clock } = aFleet();

    fleet.removeHost(1, 11);
    await clock.advance(hourMs - 1);
    const before = listedIds(fleet);
    await clock.advance(1);

    expect(before).toEqual([11, 12]);
    expect(listedIds(fleet)).toEqual([12]);
  });

  it('forgets a host a day after it stopped', async () => {
    const { fleet, clock } = aFleet();
    fleet.removeHost(1, 11);

    await clock.advance(24 * hourMs + 1);
    fleet.addHost(1, { id: 13 });

    expect([...(fleet.application(1)?.hosts.keys() ?? [])]).toEqual([12, 13]);
  });

  it('adds and removes applications and hosts, and renames', () => {
    const { fleet } = aFleet();

    fleet.addApplication({ id: 2, name: 'B', hosts: 1 });
    fleet.addHost(1, { id: 13 });
    fleet.renameApplication(1, 'A2');
    const names = fleet.applications().map(({ name }) => name);
    fleet.removeApplication(2);

    expect(names).toEqual(['A2', 'B']);
    expect(listedIds(fleet)).toEqual([11, 12, 13]);
  });

  it('adds and removes applications and hosts, and renames', () => {
    const { fleet } = aFleet();

    fleet.addApplication({ id: 2, name: 'B', hosts: 1 });
    fleet.addHost(1, { id: 13 });
    fleet.renameApplication(1, 'A2');
    const names = fleet.applications().map(({ name }) => name);
    fleet.removeApplication(2);

    expect(names).toEqual(['A2', 'B']);
    expect(listedIds(fleet)).toEqual([11, 12, 13]);
  });

  it('lists no hosts while an application does not report', () => {
    const { fleet } = aFleet();

    fleet.setReporting(1, false);
    const silent = listedIds(fleet);
    fleet.setReporting(1, true);

    expect(silent).toEqual([]);
    expect(listedIds(fleet)).toEqual([11, 12]);
  });

  it.each([
    { what: 'application', change: (fleet: Fleet) => fleet.renameApplication(9, 'x') },
    { what: 'host', change: (fleet: Fleet) => fleet.removeHost(1, 99) },
  ])('refuses an unknown $what by name', ({ change }) => {
    const { fleet } = aFleet();

    expect(() => change(fleet)).toThrow(/no (application 9|host 99)/);
  });
});

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
