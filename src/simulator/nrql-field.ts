import type { SimulatedAccount } from './fleet.ts';
import {
  type GraphqlArguments,
  GraphqlFailure,
  type GraphqlObject,
  invalidInput,
  isJson,
} from './graphql.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import type { NrqlCell } from './nrql-functions.ts';
import {
  checkNrql,
  type NrqlQuery,
  type NrqlTimeseries,
  nrqlTimeOf,
  parseNrql,
} from './nrql-parser.ts';
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
  const rowsIn = (part: MetricWindow): NrqlRowSet =>
    new NrqlRowSet(matchedRows(query, part, settings, account));
  const rows = rowsIn(window);
  const { timeseries } = query;
  const buckets = timeseries === undefined ? [] : bucketsOf(window, timeseries);
  checkCost(rows.rows.length * Math.max(1, buckets.length), timeout, settings);
  const whole = { part: window, rows };
  const parts = buckets.map((part) => ({ part, rows: rowsIn(part) }));
  return containerOf(query, window, findingsOf(query, whole, parts));
}

/** The whole windows in the range of a query. */
function bucketsOf(
  { fromMs, toMs }: MetricWindow,
  { lengthMs, stepMs }: NrqlTimeseries,
): readonly MetricWindow[] {
  const count = Math.max(0, Math.floor((toMs - fromMs - lengthMs) / stepMs) + 1);
  return Array.from({ length: count }, (_, index) => {
    const startMs = fromMs + index * stepMs;
    return { fromMs: startMs, toMs: startMs + lengthMs };
  });
}

interface Bucket {
  readonly part: MetricWindow;
  readonly rows: NrqlRowSet;
}

/**
 * What the answer of a query has that depends on its data; with `TIMESERIES` window by window. The facets are
 * those of the whole range, and each is there in every window, with a count of 0 where it has no data.
 */
function findingsOf(query: NrqlQuery, whole: Bucket, parts: readonly Bucket[]): GraphqlObject {
  const isSeries = query.timeseries !== undefined;
  const windows = isSeries ? parts : [whole];
  const recordOf = ({ part: { fromMs, toMs } }: Bucket, rows: NrqlRowSet): NrqlRecord => ({
    ...(isSeries && { beginTimeSeconds: fromMs / 1000, endTimeSeconds: toMs / 1000 }),
    ...Object.fromEntries(
      query.select.map(({ name, cellOf }) => [name, cellOf(rows, toMs - fromMs)]),
    ),
  });
  if (query.facets.length === 0) {
    const results = windows.map((window) => recordOf(window, window.rows));
    return { results, otherResult: null, totalResult: null };
  }
  const all = facetsOf(query, whole.rows);
  const kept = ranked(query, all.values(), whole.part.toMs - whole.part.fromMs).slice(
    0,
    query.limit,
  );
  const keys = new Set(kept.map(keyOf));
  const found = windows.map(({ rows }) => (rows === whole.rows ? all : facetsOf(query, rows)));
  /** Of each window, together: the rows of the facets that are meant. */
  const sumOf = (isMeant: (key: string) => boolean): NrqlRecord | readonly NrqlRecord[] => {
    const records = windows.map((window, index) => {
      const facets = [...(found[index] ?? [])].filter(([key]) => isMeant(key));
      return recordOf(window, new NrqlRowSet(facets.flatMap(([, facet]) => facet.rows)));
    });
    return isSeries ? records : (records[0] ?? {});
  };
  return {
    results: kept.flatMap((facet) =>
      windows.map((window, index) => ({
        ...namedFacets(query, facet.values),
        ...recordOf(window, new NrqlRowSet(found[index]?.get(keyOf(facet))?.rows ?? [])),
      })),
    ),
    otherResult: sumOf((key) => !keys.has(key)),
    totalResult: sumOf(() => true),
  };
}

function keyOf({ values }: Pick<Facet, 'values'>): string {
  return values.join('\n');
}

function namedFacets(query: NrqlQuery, values: readonly NrqlValue[]): object {
  return {
    facet: values.length === 1 ? values[0] : values,
    ...Object.fromEntries(query.facets.map(({ name }, index) => [name, values[index]])),
  };
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

/** By key. Rows without one of the attributes have no facet, and are in no total: New Relic does not say so. */
function facetsOf(query: NrqlQuery, { rows }: NrqlRowSet): ReadonlyMap<string, Facet> {
  const facets = new Map<string, Facet>();
  for (const row of rows) {
    const values = query.facets.map(({ valueOf }) => valueOf(row));
    if (values.includes(null)) continue;
    const key = keyOf({ values });
    const facet = facets.get(key);
    if (facet === undefined) facets.set(key, { values, rows: [row] });
    else facet.rows.push(row);
  }
  return facets;
}

/** Facets are chosen by the first function if it can rank them, else by how frequent they are. */
function ranked(query: NrqlQuery, facets: Iterable<Facet>, windowMs: number): readonly Facet[] {
  const [first] = query.select;
  const rankOf = ({ rows }: Facet): number => {
    if (first?.ranks !== true) return rows.reduce((sum, row) => sum + row.records(), 0);
    const cell = first.cellOf(new NrqlRowSet(rows), windowMs);
    // The first of several percentiles.
    return Number(isJson(cell) ? Object.values(cell)[0] : cell);
  };
  return Array.from(facets, (facet) => ({ facet, rank: rankOf(facet) }))
    .toSorted((left, right) => right.rank - left.rank)
    .map(({ facet }) => facet);
}

function containerOf(
  query: NrqlQuery,
  { fromMs, toMs }: MetricWindow,
  findings: GraphqlObject,
): GraphqlObject {
  return {
    ...findings,
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
