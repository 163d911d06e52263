import { own } from '../../model/own.ts';
import { minuteMs } from '../../model/time.ts';
import type { TimeWindow } from '../../model/window.ts';
import { isJsonObject, type JsonObject, objectOf } from '../answer.ts';
import { failureOf, type NerdGraphPurpose, notWhole } from '../failures.ts';

/** What is known of a query with TIMESERIES. */
export interface SeriesReading {
  readonly purpose: NerdGraphPurpose;
  /** The member of a row that counts what it has; `undefined` if there is only one row. */
  readonly count?: string | undefined;
  /** Rows that a query of a single window has at most, if it is content with these. */
  readonly limit?: number | undefined;
  /** The member by which such a query chooses and sorts its rows; `undefined` if that is not known. */
  readonly sortedBy?: string | undefined;
}

/**
 * The answers for single windows, as a query of each would have got them: a group without data in a window is not in
 * its answer. Throws an `ApiError` if a window is missing; `too_large` if one has fewer rows than a query of
 * its own would have had, because the groups are those of all windows together.
 */
export function* windowAnswersOf(
  { results, otherResult, totalResult, metadata }: JsonObject,
  windows: readonly TimeWindow[],
  { purpose, count = '', limit = Infinity, sortedBy }: SeriesReading,
): Iterable<readonly [TimeWindow, JsonObject]> {
  const rows = byWindow(results, purpose);
  const others = byWindow(otherResult, purpose);
  const totals = byWindow(totalResult, purpose);
  const facets = [...rows.values()].flat().map((row) => JSON.stringify(own(row, 'facet')));
  const mayLack = windows.length > 1 && new Set(facets).size >= limit;
  const lacksRows = (found: readonly JsonObject[], other: unknown): boolean =>
    mayLack && found.length < limit && Number(own(objectOf(other), count)) > 0;
  for (const window of windows) {
    const { fromMs, toMs } = window;
    const key = `${fromMs / 1000} ${toMs / 1000}`;
    if (!rows.has(key) && rows.size > 0) throw lacking(window, purpose);
    const found = (rows.get(key) ?? []).filter((row) => own(row, count) !== 0);
    const [other] = others.get(key) ?? [];
    if (lacksRows(found, other)) {
      throw failureOf(purpose, 'too_large', 'other windows have taken the places of its rows');
    }
    const part = {
      results: pointsInOrder(found, sortedBy),
      otherResult: other,
      totalResult: totals.get(key)?.[0],
      metadata: { ...objectOf(metadata), timeWindow: { begin: fromMs, end: toMs } },
    };
    yield [window, part];
  }
}

function lacking({ fromMs, toMs }: TimeWindow, purpose: NerdGraphPurpose): Error {
  const [length, from] = [(toMs - fromMs) / minuteMs, new Date(fromMs).toISOString()];
  return notWhole(purpose, `the answer lacks the ${length} minutes from ${from}`);
}

/** Rows by the window that they state, in seconds. */
function byWindow(
  rows: unknown,
  purpose: NerdGraphPurpose,
): ReadonlyMap<string, readonly JsonObject[]> {
  const found = new Map<string, JsonObject[]>();
  for (const row of Array.isArray(rows) ? (rows as readonly unknown[]) : []) {
    if (!isJsonObject(row)) throw notWhole(purpose, 'the answer has a row that cannot be read');
    const key = `${Number(row['beginTimeSeconds'])} ${Number(row['endTimeSeconds'])}`;
    const known = found.get(key) ?? [];
    known.push(row);
    found.set(key, known);
  }
  return found;
}

/** The largest first: the rows of a series are in the order of all its windows together. */
function pointsInOrder(
  rows: readonly JsonObject[],
  sortedBy: string | undefined,
): readonly JsonObject[] {
  if (sortedBy === undefined) return rows;
  const sizeOf = (row: JsonObject): number => {
    const value = own(row, sortedBy);
    return Number(isJsonObject(value) ? Object.values(value)[0] : value) || 0;
  };
  return rows.toSorted((one, other) => sizeOf(other) - sizeOf(one));
}
