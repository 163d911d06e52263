import { closest } from '../../config/suggestion.ts';
import { ApiError } from '../../model/api-error.ts';
import type { Query } from '../../model/config.ts';
import { printable } from '../../model/shown-text.ts';
import type { QueryReading } from '../../model/snapshot.ts';
import { excerptOf, isJsonObject } from '../../newrelic/answer.ts';
import { emptyTextOf } from '../../poll/query-state.ts';
import { resultText } from '../../web/status/queries.ts';
import type { OpenAccount } from '../survey/ask.ts';
import type { DiscoveredAccount, QueryAnswer } from '../survey/discovered-account.ts';
import type { CheckedConfig, Finding, Severity } from '../survey/finding.ts';
import { askResults } from '../survey/metric-lists.ts';

/** What the queries of an account were answered. If any got nothing, event types are asked for once. */
export async function queryFindings(
  { open, answers }: DiscoveredAccount,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const isWondered = open.account.source.kind === 'nerdgraph' && answers.some(isEmptyHanded);
  const eventTypes = isWondered ? await eventTypesOf(open) : undefined;
  return answers.map((answer) => queryFinding(answer, eventTypes, checked));
}

/** Event types with data in the last day; `undefined` if New Relic does not say. */
async function eventTypesOf(open: OpenAccount): Promise<readonly string[] | undefined> {
  const rows = await askResults(open, 'query', 'SHOW EVENT TYPES SINCE 1 day ago', (all) => all);
  if (rows instanceof ApiError || rows.length === 0) return undefined;
  const types = rows.map((row) => (isJsonObject(row) ? row['eventType'] : undefined));
  return types.every((type) => typeof type === 'string') ? types : undefined;
}

/** Whether it brought no row, or only what New Relic says of no data: a single 0 or null. */
function isEmptyHanded({ query, outcome: { reading } }: QueryAnswer): boolean {
  if (reading === undefined || reading.rows === 0) return reading !== undefined;
  const isNothing = reading.series.every(({ value }) => value === 0);
  return isNothing && query.facets.length === 0 && !reading.unusable.has('not_a_number');
}

/** Series of a query that are shown. */
const seriesShown = 3;

function queryFinding(
  answer: QueryAnswer,
  eventTypes: readonly string[] | undefined,
  { config, file }: CheckedConfig,
): Finding {
  const { query, outcome } = answer;
  const { account, name } = query;
  const { reading, error } = outcome;
  // An entry that asks several accounts has one list of gauges.
  const entries = [...new Set(config.queries?.map(({ gauges }) => gauges))];
  const place = file.placeOf(file.at('queries', entries.indexOf(query.gauges), 'nrql'));
  if (reading === undefined) {
    const message = `query ${name} brings nothing`;
    return { severity: 'error', account, place, message, remedy: error?.message };
  }
  const shown = reading.series.slice(0, seriesShown).map(({ gauge, labels, value }) => {
    const texts = labels.map(([label, text]) => `${label}=${JSON.stringify(text)}`);
    return `${query.gauges[gauge]?.name ?? ''}{${texts.join(',')}} ${value}`;
  });
  const [severity, remedy] = isEmptyHanded(answer)
    ? verdictOnNothing(query, reading, eventTypes)
    : verdictOn(query, reading);
  const message = [`query ${name}: ${resultText(reading)}`, ...shown].join('; ');
  const [notice] = reading.notices;
  if (severity !== 'ok' || notice === undefined) {
    return { severity, account, place, message, remedy };
  }
  return {
    severity: 'note',
    account,
    place,
    message,
    remedy: `New Relic says: ${excerptOf(notice)}`,
  };
}

type Verdict = readonly [Severity, remedy?: string];

function verdictOn({ facets, mostRows }: Query, reading: QueryReading): Verdict {
  const empty = emptyTextOf(reading);
  if (empty !== undefined) return ['warning', empty];
  if (reading.leftOut > 0) return ['warning', 'raise max_series, or ask for less'];
  if (facets.length === 0 || reading.rows < mostRows) return ['ok'];
  return ['note', 'there may be more rows than its LIMIT allows: raise LIMIT, or ask for less'];
}

/** What New Relic can be asked for, whether it lists it or not. */
const unlistedTypes = ['Metric', 'Entity'];

/** Names the first type that has no data, and what is probably meant; case matters. */
function verdictOnNothing(
  query: Query,
  reading: QueryReading,
  listed: readonly string[] | undefined,
): Verdict {
  if (listed === undefined || query.eventTypes.length === 0) return verdictOn(query, reading);
  const types = [...unlistedTypes, ...listed];
  const unknown = query.eventTypes.find((type) => !types.includes(type));
  if (unknown === undefined) {
    const isFiltered = reading.rows === 0;
    return isFiltered
      ? ['warning', 'check WHERE, or ask for a longer window']
      : verdictOn(query, reading);
  }
  const near = closest(unknown, types);
  const meant = near === undefined ? 'correct FROM' : `did you mean ${near}?`;
  const fact = `the account has had no data of the type ${unknown} in the last day`;
  return ['warning', printable(`${fact}: ${meant}`)];
}
