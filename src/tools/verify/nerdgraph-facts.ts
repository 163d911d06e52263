import { transactionTypes } from '../../model/application.ts';
import { seriesOf } from '../../model/polled-series.ts';
import { presetNames } from '../../model/presets.ts';
import { dayMs, hourMs, minuteMs } from '../../model/time.ts';
import type { TimeWindow } from '../../model/window.ts';
import { entityIdOf, isJsonObject, type JsonObject } from '../../newrelic/answer.ts';
import type { ApiRequest } from '../../newrelic/calls/transport.ts';
import { columnsOf, maxNrqlCharacters } from '../../newrelic/nerdgraph/column-sets.ts';
import { nrqlDocument, taggedEntitiesDocument } from '../../newrelic/nerdgraph/graphql-client.ts';
import {
  applicationFacets,
  type Facets,
  hostFacets,
  type MetricQuestion,
  maxRows,
  metricsNrql,
} from '../../newrelic/nerdgraph/nrql.ts';
import {
  type Answer,
  type Asked,
  at,
  type Call,
  type Check,
  check,
  type Fact,
  factsOf,
  listAt,
  type Need,
  partOf,
  refusalOf,
  rowsOf,
  type Seen,
  seen,
  unclear,
} from './fact.ts';

function posted(query: string, variables: JsonObject): ApiRequest {
  const body = JSON.stringify({ query, variables });
  return { operation: 'query', target: '/graphql', body, answerSize: 'large' };
}

function nrql(name: string, text: (asked: Asked) => string): Call {
  const request = (asked: Asked): ApiRequest => {
    const { accountId, timeoutSeconds: timeout } = asked;
    return posted(nrqlDocument, { account: Number(accountId), nrql: text(asked), timeout });
  };
  return { name, api: 'nerdgraph', needs: ['accountId', 'applicationId'], request };
}

function entities(name: string, needs: readonly Need[], filter: (asked: Asked) => string): Call {
  const document = taggedEntitiesDocument.replace('throughput', 'throughput errorRate');
  const request = (asked: Asked): ApiRequest => {
    const search = `domain = 'APM' AND type = 'APPLICATION' AND accountId = '${asked.accountId}'`;
    const cursor = needs.includes('cursor') ? asked.cursor : null;
    return posted(document, { search: `${search}${filter(asked)}`, cursor });
  };
  return { name, api: 'nerdgraph', needs: ['accountId', ...needs], request };
}

/** An id that nothing has. */
export const unknownId = '1';

export const entityList: Call = entities('entities', [], () => '');
const otherHeader: Call = { ...entityList, name: 'entities, other header', otherHeader: true };
const secondPage = entities('entities, second page', ['cursor'], () => '');
const byIds = entities(
  'entities by id',
  ['applicationId', 'otherId'],
  (asked) => ` AND domainId IN ('${asked.applicationId}','${asked.otherId}','${unknownId}')`,
);
const accounts: Call = {
  name: 'accounts',
  api: 'nerdgraph',
  needs: ['accountId'],
  request: () => posted('{ actor { accounts { id name } } }', {}),
};

const presetSeries = seriesOf(presetNames, transactionTypes);

/** What a poll with all presets asks about one application. */
export function presetsQuestion({ applicationId, window }: Asked, facets: Facets): MetricQuestion {
  const [set] = columnsOf(presetSeries, facets.length > 1 ? 'hosts' : 'applications');
  return { applicationIds: [applicationId], window, facets, columns: set?.columns ?? [] };
}

export const applicationRows: Call = nrql('values of the application', (asked) =>
  metricsNrql(presetsQuestion(asked, applicationFacets)),
);
export const hostRows: Call = nrql('values of its hosts', (asked) =>
  metricsNrql(presetsQuestion(asked, hostFacets)),
);

const count = 'count(newrelic.timeslice.value)';

interface Counting {
  readonly id?: string;
  readonly select?: string;
  readonly where?: string;
  readonly limit?: number;
  readonly window?: TimeWindow;
}

/** The calls of the application's transactions. */
function counted(asked: Asked, more: Counting = {}): string {
  const { id = asked.applicationId, select = '', where = '', limit = 10 } = more;
  const { fromMs, toMs } = more.window ?? asked.window;
  const metrics = "metricTimesliceName IN ('HttpDispatcher','OtherTransaction/all')";
  return `SELECT ${count} AS calls${select} FROM Metric WHERE appId IN (${id}) AND ${metrics}${where} FACET appId LIMIT ${limit} SINCE ${fromMs} UNTIL ${toMs}`;
}

