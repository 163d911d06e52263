import type { TimeWindow } from '../model/window.ts';
import {
  entityIdOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
} from '../newrelic/json.ts';
import { type CallPurpose, failureOf } from './failures.ts';
import { maxRows } from './nrql.ts';
import type { Cell } from './nrql-values.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

/** One row of a FACET query. */
export interface FacetRow {
  readonly applicationId: string;
  /** `undefined` if the query does not ask for hosts. */
  readonly host: string | undefined;
  /** `undefined` if the query does not ask for metrics. */
  readonly metric: string | undefined;
  /** Of all metrics together, unless the query asks for each. */
  readonly calls: number;
  /** Whether the heartbeat was among them; `undefined` if the query does not ask for columns. */
  readonly isLive: boolean | undefined;
  /** One for each column that the query asks for beside. */
  readonly cells: readonly Cell[];
}

/** The answer to one query. */
export interface NrqlAnswer {
  /** None if there are more: nobody can tell whose rows are missing. */
  readonly rows: readonly FacetRow[];
  /** Whether there are more rows than the answer holds. */
  readonly isTruncated: boolean;
  /** What the rows are about; New Relic may have moved the ends of the window that was asked for. */
  readonly window: TimeWindow;
}

export interface NrqlReading {
  readonly purpose: CallPurpose;
  /** The window that was asked for. */
  readonly window: TimeWindow;
  readonly mayShift?: true | undefined;
  /** The names of the columns, if the query asks for more than calls. */
  readonly columns?: readonly string[] | undefined;
  readonly unexpected: UnexpectedAnswers;
  readonly onInvalid: InvalidSampleListener;
}

/**
 * Reads the value of `nrql`. A row that cannot be read is left out and noted. Throws an `ApiError` if
 * there are no rows at all, or if the answer is about another time.
 */
export function nrqlAnswerOf(part: unknown, reading: NrqlReading): NrqlAnswer {
  const { purpose, unexpected } = reading;
  const results = isJsonObject(part) ? part['results'] : undefined;
  if (!isJsonObject(part) || !Array.isArray(results)) {
    throw failureOf(purpose, 'schema', 'the answer has no list of results');
  }
  const isTruncated = results.length >= maxRows || hasOthers(part['otherResult']);
  if (isTruncated) unexpected.saw('truncated', { rows: results.length });
  return {
    rows: isTruncated ? [] : rowsOf(results, reading),
    isTruncated,
    window: windowOf(part, reading),
  };
}

function rowsOf(results: readonly unknown[], reading: NrqlReading): readonly FacetRow[] {
  const rows: FacetRow[] = [];
  for (const result of results) {
    const row = rowOf(result, reading);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** What does not fit into the rows is summed up. With TIMESERIES it is a list, as clients have seen. */
function hasOthers(otherResult: unknown): boolean {
  if (Array.isArray(otherResult)) return otherResult.some(hasOthers);
  return isJsonObject(otherResult) && (numberOf(otherResult['calls']) ?? 0) > 0;
}

function rowOf(row: unknown, reading: NrqlReading): FacetRow | undefined {
  const { unexpected } = reading;
  const calls = isJsonObject(row) ? numberOf(row['calls']) : undefined;
  const applicationId = isJsonObject(row) ? entityIdOf(facetOf(row, 'appId', 0)) : undefined;
  if (!isJsonObject(row) || applicationId === undefined || calls === undefined || calls < 0) {
    unexpected.saw('row', { row: shapeOf(row) });
    return undefined;
  }
  const { host } = row;
  if (host === null || host === '') {
    unexpected.saw('host_null', { app_id: applicationId });
    return undefined;
  }
  const metric = row['metricTimesliceName'];
  return {
    applicationId,
    host: textOf(host),
    metric: textOf(metric),
    calls,
    ...columnsIn(row, reading),
  };
}

const noColumns: Pick<FacetRow, 'isLive' | 'cells'> = { isLive: undefined, cells: [] };

function columnsIn(
  row: JsonObject,
  { columns, unexpected, onInvalid }: NrqlReading,
): Pick<FacetRow, 'isLive' | 'cells'> {
  if (columns === undefined) return noColumns;
  const isWhole = ['live', ...columns].every((name) => row[name] !== undefined);
  if (!isWhole) unexpected.saw('row', { row: shapeOf(row) });
  return {
    isLive: (cellOf(row['live'], onInvalid) ?? 0) > 0,
    cells: columns.map((name) => cellOf(row[name], onInvalid)),
  };
}

/** A column that is not there at all is not one in which there is nothing. */
function cellOf(value: unknown, onInvalid: InvalidSampleListener): Cell {
  if (value === null || value === undefined) return value;
  const number = numberOf(value);
  if (number === undefined) onInvalid(typeof value === 'number' ? 'not_finite' : 'not_a_number');
  return number;
}

/** A facet is a member of its own, and stands in `facet`. */
function facetOf(row: JsonObject, name: string, index: number): unknown {
  const { facet } = row;
  return row[name] ?? (Array.isArray(facet) ? facet[index] : facet);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** New Relic writes some numbers as texts. */
function numberOf(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$/.test(value);
  const number = isText ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The members of a row and their types: its values may be anybody's. */
function shapeOf(row: unknown): string {
  if (!isJsonObject(row)) return typeof row;
  return Object.entries(row)
    .slice(0, 10)
    .map(([name, value]) => `${name.slice(0, 40)}: ${value === null ? 'null' : typeof value}`)
    .join(', ');
}

/** A longer step than any of the resolutions of New Relic's data for windows of a day. */
const plausibleShiftMs = 3_600_000;

function windowOf(
  part: JsonObject,
  { window, mayShift, unexpected, purpose }: NrqlReading,
): TimeWindow {
  const metadata = isJsonObject(part['metadata']) ? part['metadata'] : {};
  const timeWindow = isJsonObject(metadata['timeWindow']) ? metadata['timeWindow'] : {};
  const fromMs = numberOf(timeWindow['begin']);
  const toMs = numberOf(timeWindow['end']);
  if (fromMs === undefined || toMs === undefined) {
    unexpected.saw('no_window', {});
    return window;
  }
  if (fromMs === window.fromMs && toMs === window.toMs) return window;
  const isPlausible =
    fromMs < toMs &&
    Math.abs(fromMs - window.fromMs) <= plausibleShiftMs &&
    Math.abs(toMs - window.toMs) <= plausibleShiftMs;
  if (!isPlausible) throw failureOf(purpose, 'schema', 'the answer is about another time');
  if (mayShift !== true) unexpected.saw('window', { asked: window, answered: { fromMs, toMs } });
  return { fromMs, toMs };
}
