import { setMaxListeners } from 'node:events';
import type { FleetOptions } from '../src/simulator/fleet-options.ts';
import { createRandom } from '../src/simulator/random.ts';
import { createSimulator, type Simulator } from '../src/simulator/simulator.ts';
import type { ApiRequest, RawTransport } from '../src/transport/transport.ts';
import { createFakeClock, type FakeClock } from '../test/support/fake-clock.ts';
import { inMemoryTransport } from '../test/support/in-memory-vendor.ts';

export const vendorPerMinute = 1000;
export const apiKey = 'NRAK-BENCH';

/** Another client of the same key, which does not care for the quota. */
export interface ForeignUser {
  readonly perMinute: number;
  /** `even`: one call at a time. `bursts`: 20 at once, at random times. */
  readonly arrivals: 'even' | 'bursts';
}

export interface Scene {
  readonly applications: number;
  readonly hosts: number;
  /** `even`: every application has as many hosts; `uneven`: a few have many, as real ones do. */
  readonly sizes: 'even' | 'uneven';
  /** When a window of the quota begins; no strategy is told. */
  readonly quotaPhaseMs: number;
  readonly foreign: ForeignUser | undefined;
  /** Between 80 and 400 ms if it is left out. */
  readonly latencyMs?: readonly [minMs: number, maxMs: number];
  /** What is before that is not measured. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

/** The hosts of each application. */
export function sizesOf(scene: Scene): readonly number[] {
  const simulator = createSimulator({ fleet: fleetOf(scene) }, { clock: createFakeClock() });
  return simulator.fleet.applications().map(({ hosts }) => hosts.size);
}

/** The vendor in memory, and what it saw of the strategy under test. */
export interface Vendor {
  readonly simulator: Simulator;
  readonly transport: RawTransport;
  /** When the value of a host was last asked for. */
  askedMs(applicationId: string, hostId: string): number | undefined;
  /** Calls that arrived in the measured time, refused ones included. */
  calls(): number;
  /** How many of them were answered with 429. */
  refused(): number;
  /** When each NRQL query arrived, refused ones included. */
  readonly nrqlMs: readonly number[];
  /** When each other call arrived. */
  readonly otherMs: readonly number[];
}

const burst = 20;

function addForeignUser(
  { perMinute, arrivals }: ForeignUser,
  transport: RawTransport,
  clock: FakeClock,
): void {
  const random = createRandom(7);
  const meanGapMs = 60_000 / perMinute;
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const target = '/v2/applications/0.json';
  const call = (): void => {
    const request = { operation: 'list_applications', target } as const;
    void transport.send(request, { 'api-key': apiKey }, signal);
  };
  const wave = (): void => {
    const size = arrivals === 'even' ? 1 : burst;
    for (let index = 0; index < size; index += 1) call();
    const gapMs =
      arrivals === 'even' ? meanGapMs : -Math.log(1 - random.next()) * burst * meanGapMs;
    clock.after(gapMs, wave);
  };
  wave();
}

function fleetOf({ applications, hosts, sizes }: Scene): FleetOptions {
  const perApplication = hosts / applications;
  const kinds = ['web', 'other', 'both'] as const;
  return {
    applications:
      sizes === 'uneven'
        ? applications
        : Array.from({ length: applications }, () => ({ hosts: perApplication })),
    hosts,
    kinds,
    traffic: 'flat',
  };
}

const hostTarget = /^\/v2\/applications\/(\d+)\/hosts\/(\d+)\//u;
const hostQuery = /appId IN \(([\d,]+)\).*FACET appId, host LIMIT/u;

/** What a call asks for: a host of an application, or all hosts of applications. */
function hostsAskedBy({ target, body }: ApiRequest): readonly string[] {
  const [, applicationId, hostId] = hostTarget.exec(target) ?? [];
  if (hostId !== undefined) return [`${applicationId}/${hostId}`];
  const [, ids] = hostQuery.exec(body ?? '') ?? [];
  return ids === undefined ? [] : ids.split(',');
}

function isNrql({ body }: ApiRequest): boolean {
  return body?.includes('"nrql":') === true;
}

export const defaultLatencyMs = [80, 400] as const;

export function createVendor(scene: Scene, clock: FakeClock): Vendor {
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: scene.latencyMs ?? defaultLatencyMs,
      quotaPerMinute: vendorPerMinute,
      quotaPhaseMs: scene.quotaPhaseMs,
      journalLimit: 1,
      fleet: fleetOf(scene),
    },
    { clock },
  );
  const inner = inMemoryTransport(simulator);
  const asked = new Map<string, number>();
  let calls = 0;
  let refused = 0;
  const nrqlMs: number[] = [];
  const otherMs: number[] = [];
  const isMeasured = (): boolean => {
    const nowMs = clock.monotonicMs();
    return nowMs >= scene.warmUpMs && nowMs < scene.warmUpMs + scene.measuredMs;
  };
  if (scene.foreign !== undefined) addForeignUser(scene.foreign, inner, clock);

  return {
    simulator,
    transport: {
      send: async (request, headers, signal) => {
        const nowMs = clock.monotonicMs();
        for (const key of hostsAskedBy(request)) asked.set(key, nowMs);
        (isNrql(request) ? nrqlMs : otherMs).push(nowMs);
        const counts = isMeasured();
        if (counts) calls += 1;
        const response = await inner.send(request, headers, signal);
        if (counts && response.status === 429) refused += 1;
        return response;
      },
      close: async () => {},
    },
    askedMs: (applicationId, hostId) =>
      asked.get(`${applicationId}/${hostId}`) ?? asked.get(applicationId),
    nrqlMs,
    otherMs,
    calls: () => calls,
    refused: () => refused,
  };
}