const plain = nrql('calls', counted);
const quotedId = nrql('calls by id in quotes', (asked) =>
  counted(asked, { id: `'${asked.applicationId}'` }),
);
const ofNothing = "WHERE metricTimesliceName = 'Verify/Nothing'";
const nothing = nrql('functions of nothing', (asked) =>
  counted(asked, {
    select: `, filter(${count}, ${ofNothing}) AS none, filter(average(newrelic.timeslice.value), ${ofNothing}) AS noTime`,
  }),
);
const tooManyRows = nrql('too many rows', (asked) => counted(asked, { limit: maxRows + 1 }));

/** A query made as long as that with a comment. */
function longQuery(characters: number): Call {
  return nrql(`query of ${characters} characters`, (asked) => {
    const text = counted(asked);
    return `${text} /*${'-'.repeat(characters - text.length - 5)}*/`;
  });
}

const longest = longQuery(maxNrqlCharacters);
const longerQueries = [8000, 16_000, 32_000, 64_000].map(longQuery);

function transactions(name: string, select: string, facet = ''): Call {
  return nrql(name, ({ applicationId, window: { fromMs, toMs } }) => {
    return `SELECT count(*) AS calls, ${select} AS value FROM Transaction WHERE appId = ${applicationId}${facet} SINCE ${fromMs} UNTIL ${toMs}`;
  });
}

const eventTypes = nrql('event types', () => 'SHOW EVENT TYPES SINCE 1 day ago');
const slideMs = 5 * minuteMs;
const slides = 6;
const mostBuckets = 366;

/** Windows of a length, each a step after the one before; the last one ends when `toMs` is. */
function series(name: string, windows: number, lengthMs: number, stepMs: number, agoMs = 0): Call {
  return nrql(name, (asked) => {
    const toMs = Math.floor((asked.window.toMs - agoMs) / stepMs) * stepMs;
    const window = { fromMs: toMs - lengthMs - (windows - 1) * stepMs, toMs };
    return `${counted(asked, { window })} TIMESERIES ${lengthMs} SLIDE BY ${stepMs}`;
  });
}

const slide = series('sliding windows', slides, 6 * slideMs, slideMs);
const bucketsAtMost = series(`${mostBuckets} buckets`, mostBuckets, minuteMs, minuteMs);
const hoursAgo = series('hours of ten days ago', 24, hourMs, hourMs, 10 * dayMs);
const percentile = transactions('percentile', 'percentile(duration, 95)');
const ofMember = transactions('member of a percentile', "percentile(duration, 95)['95']");
const apdex = transactions('Apdex', 'apdex(duration, t: 0.5)');
const histogram = transactions('histogram', 'histogram(duration, 10, 5)');
const nullFacet = transactions('groups of null', 'uniqueCount(host)', ' FACET error.class');

/** Whether the key is accepted in either header. */
export function keyAccepted([usual, other]: readonly Answer[]): Seen {
  if (usual === undefined || usual.status >= 400)
    return unclear('the configured header is refused');
  const isAccepted = other !== undefined && other.status < 400;
  return seen(isAccepted, isAccepted || other === undefined ? 'in both' : refusalOf(other));
}

export function dated([answer]: readonly Answer[]): Seen {
  const dateMs = Date.parse(String(answer?.headers['date'] ?? ''));
  const aheadSeconds = Math.round(((answer?.atMs ?? 0) - dateMs) / 1000);
  const isDated = !Number.isNaN(dateMs);
  return seen(isDated, isDated ? `the clock here is ahead by ${aheadSeconds} s` : 'no Date');
}

function entitiesIn(answer: Answer | undefined): readonly JsonObject[] {
  return listAt(partOf(answer), 'results', 'entities');
}

function idOf({ applicationId }: JsonObject): string {
  return entityIdOf(applicationId) ?? '';
}

/** Types without what is said: the values may be anybody's. */
function shapeOf(value: unknown): string {
  if (value === null || !isJsonObject(value)) return value === null ? 'null' : typeof value;
  const members = Object.entries(value).map(([name, member]) => `${name}: ${shapeOf(member)}`);
  return `{ ${members.slice(0, 6).join(', ')} }`;
}

