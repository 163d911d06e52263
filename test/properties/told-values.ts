import { isDeepStrictEqual } from 'node:util';
import { isReadOf, type PolledSeries, type Values } from '../../src/model/polled-series.ts';
import type { AppReading } from '../../src/model/snapshot.ts';
import type { ValueName } from '../../src/model/vendor-value.ts';
import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import type { WireCall } from './vendor-wire.ts';

/** One answer: what the vendor said of these metrics in one window. */
interface Told {
  readonly fromMs: number;
  readonly asked: ReadonlySet<string>;
  /** By metric and value. */
  readonly values: ReadonlyMap<string, number>;
}

/** What is known of a reading. */
interface ReadingState {
  readonly isWhole: boolean;
  readonly isRenewed: boolean;
  /** Whether parts of it may be held. */
  readonly isFailing: boolean;
}

interface Document {
  readonly metric_data: {
    readonly metrics: readonly {
      readonly name: string;
      readonly timeslices: readonly { readonly values: Readonly<Record<string, number>> }[];
    }[];
  };
}

/** Beside each value that is read here: what it is divided by, and what says that there is one. */
const units: Readonly<Partial<Record<ValueName, readonly [divisor: number, counter?: string]>>> = {
  average_response_time: [1000, 'requests_per_minute'],
  score: [1, 'count'],
  percent: [100],
  // Nothing that runs takes 0 bytes.
  used_bytes_by_host: [1, 'used_bytes_by_host'],
};

/** What the vendor said of each window; the truth that published values are compared with. */
export class ToldValues {
  readonly #told = new Map<string, Told[]>();
  /** The ends of the windows that each part was asked for. */
  readonly #ends = new Map<string, Set<number>>();

  note({ metric }: WireCall, { status, body }: ApiResponse): void {
    if (metric === undefined || status !== 200) return;
    const { applicationId, hostId, fromMs, toMs, names, values: valueNames } = metric;
    const values = parseTold(body);
    const asked = new Set(names.flatMap((name) => valueNames.map((value) => keyOf(name, value))));
    const key = keyOf(applicationId, hostId, toMs);
    const part = keyOf(applicationId, hostId);
    this.#ends.set(part, (this.#ends.get(part) ?? new Set()).add(toMs));
    this.#told.set(key, [...(this.#told.get(key) ?? []), { fromMs, asked, values }]);
  }

  /**
   * Why the reading is not what the vendor said of one window; `undefined` if it is. After a reload a
   * reading that is not renewed lacks what is new. While parts fail, each is of its own window, and the
   * oldest of these is that of the reading.
   */
  lieOf(
    applicationId: string,
    reading: AppReading,
    { isWhole, isRenewed, isFailing }: ReadingState,
  ): string | undefined {
    const { windowEndMs, series, application, hosts } = reading;
    if (windowEndMs === undefined) {
      const isEmpty = [application, ...hosts.values()].every((values) => !hasAny(values));
      return isEmpty ? undefined : 'values without a window';
    }
    const tellersOf = (
      id: string,
      scope: 'applications' | 'hosts',
      values: Values,
      toMs: number = windowEndMs,
    ): number[] => {
      const told = this.#told.get(keyOf(applicationId, id, toMs)) ?? [];
      return [...new Set(told.map(({ fromMs }) => fromMs))].filter((fromMs) =>
        series.every((one, index) => {
          const own = told.filter((answer) => answer.fromMs === fromMs);
          const value = values[index];
          // A part that is held lacks what a reload has added since.
          const mayLack = !isRenewed || isFailing || !isReadOf(scope, one);
          if (value === undefined && mayLack) return true;
          return isReadOf(scope, one) && own.some((answer) => isTold(answer, one, value));
        }),
      );
    };
    const isLater = (id: string, scope: 'applications' | 'hosts', values: Values): boolean =>
      [...(this.#ends.get(keyOf(applicationId, id)) ?? [])].some(
        (toMs) => toMs > windowEndMs && tellersOf(id, scope, values, toMs).length > 0,
      );
    const parts = [...hosts]
      .filter(([id, values]) => !isFailing || !isLater(id, 'hosts', values))
      .map(([id, values]): readonly [string, readonly number[]] => [
        `host ${id}`,
        tellersOf(id, 'hosts', values),
      ]);
    const isOwnLater = isFailing && isLater('', 'applications', application);
    if (showsApplication(reading, isWhole) && !isOwnLater) {
      parts.push(['application', tellersOf('', 'applications', application)]);
    }
    if (areTold(parts, isFailing)) return undefined;
    const doubtful = parts.filter(([, { length }]) => length === 0).map(([name]) => name);
    return `until ${new Date(windowEndMs).toISOString()}: ${doubtful.join(', ') || 'two windows in one reading'}`;
  }
}

/** Whether all parts are of one window. Of those that are held, a reload may have changed its length. */
function areTold(
  parts: readonly (readonly [string, readonly number[]])[],
  isFailing: boolean,
): boolean {
  const [, first = []] = parts[0] ?? [];
  const isOneWindow = first.some((fromMs) => parts.every(([, own]) => own.includes(fromMs)));
  const isEachTold = isFailing && parts.every(([, own]) => own.length > 0);
  return parts.length === 0 || isOneWindow || isEachTold;
}

/** What an answer says, by metric and value. */
export function parseTold(body: string): ReadonlyMap<string, number> {
  const { metric_data: data } = JSON.parse(body) as Document;
  const values = new Map<string, number>();
  for (const { name, timeslices } of data.metrics) {
    for (const [value, number] of Object.entries(timeslices[0]?.values ?? {})) {
      values.set(keyOf(name, value), number);
    }
  }
  return values;
}

/** Whether there were no calls that the value could be about. */
export function isNothing(
  { metric, value }: Pick<PolledSeries, 'metric' | 'value'>,
  told: ReadonlyMap<string, number>,
): boolean {
  const [, counter] = units[value] ?? [1];
  return counter !== undefined && told.get(keyOf(metric, counter)) === 0;
}

/** Whether the values are of these series, or there are none. */
export function isOf(reading: AppReading | undefined, chosen: readonly PolledSeries[]): boolean {
  if (reading === undefined) return true;
  const isEmpty = [reading.application, ...reading.hosts.values()].every((one) => !hasAny(one));
  return isEmpty || isDeepStrictEqual(reading.series, chosen);
}

/** Without its values the application itself may have failed. */
function showsApplication({ series, application }: AppReading, isWhole: boolean): boolean {
  return series.some((one) => isReadOf('applications', one)) && (isWhole || hasAny(application));
}

function keyOf(...parts: readonly (string | number)[]): string {
  return parts.join('\n');
}

function hasAny(values: Values): boolean {
  return values.some((value) => value !== undefined);
}

function isTold({ asked, values }: Told, one: PolledSeries, value: number | undefined): boolean {
  const key = keyOf(one.metric, one.value);
  const [divisor] = units[one.value] ?? [1];
  const told = isNothing(one, values) ? undefined : values.get(key);
  if (value === undefined) return asked.has(key) && told === undefined;
  return told !== undefined && (told / divisor) * one.scale === value;
}
