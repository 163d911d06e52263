import type { Clock } from '../../src/model/clock.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { apiErrorFrom } from '../../src/newrelic/calls/transport-errors.ts';
import type { Fault } from '../../src/simulator/fault.ts';
import { commitFault } from '../../src/simulator/fault-effects.ts';
import type { JournalEntry } from '../../src/simulator/journal.ts';
import type { Random } from '../../src/simulator/random.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';

export interface ChangingVendorOptions {
  readonly applications: number;
  readonly hosts: number;
  readonly keys: readonly string[];
}

/** A simulated account whose hosts and applications come and go, and whose answers fail. */
export interface ChangingVendor {
  readonly transport: RawTransport;
  /** Replaces three hosts in ten, and now and then an application; decides what fails from now on. */
  change(): void;
  /** Nothing fails from now on. */
  calm(): void;
  /** Takes another account in its place, so that what a simulator remembers stays bounded. */
  replace(): void;
  /** Since the last time. */
  counts(): { readonly requests: number; readonly faults: number };
}

const troubles: readonly Fault[] = [
  { kind: 'throttled', hints: [] },
  { kind: 'throttled', hints: [{ header: 'Retry-After', inSeconds: 20, form: 'seconds' }] },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 401 },
  { kind: 'status', status: 403 },
  { kind: 'status', status: 404 },
  { kind: 'html' },
  { kind: 'empty' },
  { kind: 'error_object' },
  { kind: 'truncated_json' },
  { kind: 'redirect', location: 'https://elsewhere.invalid/' },
  { kind: 'document', body: '{"applications":[],"metric_data":{"metrics":3}}' },
  { kind: 'document', body: '[1e999,null,"' },
  { kind: 'silence' },
];

/** What only NerdGraph does. */
const graphqlTroubles: readonly Fault[] = [
  ...['TOO_MANY_REQUESTS', 'TIMEOUT', 'SERVER_ERROR', 'INVALID_INPUT', 'BAD_API_KEY'].map(
    (errorClass) => ({ kind: 'graphql_error', errorClass, message: 'no' }) as const,
  ),
  { kind: 'null_nrql' },
  { kind: 'truncated', rows: 2 },
  { kind: 'warning' },
  { kind: 'numbers_as_text' },
];

/** How many of a hundred minutes have a share of failing calls, and which share. */
const weathers = [
  { minutes: 60, share: 0 },
  { minutes: 25, share: 0.02 },
  { minutes: 12, share: 0.3 },
  { minutes: 3, share: 1 },
] as const;

/** Of the calls that are to fail. */
const resetShare = 0.1;
const replacedShare = 0.3;
const listedMs = [0, 60_000, 300_000] as const;
const hostsPerApplication = 3;

export function createChangingVendor(
  { applications, hosts, keys }: ChangingVendorOptions,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): ChangingVendor {
  let share = 0;
  let only: Fault | undefined;
  let requests = 0;
  let faults = 0;
  let seed = 0;
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[random.integer(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to choose from');
    return item;
  };

  const nextTrouble = ({ path }: JournalEntry): Fault | undefined => {
    if (random.next() >= share) return undefined;
    faults += 1;
    return only ?? pick(path === '/graphql' ? [...troubles, ...graphqlTroubles] : troubles);
  };

  const create = (): Simulator => {
    seed += 1;
    return createSimulator(
      {
        apiKeys: keys,
        latencyMs: 50,
        pageSize: 10,
        journalLimit: 100,
        removedHost: pick(['not_found', 'empty']),
        fleet: { seed, applications, hosts, listedAfterEndMs: 0, retainedAfterEndMs: 600_000 },
        intercept: (request, response) => {
          const trouble = nextTrouble(request);
          return trouble === undefined ? 'pass' : commitFault(trouble, request, response, clock);
        },
      },
      { clock },
    );
  };
  let simulator = create();
  let wire = inMemoryTransport(simulator);

  const replaceHosts = (): void => {
    const { fleet } = simulator;
    for (const { id, hosts: records } of fleet.applications()) {
      for (const host of records.values()) {
        if (host.endedMs !== undefined || random.next() >= replacedShare) continue;
        fleet.removeHost(id, host.id, pick(listedMs));
        fleet.addHost(id);
      }
    }
  };

  const replaceApplication = (): void => {
    const { fleet } = simulator;
    fleet.removeApplication(pick(fleet.applications()).id);
    fleet.addApplication({ hosts: hostsPerApplication, kind: pick(['web', 'other', 'both']) });
    fleet.renameApplication(pick(fleet.applications()).id, `renamed ${random.integer(0, 1e6)}`);
  };

  return {
    transport: {
      send: async (request, headers, signal) => {
        requests += 1;
        if (random.next() < share * resetShare) {
          faults += 1;
          throw apiErrorFrom(
            Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
            'vendor.invalid',
          );
        }
        return wire.send(request, headers, signal);
      },
      close: async () => undefined,
    },
    change: () => {
      replaceHosts();
      if (random.next() < replacedShare) replaceApplication();
      const minute = random.integer(1, 100);
      let passed = 0;
      const weather = weathers.find(({ minutes }) => (passed += minutes) >= minute);
      share = weather?.share ?? 0;
      only = random.next() < 0.5 ? undefined : pick(troubles);
    },
    calm: () => {
      share = 0;
    },
    replace: () => {
      simulator = create();
      wire = inMemoryTransport(simulator);
    },
    counts: () => {
      const counted = { requests, faults };
      requests = 0;
      faults = 0;
      return counted;
    },
  };
}