function valueSeen(call: Call, isExpected: (value: unknown) => boolean): Check {
  return check([call], ([answer]) => {
    const [row] = rowsOf(answer);
    if (row === undefined || row['calls'] === 0) return unclear('no transactions');
    return seen(isExpected(row['value']), `a row is ${shapeOf(row)}`);
  });
}

function isOfNumbers(value: unknown, member?: string): boolean {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  const isNamed = member === undefined || members.some(([name]) => name === member);
  return members.length > 0 && isNamed && members.every(([, one]) => typeof one === 'number');
}

function addsUp(answer: Answer | undefined): boolean {
  const others = Number(at(partOf(answer), 'otherResult', 'calls'));
  const sum = rowsOf(answer).reduce((all, row) => all + Number(row['calls']), others);
  return sum === at(partOf(answer), 'totalResult', 'calls');
}

/** How far an answer has moved the ends of its window. */
function movedSeen(answer: Answer | undefined, window: TimeWindow, mostMs: number): Seen {
  const stated = at(partOf(answer), 'metadata', 'timeWindow');
  const byMs = [
    Number(at(stated, 'begin')) - window.fromMs,
    Number(at(stated, 'end')) - window.toMs,
  ];
  const isNear = byMs.every((ms) => Math.abs(ms) <= mostMs);
  return seen(isNear, `moved by ${byMs.map((ms) => `${ms / 1000} s`).join(' and ')}`);
}

function callsIn(answer: Answer | undefined): unknown {
  return rowsOf(answer).at(-1)?.['calls'];
}

