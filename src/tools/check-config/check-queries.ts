import { closest } from '../../config/suggestion.ts';
import { ApiError } from '../../model/api-error.ts';
import type { Query } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import type { QueryReading } from '../../model/snapshot.ts';
import { excerptOf, objectOf } from '../../newrelic/answer.ts';
import { emptyTextOf } from '../../poll/query-state.ts';
import { resultText } from '../../web/status/queries.ts';
import { askNrql, type OpenAccount } from '../survey/ask.ts';
import type { DiscoveredAccount } from '../survey/discovered-account.ts';
import type { CheckedConfig, Finding, Severity } from '../survey/finding.ts';

interface Answered {
  readonly query: Query;
  readonly reading: QueryReading;
}

/** Series of a query that are shown. */
const seriesShown = 3;

/** What queries were answered, but for those that fail. If any got nothing, event types are asked for once. */
export async function queryFindings(
  { open, answers }: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const answered = answers.flatMap(({ query, outcome: { reading } }) =>
    reading === undefined ? [] : [{ query, reading }],
  );
  const eventTypes = answered.some(isEmptyHanded) ? await eventTypesOf(open) : undefined;
  return answered.map((one) => {
    const { query, reading } = one;
    const shown = reading.series.slice(0, seriesShown).map(({ gauge, labels, value }) => {
      const texts = labels.map(([label, text]) => `${label}=${JSON.stringify(text)}`);
      return `${query.gauges[gauge]?.name ?? ''}{${texts.join(',')}} ${value}`;
    });
    const message = [`query ${query.name}: ${resultText(reading)}`, ...shown].join('; ');
    const [severity, remedy] = verdictOn(one, isEmptyHanded(one) ? eventTypes : undefined);
    return { severity, message, remedy, place: placeOfQuery(query, checked) };
  });
}

/** The place of its NRQL. An entry that asks several accounts has one list of gauges. */
export function placeOfQuery({ gauges }: Query, { config, file }: CheckedConfig): Finding['place'] {
  const entries = [...new Set(config.queries?.map((query) => query.gauges))];
  return file.placeOf(file.at('queries', entries.indexOf(gauges), 'nrql'));
}

/** Event types with data in the last day; `undefined` if New Relic does not say. */
async function eventTypesOf(open: OpenAccount): Promise<readonly string[] | undefined> {
  const { kind, accountId } = open.account.source;
  if (kind === 'rest') return undefined;
  try {
    const nrql = 'SHOW EVENT TYPES SINCE 1 day ago';
    const { results } = await askNrql(
      open,
      { operation: 'query', accountId },
      nrql,
      (part) => part,
    );
    const rows = Array.isArray(results) ? results : [];
    const types = rows.map((row) => objectOf(row)['eventType']);
    const isList = types.length > 0 && types.every((type) => typeof type === 'string');
    return isList ? types : undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

/** Whether it brought no row, or only what New Relic says of no data: a single 0 or null. */
function isEmptyHanded({ query, reading: { rows, series, unusable } }: Answered): boolean {
  if (rows === 0) return true;
  const hasNoValue = series.every(({ value }) => value === 0);
  return hasNoValue && query.facets.length === 0 && !unusable.has('not_a_number');
}

/** What New Relic can be asked for, whether it lists it or not. */
const unlistedTypes = ['Metric', 'Entity'];

/** @param eventTypes those that have data, if the query got nothing, and they are known; case matters */
function verdictOn(
  { query, reading }: Answered,
  eventTypes: readonly string[] | undefined,
): readonly [Severity, remedy?: string] {
  const { facets, mostRows } = query;
  const { rows, leftOut, notices } = reading;
  if (eventTypes !== undefined && query.eventTypes.length > 0) {
    const types = [...unlistedTypes, ...eventTypes];
    const unknown = query.eventTypes.find((type) => !types.includes(type));
    if (unknown !== undefined) {
      const near = closest(unknown, types);
      const meant = near === undefined ? 'correct FROM' : `did you mean ${near}?`;
      const fact = `the account has had no data of the type ${unknown} in the last day`;
      return ['warning', printable(`${fact}: ${meant}`)];
    }
    if (rows === 0) return ['warning', 'check WHERE, or ask for a longer window'];
  }
  const empty = emptyTextOf(reading);
  if (empty !== undefined) return ['warning', empty];
  if (leftOut > 0) return ['warning', 'raise max_series, or ask for less'];
  if (facets.length > 0 && rows >= mostRows) {
    return ['note', 'there may be more rows than its LIMIT allows: raise LIMIT, or ask for less'];
  }
  const [notice] = notices;
  return notice === undefined ? ['ok'] : ['note', `New Relic says: ${excerptOf(notice)}`];
}
