import { isDeepStrictEqual } from 'node:util';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import type { AppReading } from '../model/snapshot.ts';

/** The reading without hosts that are not in `hostIds`; the same object if none has to go. */
export function withHostsOf(
  reading: AppReading | undefined,
  hostIds: readonly string[] | undefined,
): AppReading | undefined {
  if (hostIds === undefined || reading === undefined || reading.hosts.size === 0) return reading;
  const wanted = new Set(hostIds);
  const hosts = [...reading.hosts].filter(([id]) => wanted.has(id));
  return hosts.length === reading.hosts.size ? reading : { ...reading, hosts: new Map(hosts) };
}

/**
 * The reading as if it had been for these series; the same object if it was. What was read for one of them
 * under another name, or with other labels, stays; the rest goes, and what is new has no value.
 */
export function withSeriesOf(
  reading: AppReading | undefined,
  series: readonly PolledSeries[],
): AppReading | undefined {
  // A silent application has neither series nor values.
  if (reading === undefined || reading.series.length === 0) return reading;
  if (isDeepStrictEqual(reading.series, series)) return reading;
  const valuesOf = (scope: 'applications' | 'hosts'): ((values: Values) => Values) => {
    const places = series.map((one) => placeOf(one, reading.series, scope));
    return (values) => places.map((place) => (place === undefined ? undefined : values[place]));
  };
  const ofHost = valuesOf('hosts');
  return {
    ...reading,
    series,
    application: valuesOf('applications')(reading.application),
    hosts: new Map(Array.from(reading.hosts, ([id, values]) => [id, ofHost(values)])),
  };
}

/** Where the value of a series was read; `undefined` if it was not. */
function placeOf(
  wanted: PolledSeries,
  read: readonly PolledSeries[],
  scope: 'applications' | 'hosts',
): number | undefined {
  if (!isReadOf(scope, wanted)) return undefined;
  const place = read.findIndex(
    (one) =>
      one.metric === wanted.metric &&
      one.value === wanted.value &&
      one.scale === wanted.scale &&
      isReadOf(scope, one),
  );
  return place === -1 ? undefined : place;
}