const checks: Readonly<Record<string, Check>> = {
  'nerdgraph-key-header': check([entityList, otherHeader], keyAccepted, true),
  'nerdgraph-date': check([entityList], dated),
  'nerdgraph-account': check([accounts], ([answer], { accountId }) => {
    const visible = listAt(at(answer?.document, 'data', 'actor', 'accounts'));
    return seen(
      visible.some(({ id }) => String(id) === accountId),
      `${visible.length} are seen`,
    );
  }),
  'nerdgraph-count': check([entityList], ([answer]) => {
    const [listed, counted] = [entitiesIn(answer).length, Number(partOf(answer)['count'])];
    const isLast = at(partOf(answer), 'results', 'nextCursor') === null;
    const isSo = isLast ? listed === counted : listed === 200 && counted > 200;
    return seen(isSo, `${listed} on the ${isLast ? 'only' : 'first'} page of ${counted}`);
  }),
  'nerdgraph-order': check([entityList], ([answer]) => {
    const names = entitiesIn(answer).map(({ name }) => String(name));
    const lowerCase = names.map((name) => name.toLowerCase());
    const isSorted = [names, lowerCase].some((all) => all.join() === all.toSorted().join());
    return seen(isSorted, isSorted ? 'sorted' : 'not sorted');
  }),
  'nerdgraph-cursor': check([entityList, secondPage], ([first, second]) => {
    const guids = [first, second].flatMap(entitiesIn).map(({ guid }) => guid);
    const again = guids.length - new Set(guids).size;
    return seen(again === 0, `${again} entities of the first page are on the second`);
  }),
  'nerdgraph-ids': check([byIds], ([answer], { applicationId, otherId }) => {
    const isSo =
      entitiesIn(answer).map(idOf).toSorted().join() === [applicationId, otherId].toSorted().join();
    return seen(isSo, `${entitiesIn(answer).length} entities`);
  }),
  'nerdgraph-tags': check([entityList], ([answer]) => {
    const tags = entitiesIn(answer).flatMap((entity) => listAt(entity, 'tags'));
    const isSo = tags.every(({ key, values }) => typeof key === 'string' && Array.isArray(values));
    return tags.length === 0 ? unclear('no tags') : seen(isSo, `${tags.length} tags`);
  }),
  'nerdgraph-error-rate': check([entityList, plain, nullFacet], ([list, all, bad], asked) => {
    const entity = entitiesIn(list).find((one) => idOf(one) === asked.applicationId);
    const failed = rowsOf(bad).reduce((sum, { calls }) => sum + Number(calls), 0);
    const times = Number(at(entity, 'apmSummary', 'errorRate')) / (failed / Number(callsIn(all)));
    if (!(times > 0 && times < Infinity)) return unclear('no errors');
    // Not of the same minutes: only the order of magnitude tells.
    return seen(times < 10, times < 10 ? 'a share' : 'a percentage');
  }),
  'nerdgraph-numbers': check([plain, quotedId], ([bare, quoted]) =>
    rowsOf(bare).length + rowsOf(quoted).length === 0
      ? unclear('no calls')
      : seen(rowsOf(bare).length === 1, rowsOf(bare).length === 1 ? 'found' : 'only in quotes'),
  ),
  'nerdgraph-app-id': check([plain], ([answer]) => {
    const [row] = rowsOf(answer);
    if (row === undefined) return unclear('no calls');
    return seen(entityIdOf(row['appId']) !== undefined, `a ${shapeOf(row['appId'])}`);
  }),
  'nerdgraph-facets': check([hostRows], ([answer]) => {
    const rows = rowsOf(answer);
    const isSo = rows.every(
      ({ facet, appId, host }) => at(facet, 0) === appId && at(facet, 1) === host,
    );
    return rows.length === 0 ? unclear('no hosts') : seen(isSo, `a row is ${shapeOf(rows[0])}`);
  }),
  'nerdgraph-sums': check([applicationRows, hostRows], (answers) =>
    seen(answers.every(addsUp), answers.map((one) => (addsUp(one) ? 'right' : 'wrong')).join()),
  ),
  'nerdgraph-window': check([plain], ([answer], { window }) => movedSeen(answer, window, 0)),
  'nerdgraph-nothing': check([nothing], ([answer]) => {
    const [row] = rowsOf(answer);
    if (row === undefined) return unclear('no calls');
    return seen(row['none'] === 0 && row['noTime'] === null, `a row is ${shapeOf(row)}`);
  }),
  'nerdgraph-heartbeat': check([hostRows], ([answer]) => {
    const rows = rowsOf(answer);
    const silent = rows.filter(({ live }) => !(Number(live) > 0)).length;
    return rows.length === 0
      ? unclear('no hosts')
      : seen(silent === 0, `${silent} of ${rows.length} lack it`);
  }),
  'nerdgraph-length': check([longest], () => seen(true, 'accepted')),
  'nerdgraph-too-long': check(
    longerQueries,
    (answers) => {
      const refused = answers.find(({ status }) => status >= 400);
      if (refused === undefined) return unclear('64,000 characters are accepted');
      const accepted = answers.filter(({ status }) => status < 400).length;
      return seen(
        refused.status === 413,
        `${accepted} of ${answers.length} accepted, then ${refusalOf(refused)}`,
      );
    },
    true,
  ),
  'nerdgraph-too-many': check([tooManyRows], refused, true),
  'query-percentile': valueSeen(percentile, (value) => isOfNumbers(value, '95')),
  'query-percentile-member': valueSeen(ofMember, (value) => typeof value === 'number'),
  'query-apdex': valueSeen(apdex, (value) => isOfNumbers(value, 'score')),
  'query-histogram': valueSeen(histogram, (value) => isOfNumbers(value)),
  'query-null': check([nullFacet], ([answer]) => {
    const odd = rowsOf(answer).filter(
      ({ facet }) => facet === null || /^(?:null)?$/iu.test(String(facet)),
    );
    return seen(odd.length === 0, `${odd.length} of ${rowsOf(answer).length} groups`);
  }),
  'query-event-types': check([eventTypes], ([answer]) => {
    const isSo = rowsOf(answer).every(({ eventType }) => typeof eventType === 'string');
    return rowsOf(answer).length === 0
      ? unclear('no data')
      : seen(isSo, `${rowsOf(answer).length} types`);
  }),
  'series-windows': check([slide], ([answer], { window }) => {
    const ends = rowsOf(answer).map(({ endTimeSeconds: end }) => Number(end) * 1000);
    const starts = rowsOf(answer).map(({ beginTimeSeconds: begin }) => Number(begin) * 1000);
    if (ends.length === 0) return unclear('no calls');
    const isSo = Array.from(
      { length: slides },
      (_, index) => window.toMs - (slides - 1 - index) * slideMs,
    ).every((endMs, index) => ends[index] === endMs && starts[index] === endMs - slides * slideMs);
    return seen(isSo && ends.length === slides, `${ends.length} windows`);
  }),
  'series-values': check([slide, plain], ([answer, usual]) => {
    if (callsIn(usual) === undefined) return unclear('no calls');
    const isSo = callsIn(answer) === callsIn(usual);
    return seen(isSo, isSo ? 'the same' : 'others');
  }),
  'series-most': check([bucketsAtMost], () => seen(true, 'accepted')),
  'series-past': check([hoursAgo], ([answer]) => {
    const rows = rowsOf(answer);
    const hours = rows.filter(
      (row) => Number(row['endTimeSeconds']) - Number(row['beginTimeSeconds']) === 3600,
    );
    return rows.length === 0
      ? unclear('no calls')
      : seen(
          hours.length === 24 && rows.length === 24,
          `${rows.length} windows, ${hours.length} of them an hour`,
        );
  }),
};

