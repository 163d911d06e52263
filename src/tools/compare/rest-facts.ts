import { dayMs, minuteMs } from '../../model/time.ts';
import { epochMsOf, type JsonObject, objectOf, windowEndMsOf } from '../../newrelic/answer.ts';
import { valueKeyOf } from '../../newrelic/nerdgraph/column-sets.ts';
import { cellOf, textOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { metricAnswerOf } from '../../newrelic/rest/metric-payload.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { metricsRequest } from '../../newrelic/rest/requests.ts';
import {
  type Answer,
  at,
  callsOf,
  each,
  type Fact,
  factsOf,
  idOf,
  listAt,
  numberIn,
  type See,
  type Seen,
  seen,
} from '../verify/fact.ts';
import {
  halfHourMs,
  nerdgraphCalls,
  noneTwice,
  presetColumns,
  presetSeries,
  refusedWith,
} from '../verify/nerdgraph-facts.ts';
import { verdictOf } from './compare-values.ts';

const window = 'from={to-30}&to={to}';
const values = '/{applicationId}/metrics/data.json';
const query = { series: presetSeries, window: undefined, raw: false };
/** What asks for the values of all presets. */
const presets = metricsRequest('0', undefined, query).target.replace(/^.*\?/u, '');
const unknownMetric = 'Verify/Nothing';

const restCalls = callsOf(
  `
| applications | .json |
| applications, other header | .json | other header |
| applications, second page | .json?page={page} |
| applications by id | .json?filter%5Bids%5D={applicationId}%2C{otherId}%2C1 |
| hosts | /{applicationId}/hosts.json |
| values | ${values}?${presets}&${window}&raw=true |
| rounded values | ${values}?${presets}&${window} |
| values of a host | /{applicationId}/hosts/{hostId}/metrics/data.json?${presets}&${window}&raw=true |
| values of its own window | ${values}?${presets} |
| values of one metric | ${values}?names%5B%5D=Apdex&values%5B%5D=score&summarize=true&${window} |
| an unknown metric | ${values}?names%5B%5D=HttpDispatcher&names%5B%5D=Verify%2FNothing&values%5B%5D=requests_per_minute&summarize=true&${window} |
| a minute | ${values}?${presets}&from={to-1}&to={to} |
| half a minute | ${values}?${presets}&from={to-0.5}&to={to} | may be refused |
| a day | ${values}?${presets}&from={to-1440}&to={to} |
`,
  'rest',
  (text) => ({ operation: 'query', target: `/v2/applications${text}`, answerSize: 'large' }),
);

function valuesIn(metric: JsonObject | undefined): JsonObject {
  const [slice] = listAt(metric, 'timeslices');
  return objectOf(slice?.['values']);
}

/** Calls per minute of the metrics that had any. */
function ratesIn({ items }: Answer): ReadonlyMap<unknown, number> {
  const rates = items.map((metric) => {
    const { requests_per_minute: rate } = valuesIn(metric);
    return [metric['name'], numberIn(rate)] as const;
  });
  return new Map(rates.filter(([, rate]) => rate > 0));
}

function rounded(rate: number): number {
  return Number(rate.toPrecision(3));
}

/** Whether the document and its slices state the window, and are one each; without data there is no slice. */
function windowSeen(lengthMs: number): See {
  return ({ document, items, asked: { toMs } }) => {
    const slices = items.map((metric) => listAt(metric, 'timeslices'));
    if (slices.some(({ length }) => length > 1)) return seen(false, 'several slices each');
    const stated = [at(document, 'metric_data'), ...slices.flat()].map(objectOf);
    return each(
      stated,
      ({ from, to }) => epochMsOf(from) === toMs - lengthMs && windowEndMsOf(to) === toMs,
    );
  };
}

const subject = { operation: 'application_metrics', accountId: undefined } as const;

const ignore = (): undefined => undefined;

/** Compares what both APIs say of all presets, of the application or of the host with this name. */
function compared(ofRest: Answer, ofNerdgraph: Answer, host?: string): Seen {
  const { toMs } = ofRest.asked;
  const asked = { series: presetSeries, window: { fromMs: toMs - halfHourMs, toMs }, raw: true };
  const document = objectOf(ofRest.document);
  const found = metricAnswerOf(document, asked, subject, ofRest.atMs, ignore).values;
  const set = presetColumns(host === undefined ? 'applications' : 'hosts');
  const row = ofNerdgraph.items.find((one) => one['host'] === host);
  const cells = set.columns.map(({ name }) => cellOf(at(row, name), ignore));
  const verdicts = presetSeries.flatMap((series, index) => {
    const { name, unit } = series.gauge;
    const column = set.values.find(({ key }) => key === valueKeyOf(series));
    const both = [found[index], column?.valueOf(cells, halfHourMs / 1000, ignore)];
    const [rest = [], nerdgraph = []] = both.map((value) => (value === undefined ? [] : [value]));
    const verdict = verdictOf({ rest, nerdgraph, raw: false, unit }) ?? 'idle';
    return verdict === 'idle' ? [] : [{ name, verdict }];
  });
  const wrong = verdicts.filter(({ verdict }) => verdict !== 'equal');
  const texts = wrong.map(({ verdict, name }) => `${name} ${verdict}`);
  const isSo = verdicts.length === 0 ? undefined : wrong.length === 0;
  return seen(isSo, `${verdicts.length} values; ${texts.join(', ') || 'all equal'}`);
}

/** Whether the list of hosts does not go on: then those that it lacks are not there. */
function isWhole({ headers }: Answer): boolean {
  return nextPageOf(headers['link'], 1) === undefined;
}

const sees: Readonly<Record<string, See>> = {
  'rest-pages': ({ items: { length }, headers }) => {
    const next = nextPageOf(headers['link'], 1);
    const isSo = next === undefined ? length <= 200 : next === 2 && length === 200;
    return seen(isSo, `${length} applications, ${next === undefined ? 'no' : 'a'} next page`);
  },
  'rest-order': noneTwice,
  'rest-silent': ({ items }) =>
    each(
      items.filter(({ reporting }) => reporting === false),
      (one) => listAt(one, 'links.application_hosts').length === 0,
    ),
  'rest-host-names': (list, hosts) => {
    const application = list.items.find((one) => idOf(one) === hosts.asked.applicationId);
    const ids = [at(application, 'links.application_hosts') ?? []].flat();
    const named = new Set(hosts.items.filter(({ host }) => textOf(host) !== '').map(idOf));
    if (!isWhole(hosts)) return seen(undefined, 'the list of hosts has several pages');
    return each(ids, (id) => named.has(idOf({ id })));
  },
  'rest-quota': ({ headers }) => {
    const named = Object.keys(headers).filter((name) => /rate-?limit|quota/iu.test(name));
    return seen(named.length === 0, `${named.length} headers`, named.join(', '));
  },
  'rest-whole': (together, { items: [alone] }) => {
    if (!Object.hasOwn(valuesIn(alone), 'score')) return seen(undefined, 'no Apdex');
    const same = together.items.find(({ name }) => name === alone?.['name']);
    const hasAll = Object.hasOwn(valuesIn(same), 'score');
    return seen(hasAll, hasAll ? 'whole' : 'the first only');
  },
  'rest-raw': (answer) => {
    const rates = [...ratesIn(answer).values()];
    const exact = rates.filter((rate) => rate !== rounded(rate)).length;
    if (exact === 0 && rates.length < 3) return seen(undefined, 'too few calls');
    return seen(exact > 0, `${exact} of ${rates.length} have more than three digits`);
  },
  'rest-rounding': (exact, answer) => {
    const shown = ratesIn(answer);
    return each([...ratesIn(exact)], ([name, rate]) => shown.get(name) === rounded(rate));
  },
  'rest-window': windowSeen(halfHourMs),
  'rest-shortest': windowSeen(minuteMs),
  'rest-too-short': refusedWith([422], false),
  'rest-longest': windowSeen(dayMs),
  'rest-not-found': ({ document, items }) => {
    const missing = at(document, 'metric_data.metrics_not_found');
    const isNamed = Array.isArray(missing) && missing.includes(unknownMetric);
    const isSo = isNamed && items.every(({ name }) => name !== unknownMetric);
    return seen(isSo, `${items.length} found`);
  },
  'rest-own-window': ({ items: [metric], headers, atMs }) => {
    const toMs = windowEndMsOf(listAt(metric, 'timeslices')[0]?.['to']);
    if (toMs === undefined) return seen(undefined, 'no values');
    const dateMs = Date.parse(textOf(headers['date']));
    const minutes = ((Number.isNaN(dateMs) ? atMs : dateMs) - toMs) / minuteMs;
    return seen(minutes > 1 && minutes < 6, `it ended ${minutes.toFixed(1)} minutes before`);
  },
  'both-values': (ofRest, ofNerdgraph) => compared(ofRest, ofNerdgraph),
  'both-host-values': (ofRest, ofNerdgraph, hosts) => {
    const host = hosts.items.find((one) => idOf(one) === ofRest.asked.hostId)?.['host'];
    const isOnly = hosts.items.filter((one) => one['host'] === host).length === 1;
    if (typeof host !== 'string' || !isOnly) return seen(undefined, 'no name of its own');
    return compared(ofRest, ofNerdgraph, host);
  },
  'both-host-names': (hosts, { items }) => {
    const names = new Set(hosts.items.map(({ host }) => host));
    const namesAll = isWhole(hosts) && names.size >= items.length;
    if (!namesAll) return seen(undefined, 'REST does not name all');
    return each(items, ({ host }) => names.has(host));
  },
};

/** What the exporter believes of the REST API, and of both together, in the order of reports. */
export const restFacts: readonly Fact[] = factsOf(
  `
| rest-key-header | REST takes a user key in \`Api-Key\` and in \`X-Api-Key\` | D | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is | applications, other header; applications |
| rest-date | An answer of REST has a header \`Date\` | C | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` | applications |
| rest-pages | A page has 200 applications, and \`Link\` names the next one | D | \`discovery failed\`: \`schema\` | Applications of later pages are not found. Now: choose applications by id | applications |
| rest-order | No application is on two pages | U | applications come and go | A list of several pages may lack some. Now: choose applications by id | applications; applications, second page |
| rest-ids | \`filter[ids]\` takes several ids, and leaves out an unknown one | V of several, U of unknown | \`newrelic_exporter_app_missing\` | Entries by id miss applications. Now: choose them by name | applications by id |
| rest-silent | An application that does not report has no hosts | C | series of hosts that ended | Hosts that are gone take calls. Now: nothing | applications |
| rest-host-names | \`hosts.json\` has a name for each listed host | D | \`host_name\` is the id | Some hosts show their id. Now: nothing | applications; hosts |
| rest-quota | Good answers have no header about the quota | D | none | The budget could follow New Relic's numbers. Now: nothing; please report it | applications |
| rest-whole | An answer about several metrics has the values of all | D says that it may not | \`newrelic_exporter_unexpected_answers_total{kind="values_missing"}\` | Each kind of metric takes a call of its own. Now: fewer \`metrics\`, or \`source: nerdgraph\` | rounded values; values of one metric |
| rest-raw | With \`raw=true\` nothing is rounded | V | \`compare\`: \`differs\` with \`raw: true\` | \`raw: true\` does nothing. Now: leave it out | values |
| rest-rounding | Values have three significant digits | C | \`compare\`: \`differs\` by little | \`compare\` finds differences that are none. Now: compare with \`raw: true\` | values; rounded values |
| rest-window | A window of whole minutes is answered as it was asked for, in one slice | C | \`poll failed\`: \`schema\`: another window | Polls fail. Now: \`window: default\` | rounded values |
| rest-shortest | A window of a minute is accepted | D | \`poll failed\`: \`client\` | \`window: 1m\` fails. Now: a longer \`window\` | a minute |
| rest-too-short | Less than a minute is refused with 422 | D | none: it is not asked | None. Now: nothing | half a minute |
| rest-longest | A window of a day is accepted | D | \`poll failed\`: \`client\` | Long windows fail. Now: a shorter \`window\` | a day |
| rest-not-found | An unknown metric is in \`metrics_not_found\`, beside values of others | D | \`poll failed\`: \`schema\` | A misspelt metric takes all others with it. Now: look at \`metrics\` of the configuration | an unknown metric |
| rest-own-window | New Relic's own window ended 1 to 6 minutes before | C | \`newrelic_application_window_end_timestamp_seconds\` | Values are later than they seem. Now: write a \`window\` | values of its own window |
| both-values | All presets of an application are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it | values; values of the application |
| both-host-values | All presets of a host are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it | values of a host; values of its hosts; hosts |
| both-host-names | NerdGraph's hosts have the names that REST lists | U | \`compare\`: \`only REST\` and \`only NerdGraph\` in pairs | \`host_name\` changes with the switch. Now: adapt what selects by it | hosts; values of its hosts |
`,
  [...restCalls, ...nerdgraphCalls],
  sees,
);
