import { isDeepStrictEqual } from 'node:util';
import { applicationScope, hostsScope } from '../model/poll-outcome.ts';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import type { AppReading } from '../model/snapshot.ts';

/** A part that did not arrive with the last poll. */
interface FailingPart {
  /** Monotonic time since when. */
  readonly sinceMs: number;
  /** End of the window of its values, if any are held. */
  readonly windowEndMs: number | undefined;
}

/** What is shown of an application. Its own values are one part, and those of each host. */
export interface Parts {
  /** Its window ends where that of the oldest part does. */
  readonly reading: AppReading | undefined;
  /** By `applicationScope` or the id of a host; `hostsScope` stands for hosts that cannot be named. */
  readonly failing: ReadonlyMap<string, FailingPart>;
  /** End of the window of the parts that arrived with the last poll. */
  readonly arrivedEndMs: number | undefined;
  /** Monotonic time since when the part has failed whose values are held for longest. */
  readonly heldSinceMs: number | undefined;
}

export const noParts: Parts = partsOf(undefined);

/** What a poll brought. */
export function partsOf(reading: AppReading | undefined): Parts {
  return madeOf(reading, new Map(), reading?.windowEndMs);
}

function madeOf(
  reading: AppReading | undefined,
  failing: ReadonlyMap<string, FailingPart>,
  arrivedEndMs: number | undefined,
): Parts {
  const held = [...failing].filter(([scope]) => isShown(reading, scope)).map(([, part]) => part);
  const windowEndMs = earliest([arrivedEndMs, ...held.map((part) => part.windowEndMs)]);
  const heldSinceMs = earliest(held.map(({ sinceMs }) => sinceMs));
  const isSame = reading === undefined || reading.windowEndMs === windowEndMs;
  const made = isSame ? reading : { ...reading, windowEndMs };
  return { reading: made, failing, arrivedEndMs, heldSinceMs };
}

/** A reading of hosts alone has no values of the application; one of a silent application has nothing else. */
function isShown(reading: AppReading | undefined, scope: string): boolean {
  if (reading === undefined) return false;
  const { application, hosts } = reading;
  if (scope === applicationScope) return application.length > 0 || hosts.size === 0;
  return hosts.has(scope);
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  // Not by one call: an application may have more hosts than a call has arguments.
  const first = times.reduce<number>((least, time) => Math.min(least, time ?? least), Infinity);
  return Number.isFinite(first) ? first : undefined;
}

/**
 * What is shown after a poll: what arrived, and of each part that failed the values of before.
 *
 * @param arrived what the poll brought of the parts that are still wanted
 * @param failed the scopes of what it did not bring
 * @param startMs when the poll began, or should have ended, on the monotonic clock
 */
export function withArrived(
  before: Parts,
  arrived: Parts,
  failed: ReadonlySet<string>,
  startMs: number,
): Parts {
  if (failed.size === 0) return arrived;
  const failing = new Map<string, FailingPart>();
  for (const scope of failedScopesOf(failed, before.reading, arrived.reading)) {
    const since = { sinceMs: startMs, windowEndMs: before.arrivedEndMs };
    failing.set(scope, before.failing.get(scope) ?? since);
  }
  const reading = mergedOf(before.reading, arrived.reading, new Set(failing.keys()));
  return madeOf(reading, failing, arrived.arrivedEndMs);
}

function mergedOf(
  before: AppReading | undefined,
  arrived: AppReading | undefined,
  failing: ReadonlySet<string>,
): AppReading | undefined {
  if (before === undefined || arrived === undefined) return arrived ?? before;
  const { application } = failing.has(applicationScope) ? before : arrived;
  const held = [...before.hosts].filter(([id]) => failing.has(id));
  return { ...arrived, application, hosts: new Map([...arrived.hosts, ...held]) };
}

/** Known hosts are all named: of those that a failure names together, and all if nothing arrived. */
function failedScopesOf(
  failed: ReadonlySet<string>,
  before: AppReading | undefined,
  arrived: AppReading | undefined,
): ReadonlySet<string> {
  const areHostsLost = arrived === undefined || failed.has(hostsScope);
  const hostIds = areHostsLost ? [...(before?.hosts.keys() ?? [])] : [];
  const isOwnLost = arrived === undefined && isShown(before, applicationScope);
  const lost = hostIds.filter((id) => !isShown(arrived, id));
  return new Set([...failed, ...(isOwnLost ? [applicationScope] : []), ...lost]);
}

/** Without the values that have failed since `sinceMs`, or for longer. */
export function withoutFailingSince(before: Parts, sinceMs: number): Parts {
  const { reading, failing, arrivedEndMs } = before;
  if (reading === undefined) return before;
  const isOut = (scope: string): boolean => (failing.get(scope)?.sinceMs ?? Infinity) <= sinceMs;
  const application = isOut(applicationScope) ? [] : reading.application;
  const hosts = new Map([...reading.hosts].filter(([id]) => !isOut(id)));
  const isEmpty = application.length === 0 && hosts.size === 0;
  return madeOf(isEmpty ? undefined : { ...reading, application, hosts }, failing, arrivedEndMs);
}

/** Without hosts that are not in `hostIds`; the same object if none has to go. What was read is not lost. */
export function withHosts(before: Parts, hostIds: readonly string[] | undefined): Parts {
  if (hostIds === undefined) return before;
  const wanted = new Set([applicationScope, hostsScope, ...hostIds]);
  const { reading, arrivedEndMs } = before;
  const known = [...(reading?.hosts.keys() ?? []), ...before.failing.keys()];
  if (known.every((scope) => wanted.has(scope))) return before;
  const failing = new Map([...before.failing].filter(([scope]) => wanted.has(scope)));
  const hosts = new Map([...(reading?.hosts ?? [])].filter(([id]) => wanted.has(id)));
  return madeOf(reading && { ...reading, hosts }, failing, arrivedEndMs);
}

/**
 * As if it had been read for these series; the same object if it was. What was read for one of them
 * under another name, or with other labels, stays; the rest goes, and what is new has no value.
 */
export function withSeries(before: Parts, series: readonly PolledSeries[]): Parts {
  const { reading } = before;
  // A silent application has neither series nor values.
  if (reading === undefined || reading.series.length === 0) return before;
  if (isDeepStrictEqual(reading.series, series)) return before;
  const placesOf = (scope: 'applications' | 'hosts'): readonly number[] =>
    series.map((wanted) => reading.series.findIndex((one) => readsSame(one, wanted, scope)));
  const [ofApplication, ofHost] = [placesOf('applications'), placesOf('hosts')];
  const hosts = [...reading.hosts].map(([id, values]) => [id, valuesAt(ofHost, values)] as const);
  const application = valuesAt(ofApplication, reading.application);
  return { ...before, reading: { ...reading, series, application, hosts: new Map(hosts) } };
}

/** Nothing stays nothing. */
function valuesAt(places: readonly number[], values: Values): Values {
  return values.length === 0 ? [] : places.map((place) => values[place]);
}

function readsSame(
  one: PolledSeries,
  other: PolledSeries,
  scope: 'applications' | 'hosts',
): boolean {
  return (
    one.metric === other.metric &&
    one.value === other.value &&
    one.scale === other.scale &&
    isReadOf(scope, one) &&
    isReadOf(scope, other)
  );
}