function refused([answer]: readonly Answer[]): Seen {
  const isRefused = answer?.status === 400 || answer?.status === 413;
  return seen(isRefused, isRefused && answer !== undefined ? refusalOf(answer) : 'accepted');
}

/** What the exporter believes of NerdGraph, in the order of reports. */
export const nerdgraphFacts: readonly Fact[] = factsOf(
  `
| nerdgraph-key-header | NerdGraph takes the key in \`Api-Key\` and in \`X-Api-Key\` | D of REST, I | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is |
| nerdgraph-date | An answer of NerdGraph has a header \`Date\` | I | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` |
| nerdgraph-account | The key sees the account in this region | D | \`discovery failed\`: \`auth\` | Nothing can be polled with NerdGraph. Now: correct \`account_id\` or \`region\` (\`check-config --online\` helps) |
| nerdgraph-count | A page has 200 entities, and \`count\` is the number on all pages | D; exactly: U | \`discovery failed\`: \`schema\`, with both numbers | Each discovery counts as incomplete, and nothing ends that is gone. Now: stay with \`source: rest\` |
| nerdgraph-order | Entities come in the order of their names | V | none | A list of several pages may skip one. Now: nothing, the next list finds it |
| nerdgraph-cursor | A cursor leads to other entities | D; lifetime: U | \`discovery failed\` for more than 200 applications | Lists of several pages are not complete. Now: choose applications by id |
| nerdgraph-ids | \`domainId IN\` finds several ids, and leaves out an unknown one | I | \`newrelic_exporter_unexpected_answers_total{kind="filter_refused"}\` | Each discovery reads the whole list. Now: nothing |
| nerdgraph-tags | Tags have a key and a list of values | D | labels of tags are empty | Labels of \`tags\` stay empty. Now: write \`labels\` instead |
| nerdgraph-error-rate | \`errorRate\` of the summary is a share, not a percentage | U | none: it is not published | It can be published only as a percentage. Now: nothing |
| nerdgraph-numbers | \`appId IN (1)\` finds the application without quotes | U | no application has values; \`compare\`: \`only REST\` | No application has values. Now: stay with \`source: rest\` |
| nerdgraph-app-id | \`appId\` in a row is a number, or a text of digits | U | \`poll failed\`: \`schema\`: a row cannot be read | Every poll fails. Now: stay with \`source: rest\` |
| nerdgraph-facets | Facets are a list in the order of the query, and members of the row | V | \`poll failed\`: \`schema\` | Polls of hosts fail. Now: stay with \`source: rest\` |
| nerdgraph-sums | Answers state \`totalResult\` and \`otherResult\`, and rows and others add up | V of the members, I of the sum | \`poll failed\`: \`schema\`, with both sums | Every answer counts as incomplete. Now: stay with \`source: rest\` |
| nerdgraph-window | Half an hour of whole minutes is answered as it was asked for | D of longer ones; I | \`newrelic_exporter_unexpected_answers_total{kind="window"}\` | Values are those of another window, divided by its length. Now: choose a \`window\` of whole five minutes |
| nerdgraph-nothing | \`filter(count)\` of nothing is 0, \`filter(average)\` of nothing is null | D, I | times of 0 that REST does not have | What is idle has no series, or a time of 0. Now: nothing |
| nerdgraph-heartbeat | Each host has \`Agent/MetricsReported/count\` | U | \`newrelic_exporter_unexpected_answers_total{kind="no_heartbeat"}\`; \`compare\`: \`few hosts\` | A host without calls has no series. Now: stay with \`source: rest\` if that matters |
| nerdgraph-length | A query of 4000 characters is accepted | U | \`too_large\`, or \`client\` | Many applications take more calls. Now: nothing |
| nerdgraph-too-long | The refusal of a query that is too long is known as one | U | \`poll failed\`: \`client\` | A query that is refused is not divided. Now: fewer \`metrics\` |
| nerdgraph-too-many | More than 5000 rows are refused | D | none | Queries could be larger. Now: nothing |
| query-percentile | \`percentile(x, 95)\` is an object with the member \`95\` | V | \`newrelic_exporter_invalid_samples_total\` | Gauges of percentiles are absent. Now: \`check-config --online\` shows what comes |
| query-percentile-member | \`percentile(x, 95)['95']\` is a number | C, doubted | \`newrelic_exporter_invalid_samples_total\` | A gauge of that has no value. Now: write \`percentile(x, 95)\` |
| query-apdex | \`apdex(x, t: 0.5)\` is an object of numbers with \`score\` | V | \`newrelic_exporter_invalid_samples_total\` | A gauge of it has no value. Now: work it out with \`filter(count(*), …)\` |
| query-histogram | \`histogram(x, 10, 5)\` is an object of numbers | C | \`newrelic_exporter_invalid_samples_total\` | None: no gauge can be made of it. Now: nothing |
| query-null | Rows without the attribute of a FACET are in no group | I | a series with an empty label | There is a series of what has no such attribute. Now: \`WHERE … IS NOT NULL\` |
| query-event-types | \`SHOW EVENT TYPES\` lists \`eventType\` | D | \`check-config --online\` names no event types | \`check-config\` gives less advice. Now: nothing |
| series-windows | \`TIMESERIES w SLIDE BY s\` takes milliseconds, and has each whole window of the range | D of the words; U | \`backfill\` fails: \`schema\`: the answer lacks minutes | The past cannot be fetched. Now: do without \`backfill\` |
| series-values | A window of TIMESERIES has the values of a query without it | I | a seam between past and present | The past differs from the present. Now: do without \`backfill\` |
| series-most | 366 windows are accepted | C | \`backfill\` fails: \`client\` | The past cannot be fetched. Now: a larger \`--step\` |
| series-past | Ten days ago there are values by the hour | D of REST | \`backfill\` has steps, or no values | The old past is coarser, or gone. Now: begin eight days ago |
`,
  checks,
);

