import type { Query, QueryFacet, QueryGauge } from '../../model/config.ts';
import { labelValueOf } from '../../model/label-value.ts';
import { own } from '../../model/own.ts';
import type { QueryReading, QuerySeries } from '../../model/snapshot.ts';
import type { InvalidSampleReason } from '../../model/telemetry.ts';
import { isJsonObject, type JsonObject, loggedSampleOf, objectOf } from '../answer.ts';
import { notWhole } from '../failures.ts';
import { checkSum, facetValuesOf, resultsIn, rowText, type WindowReading } from './nrql-answer.ts';

type RowLabels = QuerySeries['labels'];

/** A row with the labels of its facets, as they are shown. */
interface FacetedRow {
  readonly row: JsonObject;
  /** What tells it from other rows: the values of its facets with their types. */
  readonly key: string;
  /** Whether one of these is a list. */
  readonly hasList: boolean;
  readonly labels: RowLabels;
  readonly labelKey: string;
}

/** How the answer to a query of the configuration is read. */
export interface QueryAnswerReading extends Omit<WindowReading, 'needsLength'> {
  /** A further member of the rows that is a count. */
  readonly count?: string | undefined;
}

/**
 * Reads the value of `nrql`. Throws an `ApiError` unless the answer is whole and answers this question.
 * Values that are no numbers become no series; they are counted.
 */
export function queryReadingOf(
  part: unknown,
  query: Query,
  about: QueryAnswerReading,
): QueryReading {
  const needsLength = query.gauges.some(({ growsWithWindow }) => growsWithWindow);
  const reading = { ...about, needsLength };
  const answer = objectOf(part);
  const { results, window, notices } = resultsIn(answer, query.facets, reading);
  const unusable = new Map<InvalidSampleReason, number>();
  const onInvalid = (reason: InvalidSampleReason): void => {
    unusable.set(reason, 1 + (unusable.get(reason) ?? 0));
    reading.onInvalid(reason);
  };
  const rows = facetedRows(results, query.facets, reading);
  checkWhole(answer, rows, query, reading);
  const shown = withoutSameLabels(rows);
  for (let left = rows.length - shown.length; left > 0; left -= 1) onInvalid('duplicate');
  const all = rowsInOrder(shown, query.gauges[0]).map((row) =>
    seriesOf(row, query.gauges, { ...reading, onInvalid }),
  );
  const kept = firstWithin(all, query.maxSeries);
  const count = all.reduce((sum, { length }) => sum + length, 0);
  const series = kept.flat().toSorted(byLabels);
  const leftOut = count - series.length;
  return { windowEndMs: window.toMs, series, rows: results.length, leftOut, unusable, notices };
}

function facetedRows(
  results: readonly unknown[],
  facets: readonly QueryFacet[],
  reading: WindowReading,
): readonly FacetedRow[] {
  if (facets.length === 0 && results.length > 1) {
    throw notWhole(reading.purpose, 'the answer has several rows, and one was asked for');
  }
  const keys = new Set<string>();
  return results.map((row) => {
    const values = isJsonObject(row) ? facetValuesOf(row, facets) : undefined;
    if (!isJsonObject(row) || values === undefined) {
      throw notWhole(reading.purpose, 'the answer has a row with other facets than were asked for');
    }
    const key = values.map((value) => `${typeof value} ${rowText(value)}`).join('\n');
    if (keys.size === keys.add(key).size) {
      throw notWhole(reading.purpose, 'the answer has two rows for the same');
    }
    const labels = values.map(
      (value, index) => [facets[index]?.label ?? '', labelValueOf(rowText(value))] as const,
    );
    const hasList = values.some((value) => Array.isArray(value));
    return { row, key, hasList, labels, labelKey: JSON.stringify(labels.map(([, text]) => text)) };
  });
}

/** What of a sum may be lost in its last digits. */
const roundingShare = 1e-6;

/**
 * Throws an `ApiError` if rows are missing: what is counted or summed of them, and of all others, is the total.
 * Without FACET a count has a row even of nothing. Lists and cases divide nothing: one thing may be in several.
 */
