import { setMaxListeners } from 'node:events';
import type { PresetName } from '../src/model/presets.ts';
import type { ApiRequest, RawTransport } from '../src/newrelic/calls/transport.ts';
import { createSimulator } from '../src/simulator/simulator.ts';
import type { FakeClock } from '../test/support/fake-clock.ts';
import { inMemoryTransport } from '../test/support/in-memory-vendor.ts';

export const vendorPerMinute = 1000;
export const apiKey = 'NRAK-BENCH';

export interface Scene {
  readonly source: 'rest' | 'nerdgraph';
  readonly requestsPerMinute: number;
  readonly concurrency: number;
  readonly metrics: readonly PresetName[];
  readonly applications: number;
  readonly hosts: number;
  /** When a window of the quota begins; the daemon is not told. */
  readonly quotaPhaseMs: number;
  /** Another client of the same key, which does not care for the quota; it stops at some time. */
  readonly foreign?: { readonly perMinute: number; readonly untilMs: number };
  readonly latencyMs: readonly [minMs: number, maxMs: number];
  /** What is before that is not measured. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

/** The vendor in memory, and what it saw of the daemon. */
export interface Vendor {
  readonly transport: RawTransport;
  /** When the value of a host was last asked for. */
  askedMs(applicationId: string, hostId: string): number | undefined;
  /** When each call arrived, refused ones included. */
  readonly callsMs: readonly number[];
  readonly nrqlMs: readonly number[];
  readonly refusedMs: readonly number[];
}

function addForeignUser(
  { perMinute, untilMs }: NonNullable<Scene['foreign']>,
  transport: RawTransport,
  clock: FakeClock,
): void {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const target = '/v2/applications/0.json';
  const call = (): void => {
    if (clock.monotonicMs() > untilMs) return;
    const request = { operation: 'list_applications', target } as const;
    void transport.send(request, { 'api-key': apiKey }, signal);
    clock.after(60_000 / perMinute, call);
  };
  call();
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

export function createVendor(scene: Scene, clock: FakeClock): Vendor {
  const { applications, hosts, latencyMs, quotaPhaseMs, foreign } = scene;
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs,
      quotaPerMinute: vendorPerMinute,
      quotaPhaseMs,
      journalLimit: 1,
      fleet: {
        applications: Array.from({ length: applications }, () => ({ hosts: hosts / applications })),
        kinds: ['web', 'other', 'both'],
        traffic: 'flat',
      },
    },
    { clock },
  );
  const inner = inMemoryTransport(simulator);
  const asked = new Map<string, number>();
  const callsMs: number[] = [];
  const nrqlMs: number[] = [];
  const refusedMs: number[] = [];
  if (foreign !== undefined) addForeignUser(foreign, inner, clock);
  return {
    transport: {
      send: async (request, headers, signal) => {
        const nowMs = clock.monotonicMs();
        for (const key of hostsAskedBy(request)) asked.set(key, nowMs);
        callsMs.push(nowMs);
        if (isNrql(request)) nrqlMs.push(nowMs);
        const response = await inner.send(request, headers, signal);
        if (response.status === 429) refusedMs.push(clock.monotonicMs());
        return response;
      },
      close: async () => {},
    },
    askedMs: (applicationId, hostId) =>
      asked.get(`${applicationId}/${hostId}`) ?? asked.get(applicationId),
    callsMs,
    nrqlMs,
    refusedMs,
  };
}