/** What else is only believed of NerdGraph: to ask it would take a busy account, another key, or luck. */
export const notAsked: readonly Fact[] = factsOf(
  `
| account-text | The account in a search is a text | V | \`newrelic_exporter_unexpected_answers_total{kind="foreign_entity"}\`; no application at all | No application is found. Now: stay with \`source: rest\` |
| cursor-lifetime | A cursor stays valid while the pages are read | U | \`discovery failed\` for more than 200 applications | Lists of several pages are not complete. Now: choose applications by id |
| host-count | \`hostCount\` counts the hosts of an answer | I | \`too_large\`, which ends after a few polls | First polls take more calls. Now: nothing |
| summary-throughput | The throughput of the summary is that of REST | I | \`newrelic_application_summary_requests_per_minute\` steps at the switch | It changes with the switch. Now: use \`newrelic_application_requests_per_minute\` |
| quotes | A quote or a backslash is written with a backslash | V | \`client\`, or no values, for this metric or host alone | A metric with such a name has no values. Now: stay with \`source: rest\` |
| large-answers | A query of 5000 rows takes less than a minute, and none has more rows | D | \`too_large\`, or \`schema\` | Polls ask in smaller parts. Now: nothing |
| whole-answers | An answer whose sums agree has all that was asked for | I | \`newrelic_application_requests_per_minute\` ends while \`newrelic_application_summary_requests_per_minute\` is above 0; \`compare\`: \`only REST\` | Applications seem silent. Now: stay with \`source: rest\`, and report it |
| partial-answers | Messages and notices come with whole answers | V | \`newrelic_exporter_unexpected_answers_total{kind="partial"}\` | None: the sums decide. Now: nothing |
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
  {},
);
