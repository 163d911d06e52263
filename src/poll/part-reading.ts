import { isDeepStrictEqual } from 'node:util';
import { applicationScope, hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import type { AppReading } from '../model/snapshot.ts';

/**
 * A part of an application that did not arrive with the last poll: its own values (`applicationScope`)
 * or those of a host (the id), or `hostsScope`.
 */
export interface FailedPart {
  /** Monotonic time since when it has not arrived. */
  readonly sinceMs: number;
  /** End of the window of the values that are held for it; `undefined` if there are none. */
  readonly windowEndMs: number | undefined;
  /** Whether values are held for it. */
  readonly isHeld: boolean;
}

export type FailedParts = ReadonlyMap<string, FailedPart>;

/** What is shown of an application, and what of it is not of the last poll. */
export interface PartReading {
  /** What is shown: its window ends where that of the oldest part does. */
  readonly reading: AppReading | undefined;
  readonly failedParts: FailedParts;
  /** End of the window of what arrived with the last poll that brought something. */
  readonly arrivedEndMs: number | undefined;
}

/**
 * What is shown after a poll: what arrived, and for each part that failed the values of before, until it
 * has failed for `staleAfterMs`.
 *
 * @param startMs when the poll began, or should have ended, on the monotonic clock
 * @param arrived what the poll brought of the parts that are still wanted
 */
export function withArrived(
  before: PartReading,
  { failed }: Pick<PollOutcome, 'failed'>,
  arrived: AppReading | undefined,
  { startMs, nowMs, staleAfterMs }: { startMs: number; nowMs: number; staleAfterMs: number },
): PartReading {
  const held = before.reading;
  if (failed.size === 0) {
    return { reading: arrived, failedParts: new Map(), arrivedEndMs: arrived?.windowEndMs };
  }
  const failedParts = new Map<string, FailedPart>();
  for (const scope of failedScopesOf(failed, held, arrived)) {
    const known = before.failedParts.get(scope);
    const sinceMs = known?.sinceMs ?? startMs;
    const isHeld = nowMs - sinceMs < staleAfterMs && valuesOf(held, scope) !== undefined;
    const endMs = known === undefined ? before.arrivedEndMs : known.windowEndMs;
    failedParts.set(scope, { sinceMs, isHeld, windowEndMs: isHeld ? endMs : undefined });
  }
  const arrivedEndMs = arrived === undefined ? before.arrivedEndMs : arrived.windowEndMs;
  return { reading: composed(arrived, held, failedParts), failedParts, arrivedEndMs };
}

export function withoutStale(
  { reading, failedParts, arrivedEndMs }: PartReading,
  { nowMs, staleAfterMs }: { nowMs: number; staleAfterMs: number },
): PartReading {
  const left = new Map<string, FailedPart>();
  for (const [scope, part] of failedParts) {
    const isHeld = part.isHeld && nowMs - part.sinceMs < staleAfterMs;
    left.set(scope, isHeld ? part : { ...part, isHeld, windowEndMs: undefined });
  }
  const fresh = reading && withoutParts({ ...reading, windowEndMs: arrivedEndMs }, failedParts);
  return { reading: composed(fresh, reading, left), failedParts: left, arrivedEndMs };
}

/** Monotonic time since when the part has failed whose values are held for longest. */
export function heldSinceMs(failedParts: FailedParts): number | undefined {
  let sinceMs: number | undefined;
  for (const part of failedParts.values()) {
    if (part.isHeld) sinceMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, part.sinceMs);
  }
  return sinceMs;
}

/** Known hosts are all named: of those that a failure names together, and all if nothing arrived. */
function failedScopesOf(
  failed: ReadonlySet<string>,
  held: AppReading | undefined,
  arrived: AppReading | undefined,
): ReadonlySet<string> {
  const scopes = new Set(failed);
  if (arrived === undefined && hasApplication(held)) scopes.add(applicationScope);
  if (arrived === undefined || failed.has(hostsScope)) {
    for (const hostId of held?.hosts.keys() ?? []) {
      if (arrived?.hosts.has(hostId) !== true) scopes.add(hostId);
    }
  }
  return scopes;
}

/** A silent application has neither values nor hosts. */
function hasApplication(reading: AppReading | undefined): boolean {
  return reading !== undefined && (reading.application.length > 0 || reading.hosts.size === 0);
}

function valuesOf(reading: AppReading | undefined, scope: string): Values | undefined {
  if (scope !== applicationScope) return reading?.hosts.get(scope);
  return hasApplication(reading) ? reading?.application : undefined;
}

/** `undefined` if nothing is left. */
function withoutParts(reading: AppReading, parts: FailedParts): AppReading | undefined {
  const application = parts.has(applicationScope) ? [] : reading.application;
  const hosts = new Map([...reading.hosts].filter(([id]) => !parts.has(id)));
  const isEmpty = hosts.size === 0 && parts.has(applicationScope);
  return isEmpty ? undefined : { ...reading, application, hosts };
}

/** What arrived, with the values that are held; the same object as before if nothing arrived and all is held. */
function composed(
  arrived: AppReading | undefined,
  held: AppReading | undefined,
  failedParts: FailedParts,
): AppReading | undefined {
  // A discovery may have removed a host meanwhile.
  const heldParts = [...failedParts].filter(
    ([scope, { isHeld }]) => isHeld && valuesOf(held, scope) !== undefined,
  );
  if (held === undefined || heldParts.length === 0) return arrived;
  if (arrived === undefined && heldParts.length === partsOf(held)) return held;
  const hosts = new Map(arrived?.hosts);
  const ends = heldParts.map(([, { windowEndMs }]) => windowEndMs);
  for (const [scope] of heldParts) {
    const values = held.hosts.get(scope);
    if (values !== undefined) hosts.set(scope, values);
  }
  const isOwnHeld = heldParts.some(([scope]) => scope === applicationScope);
  return {
    windowEndMs: earliestOf([arrived?.windowEndMs, ...ends]),
    series: (arrived ?? held).series,
    application: valuesOf(isOwnHeld ? held : arrived, applicationScope) ?? [],
    hosts,
  };
}

function partsOf(reading: AppReading): number {
  return reading.hosts.size + (hasApplication(reading) ? 1 : 0);
}

function earliestOf(timesMs: readonly (number | undefined)[]): number | undefined {
  const known = timesMs.filter((atMs) => atMs !== undefined);
  return known.length === 0 ? undefined : known.reduce((least, atMs) => Math.min(least, atMs));
}

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
  const valuesReadOf = (scope: 'applications' | 'hosts'): ((values: Values) => Values) => {
    const places = series.map((one) => placeOf(one, reading.series, scope));
    return (values) => places.map((place) => (place === undefined ? undefined : values[place]));
  };
  const ofHost = valuesReadOf('hosts');
  return {
    ...reading,
    series,
    application: valuesReadOf('applications')(reading.application),
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
