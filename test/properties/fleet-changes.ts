import type { Fleet } from '../../src/simulator/fleet.ts';
import type { SimulatedApplication } from '../../src/simulator/simulated-application.ts';
import { type FleetStep, type Handlers, handle } from './account-steps.ts';

const mostApplications = 9;
const manyHosts = 20;

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
        fleet.addApplication({ id, name: nameOf(id, id % 2 === 0), kind: 'both', hosts });
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
    replace_hosts: ({ index, hosts }) => {
      const application = chosen(index);
      return change(application === undefined ? [] : replaceHosts(fleet, application, hosts));
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

function replaceHosts(
  fleet: Fleet,
  { id, hosts }: SimulatedApplication,
  count: number,
): readonly number[] {
  const running = [...hosts.values()].filter(({ endedMs }) => endedMs === undefined);
  const removed = running.slice(0, count).map((host) => host.id);
  for (const hostId of removed) {
    fleet.removeHost(id, hostId, 0);
    fleet.addHost(id);
  }
  return removed;
}
