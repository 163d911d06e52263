import type { Fleet } from '../../src/simulator/fleet.ts';
import type { HostSpec } from '../../src/simulator/fleet-options.ts';
import type {
  SimulatedApplication,
  SimulatedHost,
} from '../../src/simulator/simulated-application.ts';
import { hostNamesInTurn } from './account-setup.ts';
import { type FleetStep, type Handlers, handle } from './account-steps.ts';

const mostApplications = 9;
const manyHosts = 20;
/** Beyond that there are no more, so that a small budget is enough for a few polls. */
const mostTwins = 12;

/** So many hosts, some of which have the same name. */
export function namedHosts(count: number): readonly HostSpec[] {
  return Array.from({ length: count }, (_, at) => ({ name: hostNameAt(at) }));
}

function hostNameAt(at: number): string {
  return hostNamesInTurn[at % hostNamesInTurn.length] ?? 'none';
}

/** What a change of the fleet has taken away or renamed: ids of applications and hosts. */
export interface FleetChange {
  readonly removedIds: readonly string[];
  readonly renamedIds: readonly string[];
}

/** Changes what the vendor has. */
export type ChangeFleet = (step: FleetStep) => FleetChange;

export function createFleetChanger(fleet: Fleet): ChangeFleet {
  let lastId = 200;
  const newId = (): number => {
    lastId += 1;
    return lastId;
  };
  const chosen = (index: number): SimulatedApplication | undefined => {
    const all = fleet.applications();
    return all[index % Math.max(1, all.length)];
  };
  const handlers: Handlers<FleetStep, FleetChange> = {
    add_application: ({ hosts }) => {
      const all = fleet.applications();
      const isTooMuch = hosts > manyHosts && all.some((one) => one.hosts.size > manyHosts);
      if (all.length < mostApplications && !isTooMuch) {
        const id = newId();
        fleet.addApplication({
          id,
          name: nameOf(id, id % 2 === 0),
          kind: 'both',
          hosts: namedHosts(hosts),
        });
      }
      return change([]);
    },
    remove_application: ({ index }) => {
      const id = chosen(index)?.id;
      if (id !== undefined) fleet.removeApplication(id);
      return change(id === undefined ? [] : [id]);
    },
    remove_most_applications: () => {
      const removed = fleet
        .applications()
        .slice(1)
        .map(({ id }) => id);
      for (const id of removed) fleet.removeApplication(id);
      return change(removed);
    },
    rename_application: ({ index }) => {
      const application = chosen(index);
      if (application === undefined) return change([]);
      const { id, name } = application;
      fleet.renameApplication(id, nameOf(id, name.startsWith('odd')));
      return change([], [id]);
    },
    replace_hosts: ({ index, hosts, sameNames }) => {
      const application = chosen(index);
      if (application === undefined) return change([]);
      const removed = running(application).slice(0, hosts);
      for (const host of removed) {
        fleet.removeHost(application.id, host.id, 0);
        fleet.addHost(application.id, { name: sameNames ? host.name : hostNameAt(host.id) });
      }
      return change(removed.map(({ id }) => id));
    },
    add_twin: ({ index }) => {
      const application = chosen(index);
      const [name] = application === undefined ? [] : running(application).map((one) => one.name);
      const isTooMuch = (application?.hosts.size ?? 0) > mostTwins;
      if (application !== undefined && !isTooMuch) fleet.addHost(application.id, { name });
      return change([]);
    },
    remove_host: ({ index, host }) => {
      const application = chosen(index);
      const all = application === undefined ? [] : running(application);
      const removed = all[host % Math.max(1, all.length)];
      if (application === undefined || removed === undefined) return change([]);
      fleet.removeHost(application.id, removed.id, 0);
      return change([removed.id]);
    },
  };
  return (step) => handle(handlers, step);
}

function nameOf(id: number, isEven: boolean): string {
  return `${isEven ? 'even' : 'odd'} ${id}`;
}

function change(removedIds: readonly number[], renamedIds: readonly number[] = []): FleetChange {
  return { removedIds: removedIds.map(String), renamedIds: renamedIds.map(String) };
}

function running({ hosts }: SimulatedApplication): readonly SimulatedHost[] {
  return [...hosts.values()].filter(({ endedMs }) => endedMs === undefined);
}
