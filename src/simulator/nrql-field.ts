import type { SimulatedAccount } from './fleet.ts';
import {
  type GraphqlArguments,
  GraphqlFailure,
  type GraphqlObject,
  invalidInput,
} from './graphql.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import type { NrqlCell } from './nrql-functions.ts';
import { checkNrql, type NrqlQuery, nrqlTimeOf, parseNrql } from './nrql-parser.ts';
import { type NrqlRow, NrqlRowSet, type NrqlValue } from './nrql-row.ts';
import { eventRows, metricRows, simulatedEventTypes } from './nrql-rows.ts';
import { hasData } from './timeslice.ts';
import type { MetricWindow } from './timeslices.ts';

/** One element of `results`: the selected columns by name, and the facet. */
type NrqlRecord = Readonly<Record<string, NrqlCell>>;

interface Facet {
  readonly values: readonly NrqlValue[];
  readonly rows: NrqlRow[];
}

const defaultTimeoutSeconds = 5;

/**
 * Answers the field `nrql`. Throws `INVALID_INPUT`, `TIMEOUT`, the refusal of a query that is too big, and
 * `NOT_SIMULATED`.
 */
export function nrqlField(
  { query: text, timeout }: GraphqlArguments,
  settings: GraphqlSettings,
  account: SimulatedAccount,
): GraphqlObject {
  const { maxNrqlCharacters: most } = settings;
  if (typeof text !== 'string') throw invalidInput('The argument query is required');
  if (text.length > most) {
    throw invalidInput(
      `The NRQL query is too long: it has ${text.length} characters, and may have ${most}`,
    );
  }
  if (/^show event types(?: since 1 day ago)?$/i.test(text)) return shownEventTypes();
  const query = parseNrql(text);
  const nowMs = account.clock.wallMs();
  checkNrql(query, nowMs);
  const window = windowOf(query, nowMs, settings.snapMs);
  const rows = matchedRows(query, window, settings, account);
  checkCost(rows.length, timeout, settings);
  return containerOf(query, window, new NrqlRowSet(rows));
}

/** The range of a query on the grid of its data. An empty one gets the length of one step. */
function windowOf(query: NrqlQuery, nowMs: number, snapMs: number): MetricWindow {
  const snapped = (timeMs: number): number => Math.floor(timeMs / snapMs) * snapMs;
  const fromMs = snapped(nrqlTimeOf(query.since, nowMs));
  return { fromMs, toMs: Math.max(snapped(nrqlTimeOf(query.until, nowMs)), fromMs + snapMs) };
}

/** A metric without data in the window has no row. */
function matchedRows(
  { eventTypes, where }: NrqlQuery,
  window: MetricWindow,
  settings: GraphqlSettings,
  account: SimulatedAccount,
): readonly NrqlRow[] {
  const matched: NrqlRow[] = [];
  for (const eventType of eventTypes) {
    if (eventType !== 'Metric') {
      matched.push(...eventRows(eventType, window, where, settings, account));
      continue;
    }
    for (const row of metricRows(window, where, settings, account)) {
      if (hasData(row.timeslice())) matched.push(row);
    }
  }
  return matched;
}

function checkCost(rows: number, timeout: unknown, settings: GraphqlSettings): void {
  const seconds = typeof timeout === 'number' ? timeout : defaultTimeoutSeconds;
  if (rows > settings.mostRows) {
    throw new GraphqlFailure(
      'SERVER_ERROR',
      "We're sorry, but that query is a little too big. Try a shorter time range or, if faceting, reduce the LIMIT.",
    );
  }
  if (rows / settings.rowsPerSecond > seconds) {
    throw new GraphqlFailure('TIMEOUT', 'NRDB query duration exceeded the set timeout');
  }
}

/** Rows without one of the attributes have no facet. */
function facetsOf(query: NrqlQuery, rows: readonly NrqlRow[]): readonly Facet[] {
  const facets = new Map<string, Facet>();
  for (const row of rows) {
    const values = query.facets.map(({ valueOf }) => valueOf(row));
    if (values.includes(null)) continue;
    const key = values.join('\n');
    const facet = facets.get(key);
    if (facet === undefined) facets.set(key, { values, rows: [row] });
    else facet.rows.push(row);
  }
  return [...facets.values()];
}

/** Facets are chosen by the first function if it can rank them, else by how frequent they are. */
function ranked(query: NrqlQuery, set: NrqlRowSet, windowMs: number): readonly Facet[] {
  const [first] = query.select;
  const rankOf = ({ rows }: Facet): number =>
    first?.ranks === true
      ? Number(first.cellOf(new NrqlRowSet(rows), windowMs))
      : rows.reduce((sum, row) => sum + row.records(), 0);
  return facetsOf(query, set.rows)
    .map((facet) => ({ facet, rank: rankOf(facet) }))
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ facet }) => facet);
}

/** What the answer of a query has that depends on its data. */
function findingsOf(query: NrqlQuery, rows: NrqlRowSet, windowMs: number): GraphqlObject {
  const recordOf = (set: NrqlRowSet): NrqlRecord =>
    Object.fromEntries(query.select.map(({ name, cellOf }) => [name, cellOf(set, windowMs)]));
  if (query.facets.length === 0) {
    return { results: [recordOf(rows)], otherResult: null, totalResult: null };
  }
  const facets = ranked(query, rows, windowMs);
  return {
    results: facets.slice(0, query.limit).map(({ values, rows: own }) => ({
      facet: values.length === 1 ? values[0] : values,
      ...Object.fromEntries(query.facets.map(({ name }, index) => [name, values[index]])),
      ...recordOf(new NrqlRowSet(own)),
    })),
    otherResult: recordOf(
      new NrqlRowSet(facets.slice(query.limit).flatMap(({ rows: own }) => own)),
    ),
    totalResult: recordOf(rows),
  };
}

function containerOf(
  query: NrqlQuery,
  { fromMs, toMs }: MetricWindow,
  rows: NrqlRowSet,
): GraphqlObject {
  return {
    ...findingsOf(query, rows, toMs - fromMs),
    metadata: {
      facets: query.facets.length === 0 ? null : query.facets.map((facet) => facet.text),
      messages: [],
      timeWindow: { begin: fromMs, end: toMs },
    },
  };
}

/** Clients of NerdGraph find one row with `eventType` for each type; New Relic documents the query only. */
function shownEventTypes(): GraphqlObject {
  return {
    results: simulatedEventTypes.map((eventType) => ({ eventType })),
    metadata: { messages: [] },
  };
}
