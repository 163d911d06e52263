import type { Query } from '../model/config.ts';
import type { AppReading, QueryResult, QuerySeries } from '../model/snapshot.ts';
import {
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  sampleOf,
} from '../newrelic/json.ts';
import { type NrqlReading, objectOf, resultsIn, windowOf } from './nrql-answer.ts';

type QueryReading = Pick<NrqlReading, 'purpose' | 'window' | 'unexpected' | 'onInvalid'>;

/** Reads the value of `nrql`. Throws an `ApiError` if it has no results, or is about another time. */
export function queryReadingOf(part: unknown, query: Query, reading: QueryReading): AppReading {
  const answer = objectOf(part);
  const rows = resultsIn(answer, reading);
  const { toMs } = windowOf(objectOf(answer['metadata'])['timeWindow'], reading);
  const none = { series: [], application: [], hosts: new Map<string, never>() };
  return { ...none, windowEndMs: toMs, query: queryResultOf(rows, query, reading) };
}

/**
 * The series of rows of any shape: each is valid and there once. What does not become one is counted. They
 * are in the order of their labels, so that the same ones are left out of too many each time.
 */
export function queryResultOf(
  rows: readonly unknown[],
  { gauges, facets, maxSeries }: Pick<Query, 'gauges' | 'facets' | 'maxSeries'>,
  { unexpected, onInvalid }: Pick<QueryReading, 'unexpected' | 'onInvalid'>,
): QueryResult {
  const found = new Map<string, QuerySeries>();
  let unusable = 0;
  const onUnusable: InvalidSampleListener = (reason) => {
    unusable += 1;
    onInvalid(reason);
  };
  for (const row of rows) {
    const labels = isJsonObject(row) ? facetLabelsOf(row, facets) : undefined;
    if (!isJsonObject(row) || labels === undefined) {
      unusable += 1;
      unexpected.saw('row', { row: 'other facets than those of the query' });
      continue;
    }
    for (const [gauge, { member }] of gauges.entries()) {
      for (const [quantile, stated] of valuesOf(row[member])) {
        if (stated === undefined || stated === null) onUnusable('absent');
        const value = sampleOf(stated ?? undefined, onUnusable, { mayBeNegative: true });
        if (value === undefined) continue;
        const all = [...labels, ...quantile];
        const key = JSON.stringify([...all.map(([, text]) => text), gauge]);
        if (found.has(key)) onUnusable('duplicate');
        else found.set(key, { gauge, labels: all, value });
      }
    }
  }
  const inOrder = [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    series: inOrder.slice(0, maxSeries).map(([, series]) => series),
    rows: rows.length,
    leftOut: Math.max(0, inOrder.length - maxSeries),
    unusable,
  };
}

type Labels = QuerySeries['labels'];

/** `undefined` if the row is about more or less than the query asks for. Its facets may have members of their own. */
function facetLabelsOf(row: JsonObject, facets: Query['facets']): Labels | undefined {
  const { facet = facets.map(({ name }) => row[name]) } = row;
  // Of one facet, a list is its value.
  const isOne = facets.length === 1 && row['facet'] !== undefined;
  const values: readonly unknown[] = Array.isArray(facet) && !isOne ? facet : [facet];
  if (facets.length > 0 && values.length !== facets.length) return undefined;
  return facets.map(({ label }, index) => {
    const value = values[index] ?? '';
    return [label, typeof value === 'string' ? value : JSON.stringify(value)];
  });
}

const percentage = /^\d{1,3}(?:\.\d{1,9})?$/u;

/** A number is one value. Percentiles come as a map from the percentage, an Apdex with its score. */
function valuesOf(member: unknown): readonly (readonly [quantile: Labels, value: unknown])[] {
  const parts = Object.entries(objectOf(member));
  const areQuantiles = parts.every(([text]) => percentage.test(text) && Number(text) <= 100);
  if (parts.length === 0 || !areQuantiles) return [[[], objectOf(member)['score'] ?? member]];
  // Without the noise of binary fractions: of 99.9 it is 0.999.
  return parts.map(([text, value]) => {
    const quantile = String(Number((Number(text) / 100).toPrecision(12)));
    return [[['quantile', quantile]], value];
  });
}
