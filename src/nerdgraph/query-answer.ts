import type { Query } from '../model/config.ts';
import type { QueryResult, QuerySeries } from '../model/snapshot.ts';
import type { TimeWindow } from '../model/window.ts';
import {
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  sampleOf,
} from '../newrelic/json.ts';
import { failureOf } from './failures.ts';
import { type NrqlReading, windowOf } from './nrql-answer.ts';

/** The answer to the NRQL of a configuration. */
export interface QueryAnswer {
  readonly result: QueryResult;
  /** What it is about; New Relic may have moved the ends of the window that was asked for. */
  readonly window: TimeWindow;
}

export interface QueryAnswerReading
  extends Pick<NrqlReading, 'purpose' | 'window' | 'unexpected' | 'onInvalid'> {
  readonly query: Pick<Query, 'gauges' | 'facets' | 'maxSeries'>;
}

/** Reads the value of `nrql`. Throws an `ApiError` if it has no results, or is about another time. */
export function queryAnswerOf(part: unknown, reading: QueryAnswerReading): QueryAnswer {
  const results = isJsonObject(part) ? part['results'] : undefined;
  if (!isJsonObject(part) || !Array.isArray(results)) {
    throw failureOf(reading.purpose, 'schema', 'the answer has no list of results');
  }
  const metadata = isJsonObject(part['metadata']) ? part['metadata'] : {};
  const { messages } = metadata;
  if (Array.isArray(messages) && messages.length > 0) {
    reading.unexpected.saw('partial', { query: reading.purpose.query, message: messages[0] });
  }
  const window = windowOf(metadata['timeWindow'], reading);
  return { result: queryResultOf(results, reading), window };
}

type ResultReading = Pick<QueryAnswerReading, 'query' | 'unexpected' | 'onInvalid'>;

/**
 * The series of rows of any shape: each is valid and there once. What does not become one is counted. They
 * are in the order of their labels, so that the same ones are left out of too many each time.
 */
export function queryResultOf(rows: readonly unknown[], reading: ResultReading): QueryResult {
  const { query, unexpected } = reading;
  const found = new Map<string, QuerySeries>();
  let unusable = 0;
  const onInvalid: InvalidSampleListener = (reason) => {
    unusable += 1;
    reading.onInvalid(reason);
  };
  for (const row of rows) {
    const labels = isJsonObject(row) ? facetLabelsOf(row, query.facets) : undefined;
    if (!isJsonObject(row) || labels === undefined) {
      unusable += 1;
      unexpected.saw('row', { row: 'other facets than those of the query' });
      continue;
    }
    for (const [gauge, { member }] of query.gauges.entries()) {
      for (const { quantile, value } of samplesOf(row[member], onInvalid)) {
        const all = quantile === undefined ? labels : [...labels, ['quantile', quantile] as const];
        const key = JSON.stringify([...all.map(([, text]) => text), gauge]);
        if (found.has(key)) onInvalid('duplicate');
        else found.set(key, { gauge, labels: all, value });
      }
    }
  }
  const inOrder = [...found].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return {
    series: inOrder.slice(0, query.maxSeries).map(([, series]) => series),
    rows: rows.length,
    leftOut: Math.max(0, inOrder.length - query.maxSeries),
    unusable,
  };
}

/** `undefined` if the row is about more or less than the query asks for. Its facets may have members of their own. */
function facetLabelsOf(
  row: JsonObject,
  facets: Query['facets'],
): QuerySeries['labels'] | undefined {
  const { facet = facets.map(({ name }) => row[name]) } = row;
  if (facets.length === 0) return [];
  const isOne = facets.length === 1 && row['facet'] !== undefined;
  const stated: readonly unknown[] = Array.isArray(facet) && !isOne ? facet : [facet];
  if (stated.length !== facets.length) return undefined;
  return facets.map(({ label }, index) => [label, labelTextOf(stated[index])]);
}

function labelTextOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface MemberSample {
  readonly quantile: string | undefined;
  readonly value: number;
}

/** A number is one sample. Percentiles come as a map from the percentage, an Apdex with its score. */
function samplesOf(member: unknown, onInvalid: InvalidSampleListener): readonly MemberSample[] {
  const percentages = isJsonObject(member) ? Object.entries(member) : [];
  if (percentages.length > 0 && percentages.every(([text]) => isPercentage(text))) {
    return percentages.flatMap(([text, value]) => sampleIn(value, quantileOf(text), onInvalid));
  }
  const score = isJsonObject(member) ? member['score'] : undefined;
  return sampleIn(score ?? member, undefined, onInvalid);
}

function sampleIn(
  found: unknown,
  quantile: string | undefined,
  onInvalid: InvalidSampleListener,
): readonly MemberSample[] {
  if (found === undefined || found === null) onInvalid('absent');
  const value = sampleOf(found ?? undefined, onInvalid, { mayBeNegative: true });
  return value === undefined ? [] : [{ quantile, value }];
}

function isPercentage(text: string): boolean {
  return /^\d{1,3}(?:\.\d{1,9})?$/u.test(text) && Number(text) <= 100;
}

/** Without the noise of binary fractions: of 99.9 it is 0.999. */
function quantileOf(percentage: string): string {
  return String(Number((Number(percentage) / 100).toPrecision(12)));
}
