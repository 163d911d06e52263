import { transactionTypes } from '../../model/application.ts';
import { own } from '../../model/own.ts';
import { type PolledSeries, seriesOf } from '../../model/polled-series.ts';
import { presetNames } from '../../model/presets.ts';
import { hourMs, minuteMs } from '../../model/time.ts';
import type { JsonObject } from '../../newrelic/answer.ts';
import type { ApiRequest } from '../../newrelic/calls/transport.ts';
import {
  type ColumnSet,
  type ColumnSubject,
  columnsOf,
} from '../../newrelic/nerdgraph/column-sets.ts';
import { searchesFor } from '../../newrelic/nerdgraph/discovery.ts';
import {
  accountsDocument,
  taggedEntitiesDocument,
} from '../../newrelic/nerdgraph/graphql-client.ts';
import { type Facets, maxRows, metricsNrql } from '../../newrelic/nerdgraph/nrql.ts';
import { metricsRequest } from '../../newrelic/rest/requests.ts';
import { nrqlRequest } from '../survey/ask.ts';

/** What an account may lack, and what a report says then. */
const lacking = {
  applicationId: 'no selected application on the first page of the list reports',
  otherId: 'there is no second application that reports',
  name: 'no application on the first page of the list has a name without quotes',
  otherName: 'there is no second such name',
  hostId: 'REST lists no host of the application',
  page: 'the list has one page',
  cursor: 'the list has one page',
} as const;

/** What is asked about: ids and the like, each an empty text where the account lacks it. */
export type Asked = Readonly<Record<keyof typeof lacking | 'accountId', string>> & {
  /** The end of half an hour of whole minutes that New Relic has had for a while. */
  readonly toMs: number;
  /** What a call may take. */
  readonly timeoutMs: number;
};

/** One request. Facts that have a call in common share its answer. */
export interface Call {
  readonly name: string;
  readonly api: 'rest' | 'nerdgraph';
  /** `rest`: below the applications. `search`: of entities. `document` and `nrql`: as NerdGraph takes them. */
  readonly way: string;
  /** What is asked for, with what it is about in braces. */
  readonly text: string;
  /**
   * `other header`: that in which the key is not configured. `must be refused`: whatever its failure is, it tells.
   * Unless it may be refused, a refusal contradicts the facts.
   */
  readonly special: string;
}

/** The request of a call; a text if the account lacks what it is about. */
export function requestOf(call: Call, asked: Asked): ApiRequest | string {
  const text = filled(call, asked);
  const lack = Object.entries(lacking).find(([name]) => text.includes(`{${name}}`));
  if (lack !== undefined) return lack[1];
  const [search, cursor = null] = text.split(' # ');
  switch (call.way) {
    case 'rest':
      return { operation: 'query', target: `/v2/applications${text}`, answerSize: 'large' };
    case 'search':
      return posted(entitiesDocument, { search, cursor });
    case 'document':
      return posted(text, {});
    default:
      return nrqlRequest('query', {
        ...asked,
        accountId: Number(asked.accountId),
        nrql: lengthened(text),
      });
  }
}

function posted(query: string, variables: JsonObject): ApiRequest {
  const body = JSON.stringify({ query, variables });
  return { operation: 'query', target: '/graphql', body, answerSize: 'large' };
}

/** The text of a call with what it is about, as far as there is that; `{to-30}` is in minutes, `{hour-24}` in whole hours. */
function filled({ api, text }: Call, asked: Asked): string {
  const timeText = (ms: number): string =>
    api === 'rest'
      ? encodeURIComponent(new Date(ms).toISOString().replace('.000Z', 'Z'))
      : String(ms);
  return text.replaceAll(/\{(\w+)(?:-([\d.]+))?\}/gu, (place, name: string, ago = '0') => {
    if (name === 'to') return timeText(asked.toMs - Number(ago) * minuteMs);
    if (name === 'hour') return timeText((Math.floor(asked.toMs / hourMs) - Number(ago)) * hourMs);
    const known = String(own(asked, name) ?? '');
    return known === '' ? place : known;
  });
}

/** The query with a comment that makes it as long as it says. */
function lengthened(nrql: string): string {
  return nrql.replace(/\{(\d+) characters\}/u, (place, length: string) =>
    '-'.padStart(Number(length) - nrql.length + place.length, '.'),
  );
}

