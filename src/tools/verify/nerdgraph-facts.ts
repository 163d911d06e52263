import { transactionTypes } from '../../model/application.ts';
import { type PolledSeries, seriesOf } from '../../model/polled-series.ts';
import { presetNames } from '../../model/presets.ts';
import { minuteMs } from '../../model/time.ts';
import { entityIdOf, type JsonObject, objectOf } from '../../newrelic/answer.ts';
import type { ApiRequest } from '../../newrelic/calls/transport.ts';
import { type ColumnSet, columnsOf, type Subject } from '../../newrelic/nerdgraph/column-sets.ts';
import { searchesFor } from '../../newrelic/nerdgraph/discovery.ts';
import {
  accountsDocument,
  nrqlDocument,
  taggedEntitiesDocument,
} from '../../newrelic/nerdgraph/graphql-client.ts';
import { type Facets, maxRows, metricsNrql } from '../../newrelic/nerdgraph/nrql.ts';
import { textOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import {
  type Answer,
  at,
  type Call,
  callsOf,
  each,
  type Fact,
  factsOf,
  idOf,
  listAt,
  numberIn,
  refused,
  type See,
  type Seen,
  seen,
} from './fact.ts';

export const presetSeries: readonly PolledSeries[] = seriesOf(presetNames, transactionTypes);

export function presetColumns(subject: Subject): ColumnSet {
  return columnsOf(presetSeries, subject)[0] ?? { columns: [], values: [], needsLength: false };
}

/** What a poll with all presets asks about one application, without its window. */
function presets(facets: Facets): string {
  const { columns } = presetColumns(facets.length > 1 ? 'hosts' : 'applications');
  const question = { applicationIds: ['{applicationId}'], window: { fromMs: 0, toMs: 0 } };
  return metricsNrql({ ...question, facets, columns }).replace(/ SINCE .*/u, '');
}

function posted(query: string, variables: JsonObject): ApiRequest {
  const body = JSON.stringify({ query, variables });
  return { operation: 'query', target: '/graphql', body, answerSize: 'large' };
}

const [entities = ''] = searchesFor('{accountId}');
const entitiesDocument = taggedEntitiesDocument.replace('throughput', 'throughput errorRate');
const count = 'count(newrelic.timeslice.value)';
const transactions = "metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all')";
const from = `FROM Metric WHERE appId IN ({applicationId}) AND ${transactions} FACET appId`;
const calls = `SELECT ${count} AS calls ${from}`;
const ofNothing = "WHERE metricTimesliceName = 'Verify/Nothing'";
const ofTransactions = 'FROM Transaction WHERE appId = {applicationId}';
/** The length of the usual window. */
export const halfHourMs: number = 30 * minuteMs;
const halfHour = 'SINCE {to-30} UNTIL {to}';

const searches = callsOf(
  `
| entities | ${entities} |
| entities, other header | ${entities} | other header |
| entities, second page | ${entities} # {cursor} |
| entities by id | ${entities} AND domainId IN ('{applicationId}','{otherId}','1') |
| entities by name | ${entities} AND name IN ('{name}','{otherName}','Verify/Nothing') |
`,
  'nerdgraph',
  (text) => {
    const [search, cursor = null] = text.split(' # ');
    return posted(entitiesDocument, { search, cursor });
  },
);

const accounts = callsOf(`| accounts | ${accountsDocument} |`, 'nerdgraph', (text) =>
  posted(text, {}),
);

const queries = callsOf(
  `
| values of the application | ${presets(['appId'])} ${halfHour} |
| values of its hosts | ${presets(['appId', 'host'])} ${halfHour} |
| calls | ${calls} LIMIT 10 ${halfHour} |
| calls by id in quotes | ${calls.replace('{applicationId}', "'{applicationId}'")} LIMIT 10 ${halfHour} | may be refused |
| functions of nothing | SELECT ${count} AS calls, filter(${count}, ${ofNothing}) AS none, filter(average(newrelic.timeslice.value), ${ofNothing}) AS noTime ${from} LIMIT 10 ${halfHour} |
| too many rows | ${calls} LIMIT ${maxRows + 1} ${halfHour} | may be refused |
| query of 4000 characters | ${calls} LIMIT 10 ${halfHour} /*{4000 characters}*/ |
| query of 8000 characters | ${calls} LIMIT 10 ${halfHour} /*{8000 characters}*/ | may be refused |
| query of 16000 characters | ${calls} LIMIT 10 ${halfHour} /*{16000 characters}*/ | may be refused |
| query of 32000 characters | ${calls} LIMIT 10 ${halfHour} /*{32000 characters}*/ | may be refused |
| query of 64000 characters | ${calls} LIMIT 10 ${halfHour} /*{64000 characters}*/ | may be refused |
| percentile | SELECT count(*) AS calls, percentile(duration, 95) AS value ${ofTransactions} ${halfHour} |
| member of a percentile | SELECT count(*) AS calls, percentile(duration, 95)['95'] AS value ${ofTransactions} ${halfHour} |
| Apdex | SELECT count(*) AS calls, apdex(duration, t: 0.5) AS value ${ofTransactions} ${halfHour} |
| histogram | SELECT count(*) AS calls, histogram(duration, 10, 5) AS value ${ofTransactions} ${halfHour} |
| groups of null | SELECT count(*) AS calls ${ofTransactions} FACET error.class ${halfHour} |
| syntax error | SELECT count(*) ${ofTransactions} GROUP BY appName ${halfHour} | must be refused |
| event types | SHOW EVENT TYPES SINCE 1 day ago |
| sliding windows | ${calls} LIMIT 10 SINCE {to-55} UNTIL {to} TIMESERIES 1800000 SLIDE BY 300000 |
| 366 buckets | ${calls} LIMIT 10 SINCE {to-366} UNTIL {to} TIMESERIES 60000 SLIDE BY 60000 |
| hours of ten days ago | ${calls} LIMIT 10 SINCE {hour-264} UNTIL {hour-240} TIMESERIES 3600000 SLIDE BY 3600000 |
`,
  'nerdgraph',
  (text, { accountId, timeoutSeconds: timeout }) => {
    const fill = (place: string, length: string): string =>
      '-'.padStart(Number(length) - text.length + place.length, '.');
    const nrql = text.replace(/\{(\d+) characters\}/u, fill);
    return posted(nrqlDocument, { account: Number(accountId), nrql, timeout });
  },
);

export const nerdgraphCalls: readonly Call[] = [...searches, ...accounts, ...queries];

/** Whether nothing is on two pages. */
export function noneTwice(...pages: readonly Answer[]): Seen {
  const ids = pages.flatMap(({ items }) => items.map(({ guid, id }) => guid ?? id));
  const again = ids.length - new Set(ids).size;
  return seen(again === 0, `${again} of the first page are on the second`);
}

/** Whether the first refusal has one of these statuses; `withoutAny` is what it means that all are accepted. */
export function refusedWith(statuses: readonly number[], withoutAny?: false): See {
  return (...answers) => {
    const accepted = answers.filter(({ status }) => status < 400).length;
    const first = answers.find(({ status }) => status >= 400);
    if (first === undefined) return seen(withoutAny, `${accepted} accepted`);
    const before = accepted === 0 ? '' : `${accepted} accepted, then `;
    return refused(statuses.includes(first.status), first, before);
  };
}

/** Whether the values of those that had any calls are so. */
function eachValue(isSo: (value: unknown) => boolean): See {
  return ({ items }) => {
    const busy = items.filter((row) => row['calls'] !== 0).map(({ value }) => value ?? null);
    return each(busy, isSo);
  };
}

function isOfNumbers(value: unknown): boolean {
  const numbers = Object.values(objectOf(value));
  return numbers.length > 0 && numbers.every((one) => typeof one === 'number');
}

function callsIn(rows: readonly JsonObject[]): number {
  return rows.reduce((sum, row) => sum + numberIn(row['calls']), 0);
}

function addsUp(document: unknown): boolean {
  const others = numberIn(at(document, 'otherResult.calls') ?? 0);
  const sum = callsIn(listAt(document, 'results')) + others;
  return sum === numberIn(at(document, 'totalResult.calls'));
}

function isGroup({ facet }: JsonObject): boolean {
  return !/^(?:null)?$/iu.test(textOf(facet));
}

const sees: Readonly<Record<string, See>> = {
  'nerdgraph-account': ({ items, asked }) => {
    const isSeen = items.some(({ id }) => textOf(id) === asked.accountId);
    return seen(isSeen, `${items.length} are seen`);
  },
  'nerdgraph-count': ({ document, items: { length } }) => {
    const total = numberIn(at(document, 'count'));
    const isLast = (at(document, 'results.nextCursor') ?? '') === '';
    const isSo = isLast ? length === total : length === 200 && total > 200;
    return seen(isSo, `${length} on the ${isLast ? 'only' : 'first'} page of ${total}`);
  },
  'nerdgraph-order': ({ items }) => {
    const names = items.map(({ name }) => textOf(name));
    const lists = [names, names.map((name) => name.toLowerCase())];
    const { compare } = new Intl.Collator('en');
    const isSorted =
      lists.some((list) => list.join() === list.toSorted().join()) ||
      names.join() === names.toSorted(compare).join();
    return seen(isSorted, isSorted ? 'sorted' : 'not sorted');
  },
  'nerdgraph-cursor': noneTwice,
  'nerdgraph-names': ({ items, asked }, all) => {
    const found = new Set(items.map(idOf));
    const names = new Set([asked.name, asked.otherName]);
    const meant = all.items.filter(({ name }) => names.has(textOf(name)));
    return each(meant, (one) => found.has(idOf(one)));
  },
  'nerdgraph-tags': ({ items }) => {
    const tags = items.flatMap((entity) => listAt(entity, 'tags'));
    return each(tags, ({ key, values }) => typeof key === 'string' && Array.isArray(values));
  },
  'nerdgraph-error-rate': ({ items }, all, bad) => {
    const entity = items.find((one) => idOf(one) === all.asked.applicationId);
    const failing = callsIn(bad.items.filter(isGroup)) / callsIn(all.items);
    const times = numberIn(at(entity, 'apmSummary.errorRate')) / failing;
    if (!(times > 0 && times < Infinity)) return seen(undefined, 'no errors');
    // Not of the same minutes: only the order of magnitude tells.
    return seen(times < 10, times < 10 ? 'a share' : 'a percentage');
  },
  'nerdgraph-numbers': (...answers) => {
    const [bare = 0, quoted = 0] = answers.map(({ items }) => items.length);
    const isSo = bare + quoted > 0 ? bare > 0 : undefined;
    return seen(isSo, `${bare} without quotes, ${quoted} with them`);
  },
  'nerdgraph-app-id': ({ items }) => each(items, ({ appId }) => entityIdOf(appId) !== undefined),
  'nerdgraph-facets': ({ items }) =>
    each(
      items,
      ({ facet, appId, host }) =>
        [facet].flat().map(textOf).join('\n') === [appId, host].map(textOf).join('\n'),
    ),
  'nerdgraph-sums': (...answers) => {
    const filledOnes = answers.filter(({ items }) => items.length > 0);
    return each(
      filledOnes.map(({ document }) => document),
      addsUp,
    );
  },
  'nerdgraph-window': ({ document, asked: { toMs } }) => {
    const { begin, end } = objectOf(at(document, 'metadata.timeWindow'));
    const bySeconds = [numberIn(begin) + halfHourMs, numberIn(end)].map((ms) => (ms - toMs) / 1000);
    return seen(
      bySeconds.every((by) => by === 0),
      `moved by ${bySeconds.join(' and ')} s`,
    );
  },
  'nerdgraph-nothing': ({ items }) =>
    each(items, ({ none, noTime }) => none === 0 && noTime === null),
  'nerdgraph-heartbeat': ({ items }) => each(items, ({ live }) => numberIn(live) > 0),
  'nerdgraph-too-long': refusedWith([413]),
  'nerdgraph-too-many': refusedWith([400, 413], false),
  'query-percentile': eachValue(
    (value) => isOfNumbers(value) && Object.hasOwn(objectOf(value), '95'),
  ),
  'query-percentile-member': eachValue((value) => typeof value === 'number'),
  'query-apdex': eachValue(
    (value) => isOfNumbers(value) && Object.hasOwn(objectOf(value), 'score'),
  ),
  'query-histogram': eachValue(isOfNumbers),
  'query-null': ({ items }, all) => {
    const odd = items.filter((row) => !isGroup(row)).length;
    return seen(callsIn(all.items) > 0 ? odd === 0 : undefined, `${odd} of ${items.length} groups`);
  },
  'query-total': ({ document }, all) => {
    const groups = { ...objectOf(document), results: listAt(document, 'results').filter(isGroup) };
    return seen(callsIn(all.items) > 0 ? addsUp(groups) : undefined, 'the sums of groups');
  },
  'query-syntax': refusedWith([400], false),
  'query-event-types': ({ items }) => each(items, ({ eventType }) => typeof eventType === 'string'),
  'series-windows': ({ items, asked }) => {
    const spans = items.map((row) => [row['beginTimeSeconds'], row['endTimeSeconds']]);
    const ends = [5, 4, 3, 2, 1, 0].map((slides) => asked.toMs / 1000 - 300 * slides);
    const isSo = JSON.stringify(spans) === JSON.stringify(ends.map((end) => [end - 1800, end]));
    return seen(items.length > 0 ? isSo : undefined, `${items.length} windows`);
  },
  'series-values': (...answers) => {
    const [value, usual] = answers.map(({ items }) => items.at(-1)?.['calls']);
    const isSo = usual === undefined ? undefined : value === usual;
    return seen(isSo, isSo === true ? 'the same' : 'others');
  },
  'series-past': ({ items }) => {
    return each(
      items,
      ({ beginTimeSeconds: begin, endTimeSeconds: end }) =>
        numberIn(end) - numberIn(begin) === 3600,
    );
  },
};

/** What the exporter believes of NerdGraph, in the order of reports. */
export const nerdgraphFacts: readonly Fact[] = factsOf(
  `
| nerdgraph-key-header | NerdGraph takes the key in \`Api-Key\` and in \`X-Api-Key\` | D of REST, I | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is | entities, other header; entities |
| nerdgraph-date | An answer of NerdGraph has a header \`Date\` | I | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` | entities |
| nerdgraph-account | The key sees the account in this region | D | \`discovery failed\`: \`auth\` | Nothing can be polled with NerdGraph. Now: correct \`account_id\` or \`region\` (\`check-config --online\` helps) | accounts |
| nerdgraph-count | A page has 200 entities, and \`count\` is the number on all pages | D; exactly: U | \`discovery failed\`: \`schema\`, with both numbers | Each discovery counts as incomplete, and nothing ends that is gone. Now: stay with \`source: rest\` | entities |
| nerdgraph-order | Entities come in the order of their names | V | none | A list of several pages may skip one. Now: nothing, the next list finds it | entities |
| nerdgraph-cursor | A cursor leads to other entities | D; lifetime: U | \`discovery failed\` for more than 200 applications | Lists of several pages are not complete. Now: choose applications by id | entities; entities, second page |
| nerdgraph-ids | \`domainId IN\` finds several ids, and leaves out an unknown one | I | \`newrelic_exporter_app_missing\`; if it is refused, \`newrelic_exporter_api_requests_total{operation="list_applications",code="400"}\` | An application that is chosen by its id is missing; if it is refused, each discovery reads the whole list as well. Now: choose it by \`match\` | entities by id |
| nerdgraph-names | \`name IN\` finds whatever the list has under one of several names | I | as for \`domainId IN\` | An application that is chosen by its name is missing; if it is refused, each discovery reads the whole list as well. Now: choose it by \`match\` | entities by name; entities |
| nerdgraph-tags | Tags have a key and a list of values | D | labels of tags are empty | Labels of \`tags\` stay empty. Now: write \`labels\` instead | entities |
| nerdgraph-error-rate | \`errorRate\` of the summary is a share, not a percentage | U | none: it is not published | It can be published only as a percentage. Now: nothing | entities; histogram; groups of null |
| nerdgraph-numbers | \`appId IN (1)\` finds the application without quotes | U | no application has values; \`compare\`: \`only REST\` | No application has values. Now: stay with \`source: rest\` | calls; calls by id in quotes |
| nerdgraph-app-id | \`appId\` in a row is a number, or a text of digits | U | \`poll failed\`: \`schema\`: a row cannot be read | Every poll fails. Now: stay with \`source: rest\` | calls |
| nerdgraph-facets | Facets are a list in the order of the query, and members of the row | V | \`poll failed\`: \`schema\` | Polls of hosts fail. Now: stay with \`source: rest\` | values of its hosts |
| nerdgraph-sums | Answers state \`totalResult\` and \`otherResult\`, and rows and others add up | V of the members, I of the sum | \`poll failed\`: \`schema\`, with both sums | Every answer counts as incomplete. Now: stay with \`source: rest\` | values of the application; values of its hosts |
| nerdgraph-window | Half an hour of whole minutes is answered as it was asked for | D of longer ones; I | \`newrelic_exporter_unexpected_answers_total{kind="window"}\` | Values are those of another window, divided by its length. Now: choose a \`window\` of whole five minutes | calls |
| nerdgraph-nothing | \`filter(count)\` of nothing is 0, \`filter(average)\` of nothing is null | D, I | times of 0 that REST does not have | What is idle has no series, or a time of 0. Now: nothing | functions of nothing |
| nerdgraph-heartbeat | Each host has \`Agent/MetricsReported/count\` | U | \`newrelic_exporter_unexpected_answers_total{kind="no_heartbeat"}\`; \`compare\`: \`few hosts\` | A host without calls has no series. Now: stay with \`source: rest\` if that matters | values of its hosts |
| nerdgraph-length | A query of 4000 characters is accepted | U | \`too_large\`, or \`client\` | Many applications take more calls. Now: nothing | query of 4000 characters |
| nerdgraph-too-long | The refusal of a query that is too long is known as one | U | \`poll failed\`: \`client\` | A query that is refused is not divided. Now: fewer \`metrics\` | query of 8000 characters; query of 16000 characters; query of 32000 characters; query of 64000 characters |
| nerdgraph-too-many | More than 5000 rows are refused | D | none | Queries could be larger. Now: nothing | too many rows |
| query-percentile | \`percentile(x, 95)\` is an object with the member \`95\` | V | \`newrelic_exporter_invalid_samples_total\` | Gauges of percentiles are absent. Now: \`check-config --online\` shows what comes | percentile |
| query-percentile-member | \`percentile(x, 95)['95']\` is a number | C, doubted | \`newrelic_exporter_invalid_samples_total\` | A gauge of that has no value. Now: write \`percentile(x, 95)\` | member of a percentile |
| query-apdex | \`apdex(x, t: 0.5)\` is an object of numbers with \`score\` | V | \`newrelic_exporter_invalid_samples_total\` | A gauge of it has no value. Now: work it out with \`filter(count(*), …)\` | Apdex |
| query-histogram | \`histogram(x, 10, 5)\` is an object of numbers | C | \`newrelic_exporter_invalid_samples_total\` | None: no gauge can be made of it. Now: nothing | histogram |
| query-null | Rows without the attribute of a FACET are in no group | I | a series with an empty label | There is a series of what has no such attribute. Now: \`WHERE … IS NOT NULL\` | groups of null; histogram |
| query-total | The total of a query has only what has the facet | U | \`query failed\`: \`schema\`, with both sums | Queries with FACET fail where something lacks the attribute. Now: \`WHERE … IS NOT NULL\` | groups of null; histogram |
| query-syntax | A syntax error is known as a fault of the query | C of the words, U of the class | \`query failed\`: \`server\` | It is retried, and asked again and again. Now: correct the query | syntax error |
| query-event-types | \`SHOW EVENT TYPES\` lists \`eventType\` | D | \`check-config --online\` names no event types | \`check-config\` gives less advice. Now: nothing | event types |
| series-windows | \`TIMESERIES w SLIDE BY s\` takes milliseconds, and has each whole window of the range | D of the words; U | \`backfill\` fails: \`schema\`: the answer lacks minutes | The past cannot be fetched. Now: do without \`backfill\` | sliding windows |
| series-values | A window of TIMESERIES has the values of a query without it | I | a seam between past and present | The past differs from the present. Now: do without \`backfill\` | sliding windows; calls |
| series-most | 366 windows are accepted | C | \`backfill\` fails: \`client\` | The past cannot be fetched. Now: a larger \`--step\` | 366 buckets |
| series-past | Ten days ago there are values by the hour | D of REST | \`backfill\` has steps, or no values | The old past is coarser, or gone. Now: begin eight days ago | hours of ten days ago |
`,
  nerdgraphCalls,
  sees,
);

/** What else is only believed of NerdGraph: to ask it would take a busy account, another key, or luck. */
export const notAsked: readonly Fact[] = /* @__PURE__ */ factsOf(
  `
| account-text | The account in a search is a text | V | \`newrelic_exporter_unexpected_answers_total{kind="foreign_entity"}\`; no application at all | No application is found. Now: stay with \`source: rest\` |
| cursor-lifetime | A cursor stays valid while the pages are read | U | \`discovery failed\` for more than 200 applications | Lists of several pages are not complete. Now: choose applications by id |
| host-count | \`hostCount\` counts the hosts of an answer | I | \`too_large\`, which ends after a few polls | First polls take more calls. Now: nothing |
| summary-throughput | The throughput of the summary is that of REST | I | \`newrelic_application_summary_requests_per_minute\` steps at the switch | It changes with the switch. Now: use \`newrelic_application_requests_per_minute\` |
| quotes | A quote or a backslash is written with a backslash | V | \`client\`, or no values, for this metric or host alone | A metric with such a name has no values. Now: stay with \`source: rest\` |
| large-answers | A query of 5000 rows takes less than a minute, and none has more rows | D | \`too_large\`, or \`schema\` | Polls ask in smaller parts. Now: nothing |
| whole-answers | An answer whose sums agree has all that was asked for | I | \`newrelic_application_requests_per_minute\` ends while \`newrelic_application_summary_requests_per_minute\` is above 0; \`compare\`: \`only REST\` | Applications seem silent. Now: stay with \`source: rest\`, and report it |
| partial-answers | Messages and notices come with whole answers | V | the log line of a notice | None: the sums decide. Now: nothing |
| error-words | Refusals of a query are known by their words, such as \`Unknown function\`, \`execution resulted in 400\` and \`Validation error\` | C | \`query failed\`: \`server\` with such words | It is retried, and asked again and again. Now: correct the query |
| error-codes | \`NRDB:1106924\` and \`NRDB:1107005\` are limits of queries, \`NRDB:1101002\` is a time-out | C | \`throttled\` or \`too_large\` with such a code, and other words | The account pauses, or a query is divided, in vain. Now: nothing |
| error-field | \`An error occurred resolving this field\` says nothing of rights while the key sees the account | C, doubted | \`server\` with these words for good | A user without rights is told that New Relic fails. Now: give the user the right to query the account |
| facet-spelling | A facet is written alike in the list and in its member | I | other labels than before | Labels have another spelling. Now: nothing |
| columns | A column is in every row, and a number | V | \`newrelic_exporter_unexpected_answers_total{kind="row"}\`, or \`newrelic_exporter_invalid_samples_total\` | A value is left out, not its row. Now: nothing |
| regions | New Relic's table of metrics holds in every region | D | \`compare\`: \`differs\` or \`only REST\` for one metric everywhere | Values of that metric are wrong. Now: stay with \`source: rest\`, and report it |
| listed-metrics | Each metric in New Relic's list has values | U | a listed metric brings no series | None: there is nothing to show. Now: nothing |
| without-host | No calls are without a host | U | the sum of the hosts is less than the application; \`newrelic_exporter_unexpected_answers_total{kind="host_null"}\` | These calls are in the application alone. Now: nothing |
| host-ids | The \`host_id\` of REST is nowhere in NerdGraph | U | none | REST's ids are lost. Now: select by \`host_name\` |
| series-groups | LIMIT chooses the groups of a series once for the whole range | U | groups of a query that begin or end every six hours | The past of a query has gaps. Now: a larger LIMIT |
| series-rollups | The past is coarser by the hour alone | D of REST | \`backfill\` has steps of more than an hour | The old past is coarser. Now: nothing |
| refused-key | A refused key is a 401, or an error whose class or text says so | V | \`discovery failed\` with another reason than \`auth\` | A new key is read later. Now: nothing |
| limits | A reached limit is a 429, or an error of the class \`TOO_MANY_REQUESTS\` | D, V | \`server\` while New Relic is busy, and \`newrelic_exporter_api_throttled_total\` does not grow | It asks on at the same pace. Now: lower \`requests_per_minute\` |
| limit-headers | A 429 of NerdGraph says how long to wait | U | the log line of the pause has the time | It waits for a minute. Now: nothing |
`,
  [],
  {},
);
