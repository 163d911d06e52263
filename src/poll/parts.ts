import { isDeepStrictEqual } from 'node:util';
import { applicationScope, hostsScope, type PollOutcome } from '../model/poll-outcome.ts';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import type { AppReading } from '../model/snapshot.ts';

/** What is known of the application's own values (`applicationScope`), or of a host (its id). */
export interface Part {
  /** What is shown of it; `undefined` for nothing. */
  readonly values: Values | undefined;
  /** End of the window of these values. */
  readonly windowEndMs: number | undefined;
  /** Monotonic time since when it has not arrived; `undefined` if the last poll brought it. */
  readonly failingSinceMs: number | undefined;
}

export interface PartReading {
  /** By scope; `hostsScope` stands for hosts that failed and cannot be named. */
  readonly parts: ReadonlyMap<string, Part>;
  /** What is shown, made of the parts: its window ends where that of the oldest one does. */
  readonly reading: AppReading | undefined;
}

export const noParts: PartReading = { parts: new Map(), reading: undefined };

/**
 * What a poll brought. A reading of hosts alone has no values of the application; one of a silent application
 * has nothing else.
 */
export function partsOf(reading: AppReading | undefined): PartReading {
  if (reading === undefined) return noParts;
  const { windowEndMs, application, hosts } = reading;
  const arrived = { windowEndMs, failingSinceMs: undefined };
  const parts = new Map<string, Part>();
  if (application.length > 0 || hosts.size === 0) {
    parts.set(applicationScope, { ...arrived, values: application });
  }
  for (const [id, values] of hosts) parts.set(id, { ...arrived, values });
  return { parts, reading };
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
  arrived: PartReading,
  { startMs, nowMs, staleAfterMs }: { startMs: number; nowMs: number; staleAfterMs: number },
): PartReading {
  if (failed.size === 0) return arrived;
  const parts = new Map(arrived.parts);
  for (const scope of failedScopesOf(failed, before.parts, arrived)) {
    const known = before.parts.get(scope) ?? nothing;
    const failingSinceMs = known.failingSinceMs ?? startMs;
    const isHeld = nowMs - failingSinceMs < staleAfterMs;
    parts.set(scope, { ...(isHeld ? known : nothing), failingSinceMs });
  }
  return made(before, parts, (arrived.reading ?? before.reading)?.series);
}

/** Without the values that have failed for `staleAfterMs`. */
export function withoutStale(
  before: PartReading,
  { nowMs, staleAfterMs }: { nowMs: number; staleAfterMs: number },
): PartReading {
  const parts = new Map<string, Part>();
  for (const [scope, part] of before.parts) {
    const { failingSinceMs = nowMs } = part;
    const isStale = nowMs - failingSinceMs >= staleAfterMs;
    parts.set(scope, isStale ? { ...nothing, failingSinceMs } : part);
  }
  return made(before, parts, before.reading?.series);
}

/** Monotonic time since when the part has failed whose values are held for longest. */
export function heldSinceMs({ parts }: PartReading): number | undefined {
  let sinceMs: number | undefined;
  for (const { values, failingSinceMs } of parts.values()) {
    if (values === undefined || failingSinceMs === undefined) continue;
    sinceMs = Math.min(sinceMs ?? Number.POSITIVE_INFINITY, failingSinceMs);
  }
  return sinceMs;
}

/** The scopes of what did not arrive with the last poll. */
export function failingScopes({ parts }: PartReading): ReadonlySet<string> {
  const failing = [...parts].filter(([, { failingSinceMs }]) => failingSinceMs !== undefined);
  return new Set(failing.map(([scope]) => scope));
}

/** Without hosts that are not in `hostIds`; the same object if none has to go. */
export function withHosts(
  before: PartReading,
  hostIds: readonly string[] | undefined,
): PartReading {
  if (hostIds === undefined) return before;
  const wanted = new Set([applicationScope, hostsScope, ...hostIds]);
  const parts = [...before.parts].filter(([scope]) => wanted.has(scope));
  return parts.length === before.parts.size
    ? before
    : made(before, new Map(parts), before.reading?.series);
}

/**
 * As if it had been read for these series; the same object if it was. What was read for one of them
 * under another name, or with other labels, stays; the rest goes, and what is new has no value.
 */
export function withSeries(before: PartReading, series: readonly PolledSeries[]): PartReading {
  const read = before.reading?.series ?? [];
  // A silent application has neither series nor values.
  if (read.length === 0 || isDeepStrictEqual(read, series)) return before;
  const valuesReadOf = (scope: 'applications' | 'hosts'): ((values: Values) => Values) => {
    const places = series.map((one) => placeOf(one, read, scope));
    return (values) => places.map((place) => (place === undefined ? undefined : values[place]));
  };
  const [ofApplication, ofHost] = [valuesReadOf('applications'), valuesReadOf('hosts')];
  const parts = new Map(
    Array.from(before.parts, ([scope, part]): [string, Part] => {
      const of = scope === applicationScope ? ofApplication : ofHost;
      return [scope, { ...part, values: part.values && of(part.values) }];
    }),
  );
  return made(before, parts, series);
}

const nothing: Part = { values: undefined, windowEndMs: undefined, failingSinceMs: undefined };

/** Known hosts are all named: of those that a failure names together, and all if nothing arrived. */
function failedScopesOf(
  failed: ReadonlySet<string>,
  known: ReadonlyMap<string, Part>,
  { parts: arrived }: PartReading,
): ReadonlySet<string> {
  const scopes = new Set(failed);
  for (const [scope, { values }] of known) {
    const isOwn = scope === applicationScope;
    const isLost = arrived.size === 0 || (!isOwn && failed.has(hostsScope));
    if (values !== undefined && isLost && !arrived.has(scope)) scopes.add(scope);
  }
  return scopes;
}

/** The reading of before if it shows the same. */
function made(
  before: PartReading,
  parts: ReadonlyMap<string, Part>,
  series: readonly PolledSeries[] = [],
): PartReading {
  const shown = shownOf(parts);
  if (shown.size === 0) return { parts, reading: undefined };
  const isSame =
    before.reading?.series === series &&
    shown.size === shownOf(before.parts).size &&
    [...shown].every(([scope, values]) => before.parts.get(scope)?.values === values);
  if (isSame) return { parts, reading: before.reading };
  const application = shown.get(applicationScope) ?? [];
  shown.delete(applicationScope);
  return { parts, reading: { windowEndMs: oldestEndOf(parts), series, application, hosts: shown } };
}

function shownOf(parts: ReadonlyMap<string, Part>): Map<string, Values> {
  const shown = new Map<string, Values>();
  for (const [scope, { values }] of parts) if (values !== undefined) shown.set(scope, values);
  return shown;
}

function oldestEndOf(parts: ReadonlyMap<string, Part>): number | undefined {
  let oldestMs: number | undefined;
  for (const { values, windowEndMs } of parts.values()) {
    if (values === undefined || windowEndMs === undefined) continue;
    oldestMs = Math.min(windowEndMs, oldestMs ?? windowEndMs);
  }
  return oldestMs;
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