/** The cells of a Markdown table without a head. */
export function rowsOf(table: string): readonly (readonly string[])[] {
  const lines = table.trim().split('\n');
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

/** The length of the usual window. */
export const halfHourMs: number = 30 * minuteMs;
export const presetSeries: readonly PolledSeries[] = seriesOf(presetNames, transactionTypes);

export function presetColumns(subject: ColumnSubject): ColumnSet {
  return columnsOf(presetSeries, subject)[0] ?? { columns: [], values: [], needsLength: false };
}

/** What a poll with all presets asks about one application, without its window. */
function nrqlPresets(facets: Facets): string {
  const { columns } = presetColumns(facets.length > 1 ? 'hosts' : 'applications');
  const question = { applicationIds: ['{applicationId}'], window: { fromMs: 0, toMs: 0 } };
  return metricsNrql({ ...question, facets, columns }).replace(/ SINCE .*/u, '');
}

const presetQuery = { series: presetSeries, window: undefined, raw: false };
const restPresets = metricsRequest('0', undefined, presetQuery).target.replace(/^.*\?/u, '');
const values = '/{applicationId}/metrics/data.json';
const window = 'from={to-30}&to={to}';

const [entities = ''] = searchesFor('{accountId}');
const entitiesDocument = taggedEntitiesDocument.replace('throughput', 'throughput errorRate');
const count = 'count(newrelic.timeslice.value)';
const transactions = "metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all')";
const from = `FROM Metric WHERE appId IN ({applicationId}) AND ${transactions} FACET appId`;
const ofCalls = `SELECT ${count} AS calls ${from}`;
/** A name that no application and no metric has. */
export const nothing = 'Verify/Nothing';
const ofNothing = `WHERE metricTimesliceName = '${nothing}'`;
const ofTransactions = 'FROM Transaction WHERE appId = {applicationId}';
const halfHour = 'SINCE {to-30} UNTIL {to}';

/** All calls in their order: first the lists, which tell what to ask about. */
export const calls: readonly Call[] = rowsOf(
  `
| applications | rest | .json |
| entities | search | ${entities} |
| entities, other header | search | ${entities} | other header |
| entities, second page | search | ${entities} # {cursor} |
| entities by id | search | ${entities} AND domainId IN ('{applicationId}','{otherId}','1') |
| entities by name | search | ${entities} AND name IN ('{name}','{otherName}','${nothing}') |
| accounts | document | ${accountsDocument} |
| values of the application | nrql | ${nrqlPresets(['appId'])} ${halfHour} |
| values of its hosts | nrql | ${nrqlPresets(['appId', 'host'])} ${halfHour} |
| calls | nrql | ${ofCalls} LIMIT 10 ${halfHour} |
| calls by id in quotes | nrql | ${ofCalls.replace('{applicationId}', "'{applicationId}'")} LIMIT 10 ${halfHour} | may be refused |
| functions of nothing | nrql | SELECT ${count} AS calls, filter(${count}, ${ofNothing}) AS none, filter(average(newrelic.timeslice.value), ${ofNothing}) AS noTime ${from} LIMIT 10 ${halfHour} |
| too many rows | nrql | ${ofCalls} LIMIT ${maxRows + 1} ${halfHour} | may be refused |
| query of 4000 characters | nrql | ${ofCalls} LIMIT 10 ${halfHour} /*{4000 characters}*/ |
| query of 8000 characters | nrql | ${ofCalls} LIMIT 10 ${halfHour} /*{8000 characters}*/ | may be refused |
| query of 16000 characters | nrql | ${ofCalls} LIMIT 10 ${halfHour} /*{16000 characters}*/ | may be refused |
| query of 32000 characters | nrql | ${ofCalls} LIMIT 10 ${halfHour} /*{32000 characters}*/ | may be refused |
| query of 64000 characters | nrql | ${ofCalls} LIMIT 10 ${halfHour} /*{64000 characters}*/ | may be refused |
| percentile | nrql | SELECT count(*) AS calls, percentile(duration, 95) AS value ${ofTransactions} ${halfHour} |
| member of a percentile | nrql | SELECT count(*) AS calls, percentile(duration, 95)['95'] AS value ${ofTransactions} ${halfHour} |
| Apdex | nrql | SELECT count(*) AS calls, apdex(duration, t: 0.5) AS value ${ofTransactions} ${halfHour} |
| histogram | nrql | SELECT count(*) AS calls, histogram(duration, 10, 5) AS value ${ofTransactions} ${halfHour} |
| groups of null | nrql | SELECT count(*) AS calls ${ofTransactions} FACET error.class ${halfHour} |
| syntax error | nrql | SELECT count(*) ${ofTransactions} GROUP BY appName ${halfHour} | must be refused |
| event types | nrql | SHOW EVENT TYPES SINCE 1 day ago |
| sliding windows | nrql | ${ofCalls} LIMIT 10 SINCE {to-55} UNTIL {to} TIMESERIES 1800000 SLIDE BY 300000 |
| 366 buckets | nrql | ${ofCalls} LIMIT 10 SINCE {to-366} UNTIL {to} TIMESERIES 60000 SLIDE BY 60000 |
| hours of ten days ago | nrql | ${ofCalls} LIMIT 10 SINCE {hour-264} UNTIL {hour-240} TIMESERIES 3600000 SLIDE BY 3600000 |
| applications, other header | rest | .json | other header |
| applications, second page | rest | .json?page={page} |
| applications by id | rest | .json?filter%5Bids%5D={applicationId}%2C{otherId}%2C1 |
| hosts | rest | /{applicationId}/hosts.json |
| values | rest | ${values}?${restPresets}&${window}&raw=true |
| rounded values | rest | ${values}?${restPresets}&${window} |
| values of a host | rest | /{applicationId}/hosts/{hostId}/metrics/data.json?${restPresets}&${window}&raw=true |
| values of its own window | rest | ${values}?${restPresets} |
| values of one metric | rest | ${values}?names%5B%5D=Apdex&values%5B%5D=score&summarize=true&${window} |
| an unknown metric | rest | ${values}?names%5B%5D=HttpDispatcher&names%5B%5D=${encodeURIComponent(nothing)}&values%5B%5D=requests_per_minute&summarize=true&${window} |
| a minute | rest | ${values}?${restPresets}&from={to-1}&to={to} |
| half a minute | rest | ${values}?${restPresets}&from={to-0.5}&to={to} | may be refused |
| a day | rest | ${values}?${restPresets}&from={to-1440}&to={to} |
`,
).map(([, name = '', way = '', text = '', special = '']) => {
  return { name, api: way === 'rest' ? 'rest' : 'nerdgraph', way, text, special };
});