function checkWhole(
  answer: JsonObject,
  rows: readonly FacetedRow[],
  { gauges, facets }: Query,
  { purpose, count }: QueryAnswerReading,
): void {
  if (facets.length === 0) {
    const isCount = gauges.some(({ lone }) => lone === 'count' || lone === 'uniqueCount');
    if (rows.length > 0 || !isCount) return;
    throw notWhole(purpose, 'the answer has no row, and a count has one even of nothing');
  }
  const isDivided =
    facets.every(({ isCases }) => !isCases) && rows.every(({ hasList }) => !hasList);
  if (!isDivided) return;
  const remedy = wholeRemedy(facets);
  if (count !== undefined) checkSum(answer, count, 0, { purpose }, remedy);
  for (const { member, lone } of gauges) {
    if (lone === 'count') checkSum(answer, member, 0, { purpose }, remedy);
    if (lone === 'sum') checkSum(answer, member, roundingShare, { purpose }, remedy);
  }
}

/** New Relic does not say whether its totals have what has no facet. */
function wholeRemedy(facets: readonly QueryFacet[]): string {
  const conditions = facets
    .filter(({ isAttribute }) => isAttribute)
    .map(({ name }) => `${/^[\w.]+$/u.test(name) ? name : `\`${name}\``} IS NOT NULL`);
  const where = conditions.length === 0 ? '' : `add WHERE ${conditions.join(' AND ')}, or `;
  return `If that lasts, the total has what no row is about: ${where}ask without FACET`;
}

/** Of rows that look alike, such as those of null and of an empty text, the first by type and text. */
function withoutSameLabels(rows: readonly FacetedRow[]): readonly FacetedRow[] {
  const first = new Map<string, FacetedRow>();
  for (const row of rows) {
    const known = first.get(row.labelKey);
    if (known === undefined || row.key < known.key) first.set(row.labelKey, row);
  }
  return rows.filter((row) => first.get(row.labelKey) === row);
}

/** In New Relic's order; where its first value does not decide, in the order of labels. */
function rowsInOrder(
  rows: readonly FacetedRow[],
  gauge: QueryGauge | undefined,
): readonly FacetedRow[] {
  let rank = 0;
  let before: string | undefined;
  const ranked = rows.map((row) => {
    const value = JSON.stringify(own(row.row, gauge?.member ?? ''));
    if (value !== before) rank += 1;
    before = value;
    return { ...row, rank };
  });
  return ranked.toSorted(
    (left, right) => left.rank - right.rank || (left.labelKey < right.labelKey ? -1 : 1),
  );
}

function seriesOf(
  { row, labels }: FacetedRow,
  gauges: readonly QueryGauge[],
  reading: WindowReading,
): readonly QuerySeries[] {
  return gauges.flatMap((gauge, index) =>
    rowValues(own(row, gauge.member), gauge, reading).flatMap(([quantile, stated]) => {
      if (stated === undefined || stated === null) reading.onInvalid('absent');
      const value = loggedSampleOf(stated ?? undefined, reading.onInvalid, { mayBeNegative: true });
      return value === undefined ? [] : { gauge: index, labels: [...labels, ...quantile], value };
    }),
  );
}

/** What a function gives, by what NRQL says of it. */
function rowValues(
  stated: unknown,
  { gives, percentages }: QueryGauge,
  reading: WindowReading,
): readonly (readonly [quantile: RowLabels, value: unknown])[] {
  if (gives === 'number' || !isJsonObject(stated)) {
    const [only, ...others] = percentages;
    return [[only === undefined || others.length > 0 ? [] : quantileOf(only), stated]];
  }
  if (gives === 'apdex') return [[[], own(stated, 'score')]];
  const byPercentage = new Map(
    Object.entries(stated).map(([text, value]) => [
      /^\d+(?:\.\d+)?$/u.test(text) ? Number(text) : Number.NaN,
      value,
    ]),
  );
  if ([...byPercentage.keys()].some((one) => !percentages.includes(one))) {
    throw notWhole(reading.purpose, 'the answer has other percentiles than were asked for');
  }
  return percentages.map((one) => [quantileOf(one), byPercentage.get(one)]);
}

/** Without the noise of binary fractions: of 99.9 it is 0.999. */
function quantileOf(percentage: number): RowLabels {
  return [['quantile', String(Number((percentage / 100).toPrecision(12)))]];
}

/** Whole rows, as many of the first as fit. */
function firstWithin(
  rows: readonly (readonly QuerySeries[])[],
  most: number,
): readonly (readonly QuerySeries[])[] {
  let count = 0;
  const end = rows.findIndex(({ length }) => (count += length) > most);
  return end === -1 ? rows : rows.slice(0, end);
}

function byLabels(left: QuerySeries, right: QuerySeries): number {
  const [one, other] = [left, right].map(({ labels }) => labels.map(([, text]) => text).join('\n'));
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
