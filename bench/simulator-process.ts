/**
 * A simulated New Relic as a process of its own. The first message has its options. Sends its address, and
 * answers each further message with what it has seen, after it has done what the message says.
 */
import { once } from 'node:events';
import { createSystemClock } from '../src/daemon/node-platform.ts';
import type { SimulatedApplication } from '../src/simulator/simulated-application.ts';
import { createSimulator } from '../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../src/simulator/simulator-options.ts';

/** `refuse`: every call gets a 429 from now on. `answer`: no longer. `rename`: all applications. */
export type Order = 'report' | 'refuse' | 'answer' | 'rename';

export interface Address {
  readonly baseUrl: string;
  readonly apiKeys: readonly string[];
  /** Hosts of each application with a name of their own, summed up. */
  readonly hostNames: number;
  /** The first application, and how many hosts the REST API lists for it. */
  readonly firstId: number;
  readonly firstHosts: number;
}

export interface Seen {
  readonly requests: number;
  readonly nrql: number;
  readonly violations: number;
}

const [options] = (await once(process, 'message')) as [SimulatorOptions];
let refuses = false;
const simulator = createSimulator(
  {
    ...options,
    journalLimit: 200_000,
    intercept: () =>
      refuses
        ? (answer) => {
            const reset = `${Math.floor(Date.now() / 1000) + 3}`;
            return { ...answer, status: 429, headers: { 'X-RateLimit-Reset': reset }, body: '{}' };
          }
        : 'pass',
  },
  { clock: createSystemClock() },
);

const orders: Readonly<Record<Order, () => void>> = {
  report: () => undefined,
  refuse: () => {
    refuses = true;
  },
  answer: () => {
    refuses = false;
  },
  rename: () => {
    for (const { id } of simulator.fleet.applications()) {
      simulator.fleet.renameApplication(id, `service ${id}`);
    }
  },
};

process.on('message', (order: Order) => {
  orders[order]();
  const seen: Seen = {
    requests: simulator.journal.count(),
    nrql: simulator.journal.count(
      ({ graphql }) => graphql?.asks.some(({ operation }) => operation === 'nrql') === true,
    ),
    violations: simulator.violations(),
  };
  process.send?.(seen);
});
process.on('disconnect', () => {
  process.exit(0);
});
const { baseUrl } = await simulator.start();
const applications = simulator.fleet.applications();
const namesOf = (application: SimulatedApplication | undefined): number =>
  new Set(Array.from(application?.hosts.values() ?? [], ({ name }) => name)).size;
const address: Address = {
  baseUrl,
  apiKeys: simulator.apiKeys,
  hostNames: applications.reduce((sum, one) => sum + namesOf(one), 0),
  firstId: applications[0]?.id ?? 0,
  firstHosts: applications[0]?.hosts.size ?? 0,
};
process.send?.(address);
