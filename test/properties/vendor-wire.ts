import { type Clock, sleep } from '../../src/model/clock.ts';
import { hourMs } from '../../src/model/time.ts';
import type { ApiRequest, ApiResponse, RawTransport } from '../../src/newrelic/calls/transport.ts';
import { apiErrorFrom } from '../../src/newrelic/calls/transport-errors.ts';
import type { UndiciTransportOptions } from '../../src/newrelic/calls/undici-transport.ts';
import type { Simulator } from '../../src/simulator/simulator.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { accountOf } from './account-setup.ts';
import { type Trap, trapped } from './lone-answers.ts';
import { type Fault, faultAnswerOf, type Troubles } from './vendor-troubles.ts';

/** One request on the wire. */
export interface WireCall {
  /** Which of several daemons sends it, from 0. */
  readonly shard: number;
  readonly account: string;
  readonly key: string;
  readonly operation: string;
  readonly target: string;
  readonly sentMs: number;
  /** Of a question for values. */
  readonly metric: MetricCall | undefined;
  /** Ids that a list is asked for. */
  readonly ids: readonly string[];
  readonly page: number;
}

export interface MetricCall {
  readonly applicationId: string;
  /** Empty for the application itself. */
  readonly hostId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly names: readonly string[];
  readonly values: readonly string[];
}

/** What becomes of the calls; every method is called at the moment when it happens. */
export interface WireObserver {
  sent(call: WireCall): void;
  /** `isGenuine`: the vendor said this of what was asked. */
  answered(call: WireCall, response: ApiResponse, isGenuine: boolean): void;
  /** The call has ended, with or without an answer. */
  ended(call: WireCall): void;
}

export interface VendorWireDependencies {
  readonly shard: number;
  readonly clock: Clock;
  readonly simulator: Simulator;
  readonly troubles: Troubles;
  readonly observer: WireObserver;
  /** The vendor's `Date`. */
  readonly dateMs: () => number;
  readonly trap: Trap;
}

const usualLatencyMs = 100;

/** Opens connections to the simulated vendor, with all that goes wrong on the way. */
export function createVendorWire({
  shard,
  clock,
  simulator,
  troubles,
  observer,
  dateMs,
  trap,
}: VendorWireDependencies): (options: UndiciTransportOptions) => Promise<RawTransport> {
  const wire = inMemoryTransport(simulator);
  const spring = trapped(trap);

  const dated = (response: ApiResponse): ApiResponse => ({
    ...response,
    headers: { ...response.headers, date: new Date(dateMs()).toUTCString() },
  });

  const answerTo = async (
    { call, request }: { readonly call: WireCall; readonly request: ApiRequest },
    fault: Fault | undefined,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ApiResponse> => {
    if (fault?.kind === 'hang') return untilAborted(signal);
    await sleep(clock, fault?.kind === 'slow' ? fault.ms : usualLatencyMs, signal);
    if (fault?.kind === 'reset') {
      throw apiErrorFrom(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), 'vendor');
    }
    const ask = async (target: string): Promise<ApiResponse> => {
      const response = await wire.send({ ...request, target }, headers, signal);
      return call.metric === undefined ? response : spring(call.metric, response);
    };
    if (fault?.kind === 'other_window') return ask(shifted(call.target));
    if (fault === undefined || fault.kind === 'slow') return ask(call.target);
    return faultAnswerOf(fault, call, { ask, dateMs: dateMs() });
  };

  return async ({ proxyUrl }) => ({
    send: async (request, headers, signal) => {
      const key = headers['Api-Key'] ?? '';
      const from = { shard, account: accountOf(proxyUrl), key, sentMs: clock.monotonicMs() };
      const call = callOf(from, request);
      observer.sent(call);
      try {
        const fault = troubles.faultOf(call);
        const response = dated(await answerTo({ call, request }, fault, headers, signal));
        observer.answered(call, response, fault === undefined || fault.kind === 'slow');
        return response;
      } finally {
        observer.ended(call);
      }
    },
    close: async () => undefined,
  });
}

async function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const metricPath = /^\/v2\/applications\/(\d+)(?:\/hosts\/(\d+))?\/metrics\/data\.json\?/u;

function callOf(
  from: Pick<WireCall, 'shard' | 'account' | 'key' | 'sentMs'>,
  { operation, target }: ApiRequest,
): WireCall {
  const [path = '', text = ''] = target.split('?');
  const query = new URLSearchParams(text);
  const [, applicationId, hostId = ''] = metricPath.exec(`${path}?`) ?? [];
  return {
    ...from,
    operation,
    target,
    metric:
      applicationId === undefined
        ? undefined
        : {
            applicationId,
            hostId,
            fromMs: Date.parse(query.get('from') ?? ''),
            toMs: Date.parse(query.get('to') ?? ''),
            names: query.getAll('names[]'),
            values: query.getAll('values[]'),
          },
    ids: query.get('filter[ids]')?.split(',') ?? [],
    page: Number(query.get('page') ?? 1),
  };
}

/** The same question for an hour earlier. */
function shifted(target: string): string {
  const [path = '', text = ''] = target.split('?');
  const query = new URLSearchParams(text);
  for (const name of ['from', 'to']) {
    const stated = query.get(name);
    if (stated !== null) query.set(name, new Date(Date.parse(stated) - hourMs).toISOString());
  }
  return `${path}?${query.toString()}`;
}
