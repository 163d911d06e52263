import { aggregationOf, type NrqlAggregation } from './nrql-aggregation.ts';
import type { NrqlEvents } from './nrql-events.ts';
import type { NrqlCell } from './nrql-functions.ts';
import type { NrqlColumn, NrqlExpression, NrqlMoment, NrqlQuery, NrqlValue } from './nrql-query.ts';
import { NrqlRowSet } from './nrql-row-set.ts';
import type { NrqlRow, NrqlRows, NrqlWindow } from './nrql-rows.ts';
import { termOf } from './nrql-terms.ts';
import { hasData } from './timeslice.ts';

/** One element of `results`: the selected columns by name, and the facet. */
export type NrqlRecord = Readonly<Record<string, NrqlCell>>;

/** What a query finds. */
export interface NrqlFindings {
  readonly window: NrqlWindow;
  readonly results: readonly NrqlRecord[];
  /** Of all rows whose facet is not among the results; `null` without `FACET`. */
  readonly otherResult: NrqlRecord | null;
  /** `null` without `FACET`. */
  readonly totalResult: NrqlRecord | null;
  /** The rows that the conditions let through. */
  readonly matchedRows: number;
}

interface Facet {
  readonly values: readonly NrqlValue[];
  readonly rows: NrqlRowSet;
}

type Columns = readonly NrqlColumn<NrqlAggregation>[];

/** The point in time, as the epoch counts. */
export function nrqlTimeOf(moment: NrqlMoment, nowMs: number): number {
  return moment.kind === 'at' ? moment.timeMs : nowMs - moment.ms;
}

/** The range of a query on the grid of its data. An empty one gets the length of one step. */
export function nrqlWindowOf(query: NrqlQuery, nowMs: number, snapMs: number): NrqlWindow {
  const snapped = (timeMs: number): number => Math.floor(timeMs / snapMs) * snapMs;
  const fromMs = snapped(nrqlTimeOf(query.since, nowMs));
  return { fromMs, toMs: Math.max(snapped(nrqlTimeOf(query.until, nowMs)), fromMs + snapMs) };
}

function recordOf(columns: Columns, rows: NrqlRowSet): NrqlRecord {
  return Object.fromEntries(columns.map(({ name, value }) => [name, value(rows)]));
}

/** Rows without one of the attributes have no facet. */
function facetsOf(query: NrqlQuery, { rows }: NrqlRowSet): readonly Facet[] {
  const facets = new Map<string, { values: readonly NrqlValue[]; rows: NrqlRow[] }>();
  const terms = query.facets.map(({ value }) => termOf(value));
  for (const row of rows) {
    const values = terms.map((valueOf) => valueOf(row));
    if (!values.includes(null)) {
      const key = values.join('\n');
      const facet = facets.get(key) ?? { values, rows: [] };
      facet.rows.push(row);
      facets.set(key, facet);
    }
  }
  return [...facets.values()].map((facet) => ({ ...facet, rows: new NrqlRowSet(facet.rows) }));
}

const rankingFunctions: ReadonlySet<string> = new Set(['count', 'average', 'min', 'max']);

/** Facets are chosen by the first function if it can rank them, else by how frequent they are. */
function rankOf(first: NrqlExpression | undefined, windowMs: number): NrqlAggregation {
  const ranks = first?.kind === 'aggregate' && rankingFunctions.has(first.name);
  const ranking: NrqlExpression = ranks
    ? first
    : { kind: 'aggregate', name: 'count', attribute: '*' };
  return aggregationOf(ranking, windowMs);
}

function ranked(query: NrqlQuery, rows: NrqlRowSet, windowMs: number): readonly Facet[] {
  const rank = rankOf(query.select[0]?.value, windowMs);
  return facetsOf(query, rows)
    .map((facet) => ({ facet, rank: Number(rank(facet.rows)) }))
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ facet }) => facet);
}

function facetRecord(query: NrqlQuery, columns: Columns, { values, rows }: Facet): NrqlRecord {
  const [only = null] = values;
  return {
    facet: values.length === 1 ? only : values,
    ...Object.fromEntries(query.facets.map(({ name }, index) => [name, values[index] ?? null])),
    ...recordOf(columns, rows),
  };
}

/** A metric without data in the window has no row. */
function matchedRows(
  { eventTypes, where }: NrqlQuery,
  rows: NrqlRows,
  window: NrqlWindow,
  events: NrqlEvents,
): NrqlRowSet {
  const matched: NrqlRow[] = [];
  for (const eventType of eventTypes) matched.push(...events(eventType, window, where));
  if (eventTypes.includes('Metric')) {
    for (const row of rows(window, where)) if (hasData(row.timeslice())) matched.push(row);
  }
  return new NrqlRowSet(matched);
}

/** Evaluates a query over the rows of an account. */
export function evaluateNrql(
  query: NrqlQuery,
  rows: NrqlRows,
  window: NrqlWindow,
  events: NrqlEvents = () => [],
): NrqlFindings {
  const windowMs = window.toMs - window.fromMs;
  const matched = matchedRows(query, rows, window, events);
  const columns = query.select.map(({ name, value }) => ({
    name,
    value: aggregationOf(value, windowMs),
  }));
  const found = { window, matchedRows: matched.rows.length };
  if (query.facets.length === 0) {
    return {
      ...found,
      results: [recordOf(columns, matched)],
      otherResult: null,
      totalResult: null,
    };
  }
  const facets = ranked(query, matched, windowMs);
  const others = facets.slice(query.limit).flatMap(({ rows: left }) => left.rows);
  return {
    ...found,
    results: facets.slice(0, query.limit).map((facet) => facetRecord(query, columns, facet)),
    otherResult: recordOf(columns, new NrqlRowSet(others)),
    totalResult: recordOf(columns, matched),
  };
}
