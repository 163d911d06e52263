import type { TransactionType } from '../../src/model/application.ts';
import {
  type AppReading,
  applicationThroughput,
  hostThroughput,
} from '../../src/model/snapshot.ts';
import type { ApiResponse } from '../../src/transport/transport.ts';
import type { WireCall } from './vendor-wire.ts';

const types: Readonly<Record<string, TransactionType>> = {
  HttpDispatcher: 'web',
  'OtherTransaction/all': 'other',
};

type Throughput = ReadonlyMap<TransactionType, number>;

interface Told {
  readonly fromMs: number;
  readonly throughput: Throughput;
}

interface Document {
  readonly metric_data: {
    readonly metrics: readonly {
      readonly name: string;
      readonly timeslices: readonly {
        readonly values: { readonly requests_per_minute?: number };
      }[];
    }[];
  };
}

/** What the vendor said of each window; the truth that published values are compared with. */
export class ToldValues {
  readonly #told = new Map<string, Told[]>();

  note({ metric }: WireCall, { status, body }: ApiResponse): void {
    if (metric === undefined || status !== 200) return;
    const { applicationId, hostId, fromMs, toMs } = metric;
    const { metric_data: data } = JSON.parse(body) as Document;
    const throughput = new Map<TransactionType, number>();
    for (const { name, timeslices } of data.metrics) {
      const value = timeslices[0]?.values.requests_per_minute;
      const type = types[name];
      if (value !== undefined && type !== undefined) throughput.set(type, value);
    }
    const key = keyOf(applicationId, hostId, toMs);
    this.#told.set(key, [...(this.#told.get(key) ?? []), { fromMs, throughput }]);
  }

  /** Why the reading is not what the vendor said of one window; `undefined` if it is. */
  lieOf(applicationId: string, reading: AppReading, isWhole: boolean): string | undefined {
    const { windowEndMs } = reading;
    const application = applicationThroughput(reading);
    const hosts = [...reading.hosts.keys()].map((id): [string, Throughput] => [
      id,
      hostThroughput(reading, id),
    ]);
    if (windowEndMs === undefined) {
      const isEmpty = application.size === 0 && hosts.every(([, { size }]) => size === 0);
      return isEmpty ? undefined : 'values without a window';
    }
    const parts: [string, Throughput][] = [...hosts];
    // Without its values the application itself may have failed.
    if (isWhole || application.size > 0) parts.push(['', application]);
    const tellers = parts.map(([hostId, throughput]) =>
      (this.#told.get(keyOf(applicationId, hostId, windowEndMs)) ?? [])
        .filter((told) => isSame(told.throughput, throughput))
        .map(({ fromMs }) => fromMs),
    );
    const [first = []] = tellers;
    if (
      parts.length === 0 ||
      first.some((fromMs) => tellers.every((one) => one.includes(fromMs)))
    ) {
      return undefined;
    }
    const doubtful = parts.filter((_, index) => tellers[index]?.length === 0);
    const names = doubtful.map(([hostId]) => (hostId === '' ? 'application' : `host ${hostId}`));
    return `until ${new Date(windowEndMs).toISOString()}: ${names.join(', ') || 'two windows in one reading'}`;
  }
}

function keyOf(applicationId: string, hostId: string, toMs: number): string {
  return `${applicationId}/${hostId}/${toMs}`;
}

function isSame(left: Throughput, right: Throughput): boolean {
  return left.size === right.size && [...left].every(([type, value]) => right.get(type) === value);
}
