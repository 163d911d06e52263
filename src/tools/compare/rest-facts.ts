import { transactionTypes } from '../../model/application.ts';
import { type PolledSeries, seriesOf } from '../../model/polled-series.ts';
import { presetNames } from '../../model/presets.ts';
import { dayMs, minuteMs } from '../../model/time.ts';
import type { TimeWindow } from '../../model/window.ts';
import {
  entityIdOf,
  epochMsOf,
  isJsonObject,
  type JsonObject,
  windowEndMsOf,
} from '../../newrelic/answer.ts';
import { columnsOf, valueKeyOf } from '../../newrelic/nerdgraph/column-sets.ts';
import { applicationFacets, hostFacets } from '../../newrelic/nerdgraph/nrql.ts';
import { nrqlAnswerOf } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { metricAnswerOf } from '../../newrelic/rest/metric-payload.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { applicationsRequest, hostsRequest, metricsRequest } from '../../newrelic/rest/requests.ts';
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
} from '../verify/fact.ts';
import {
  applicationRows,
  dated,
  hostRows,
  keyAccepted,
  presetsQuestion,
  unknownId,
} from '../verify/nerdgraph-facts.ts';
import { verdictOf } from './compare-values.ts';

function rest(name: string, needs: readonly Need[], request: Call['request']): Call {
  return { name, api: 'rest', needs, request };
}

export const applicationList: Call = rest('applications', [], () =>
  applicationsRequest(undefined, 1),
);
const otherHeader: Call = {
  ...applicationList,
  name: 'applications, other header',
  otherHeader: true,
};
const secondPage = rest('applications, second page', ['page'], ({ page }) =>
  applicationsRequest(undefined, Number(page)),
);
const byIds = rest('applications by id', ['applicationId', 'otherId'], (asked) =>
  applicationsRequest([asked.applicationId, asked.otherId, unknownId], 1),
);
const hosts = rest('hosts', ['applicationId'], ({ applicationId }) =>
  hostsRequest(applicationId, 1),
);

const presetSeries = seriesOf(presetNames, transactionTypes);

interface Wanted {
  readonly series?: readonly PolledSeries[];
  readonly window?: TimeWindow;
  readonly raw?: boolean;
}

/** Values of the application, or of its host. */
function values(name: string, wantedOf: (asked: Asked) => Wanted, ofHost = false): Call {
  const needs = ['applicationId', ...(ofHost ? (['hostId'] as const) : [])] as const;
  return rest(name, needs, (asked) => {
    const { series = presetSeries, window, raw = false } = wantedOf(asked);
    const hostId = ofHost ? asked.hostId : undefined;
    return metricsRequest(asked.applicationId, hostId, { series, window, raw });
  });
}

function lasting(lengthMs: number): Call['request'] {
  return ({ applicationId, window: { toMs } }) => {
    const query = { series: presetSeries, window: { fromMs: toMs - lengthMs, toMs }, raw: false };
    return metricsRequest(applicationId, undefined, query);
  };
}

const raw = values('values', ({ window }) => ({ window, raw: true }));
const rounded = values('rounded values', ({ window }) => ({ window }));
const ofHost = values('values of a host', ({ window }) => ({ window, raw: true }), true);
const ownWindow = values('values of its own window', () => ({}));
const apdexAlone = values('values of one metric', ({ window }) => {
  return { window, series: presetSeries.filter(({ preset }) => preset === 'apdex') };
});
const unknownMetric = 'Verify/Nothing';
const ofUnknown = values('an unknown metric', ({ window }) => {
  const [first] = presetSeries;
  return {
    window,
    series: first === undefined ? [] : [first, { ...first, metric: unknownMetric }],
  };
});
const minute = rest('a minute', ['applicationId'], lasting(minuteMs));
const day = rest('a day', ['applicationId'], lasting(dayMs));
const halfMinute = rest('half a minute', ['applicationId'], (asked) => {
  const { target, ...request } = lasting(minuteMs)(asked);
  const half = new URL(target, 'http://localhost');
  half.searchParams.set('from', new Date(asked.window.toMs - minuteMs / 2).toISOString());
  return { ...request, target: `${half.pathname}${half.search}` };
});

function idsIn(answer: Answer | undefined, list: string): readonly string[] {
  return listAt(answer?.document, list).map(({ id }) => entityIdOf(id) ?? '');
}

function metricsIn(answer: Answer | undefined): readonly JsonObject[] {
  return listAt(answer?.document, 'metric_data', 'metrics');
}

function valuesIn(metric: JsonObject | undefined): JsonObject {
  const found = at(metric, 'timeslices', 0, 'values');
  return isJsonObject(found) ? found : {};
}

/** Calls per minute of the metrics that had any. */
function ratesIn(answer: Answer | undefined): readonly (readonly [name: unknown, rate: number])[] {
  const rates = metricsIn(answer).map(
    (metric) => [metric['name'], Number(valuesIn(metric)['requests_per_minute'])] as const,
  );
  return rates.filter(([, rate]) => rate > 0);
}

/** Whether the document and its slices state the window, and are one each. */
function windowSeen(answer: Answer | undefined, { fromMs, toMs }: TimeWindow): Seen {
  const slices = metricsIn(answer).map((metric) => listAt(metric, 'timeslices'));
  const stated = [at(answer?.document, 'metric_data'), ...slices.flat()];
  const isSo = stated.every(
    (one) => epochMsOf(at(one, 'from')) === fromMs && windowEndMsOf(at(one, 'to')) === toMs,
  );
  const isOne = slices.every(({ length }) => length === 1);
  return seen(isSo && isOne, isSo ? `${isOne ? 'one slice' : 'several slices'} each` : 'another');
}

/** Compares what both APIs say of all presets, of the application or of the host with this name. */
function compared(
  ofRest: Answer,
  ofNerdgraph: Answer | undefined,
  asked: Asked,
  host?: string,
): Seen {
  const subject = { operation: 'application_metrics', accountId: undefined } as const;
  const ignore = (): undefined => undefined;
  const question = presetsQuestion(asked, host === undefined ? applicationFacets : hostFacets);
  const { window } = asked;
  const query = { series: presetSeries, window, raw: true };
  const { values: found } = metricAnswerOf(ofRest.document, query, subject, ofRest.atMs, ignore);
  const reading = { purpose: subject, unexpected: { saw: ignore }, onInvalid: ignore };
  const always = { asksFor: () => true, mayBeAbout: () => true };
  const { rows } = nrqlAnswerOf(partOf(ofNerdgraph), { ...question, ...reading, ...always });
  const cells = rows.find((row) => row.host === host)?.cells ?? [];
  const [set] = columnsOf(presetSeries, host === undefined ? 'applications' : 'hosts');
  const seconds = (window.toMs - window.fromMs) / 1000;
  const verdicts = presetSeries.flatMap((series, index) => {
    const column = set?.values.find(({ key }) => key === valueKeyOf(series));
    const [rest, nerdgraph] = [found[index], column?.valueOf(cells, seconds, ignore)].map(
      (value) => (value === undefined ? [] : [value]),
    );
    const both = { rest: rest ?? [], nerdgraph: nerdgraph ?? [], raw: false };
    const verdict = verdictOf({ ...both, unit: series.gauge.unit }) ?? 'idle';
    return verdict === 'idle' ? [] : [{ verdict, name: series.gauge.name }];
  });
  const wrong = verdicts.filter(({ verdict }) => verdict !== 'equal');
  if (verdicts.length === 0) return unclear('nothing was busy');
  const texts = wrong.map(({ verdict, name }) => `${name} ${verdict}`);
  return seen(wrong.length === 0, `${verdicts.length} values; ${texts.join(', ') || 'all equal'}`);
}

/** The names of hosts by their ids. */
function namesIn(answer: Answer | undefined): ReadonlyMap<string, string> {
  const list = listAt(answer?.document, 'application_hosts');
  const named = list.filter(({ host }) => typeof host === 'string' && host !== '');
  return new Map(named.map(({ id, host }) => [entityIdOf(id) ?? '', String(host)]));
}

const checks: Readonly<Record<string, Check>> = {
  'rest-key-header': check([applicationList, otherHeader], keyAccepted, true),
  'rest-date': check([applicationList], dated),
  'rest-pages': check([applicationList], ([answer]) => {
    const { length } = idsIn(answer, 'applications');
    const next = nextPageOf(answer?.headers['link'], 1);
    const isSo = next === undefined ? length <= 200 : next === 2 && length === 200;
    return seen(isSo, `${length} applications, ${next === undefined ? 'no' : 'a'} next page`);
  }),
  'rest-order': check([applicationList, secondPage], (pages) => {
    const ids = pages.flatMap((page) => idsIn(page, 'applications'));
    const again = ids.length - new Set(ids).size;
    return seen(again === 0, `${again} applications are on both`);
  }),
  'rest-ids': check([byIds], ([answer], { applicationId, otherId }) => {
    const ids = idsIn(answer, 'applications');
    const isSo = ids.toSorted().join() === [applicationId, otherId].toSorted().join();
    return seen(isSo, `${ids.length} applications`);
  }),
  'rest-silent': check([applicationList], ([answer]) => {
    const all = listAt(answer?.document, 'applications');
    const silent = all.filter(({ reporting }) => reporting === false);
    const having = silent.filter((one) => listAt(one, 'links', 'application_hosts').length > 0);
    if (silent.length === 0) return unclear('all applications report');
    return seen(having.length === 0, `${having.length} of ${silent.length} have hosts`);
  }),
  'rest-host-names': check([applicationList, hosts], ([list, answer], { applicationId }) => {
    const all = listAt(list?.document, 'applications');
    const links = at(
      all.find(({ id }) => entityIdOf(id) === applicationId),
      'links',
      'application_hosts',
    );
    const ids = Array.isArray(links) ? links.map((id) => entityIdOf(id) ?? '') : [];
    const nameless = ids.filter((id) => !namesIn(answer).has(id)).length;
    return ids.length === 0
      ? unclear('no hosts')
      : seen(nameless === 0, `${nameless} of ${ids.length} lack one`);
  }),
  'rest-quota': check([applicationList], ([answer]) => {
    const named = Object.keys(answer?.headers ?? {}).filter((name) =>
      /rate-?limit|quota/iu.test(name),
    );
    return seen(named.length === 0, named.join() || 'none');
  }),
  'rest-whole': check([rounded, apdexAlone], ([together, alone]) => {
    const [metric] = metricsIn(alone);
    if (metric === undefined || !('score' in valuesIn(metric))) return unclear('no Apdex');
    const same = metricsIn(together).find(({ name }) => name === metric['name']);
    return seen('score' in valuesIn(same), 'score' in valuesIn(same) ? 'whole' : 'the first only');
  }),
  'rest-raw': check([raw], ([answer]) => {
    const rates = ratesIn(answer);
    const exact = rates.filter(([, rate]) => rate !== Number(rate.toPrecision(3))).length;
    if (exact === 0 && rates.length < 3) return unclear('too few calls');
    return seen(exact > 0, `${exact} of ${rates.length} have more than three digits`);
  }),
  'rest-rounding': check([raw, rounded], ([exact, answer]) => {
    const shown = new Map(ratesIn(answer));
    const all = ratesIn(exact);
    const isSo = all.every(([name, rate]) => shown.get(name) === Number(rate.toPrecision(3)));
    return all.length === 0 ? unclear('no calls') : seen(isSo, isSo ? 'they have' : 'others');
  }),
  'rest-window': check([rounded], ([answer], { window }) => windowSeen(answer, window)),
  'rest-shortest': check([minute], ([answer], { window: { toMs } }) =>
    windowSeen(answer, { fromMs: toMs - minuteMs, toMs }),
  ),
  'rest-too-short': check(
    [halfMinute],
    ([answer]) =>
      seen(answer?.status === 422, answer?.status === 422 ? refusalOf(answer) : 'not 422'),
    true,
  ),
  'rest-longest': check([day], ([answer], { window: { toMs } }) =>
    windowSeen(answer, { fromMs: toMs - dayMs, toMs }),
  ),
  'rest-not-found': check([ofUnknown], ([answer]) => {
    const data = at(answer?.document, 'metric_data');
    const lists = ['metrics_found', 'metrics_not_found'].flatMap((list) => at(data, list) ?? []);
    const isSo =
      lists.length === 2 && metricsIn(answer).every(({ name }) => name !== unknownMetric);
    return seen(isSo, isSo ? 'it is' : 'it is not');
  }),
  'rest-own-window': check([ownWindow], ([answer]) => {
    const toMs = windowEndMsOf(at(metricsIn(answer)[0], 'timeslices', 0, 'to'));
    if (answer === undefined || toMs === undefined) return unclear('no values');
    const minutes = (answer.atMs - toMs) / minuteMs;
    return seen(minutes > 1 && minutes < 6, `it ended ${minutes.toFixed(1)} minutes before`);
  }),
  'both-values': check([raw, applicationRows], ([ofRest, ofNerdgraph], asked) =>
    ofRest === undefined ? unclear('no answer') : compared(ofRest, ofNerdgraph, asked),
  ),
  'both-host-values': check([ofHost, hostRows, hosts], ([ofRest, ofNerdgraph, names], asked) => {
    const all = namesIn(names);
    const host = all.get(asked.hostId);
    const isOnly = [...all.values()].filter((name) => name === host).length === 1;
    if (ofRest === undefined || host === undefined || !isOnly) return unclear('no name of its own');
    return compared(ofRest, ofNerdgraph, asked, host);
  }),
  'both-host-names': check([hosts, hostRows], ([answer, rows]) => {
    const names = new Set(namesIn(answer).values());
    const found = rowsOf(rows).map(({ host }) => String(host));
    const others = found.filter((name) => !names.has(name)).length;
    if (found.length === 0 || names.size < found.length) return unclear('REST does not name all');
    return seen(others === 0, `${others} of ${found.length} have another`);
  }),
};

/** What the exporter believes of the REST API, and of both together, in the order of reports. */
export const restFacts: readonly Fact[] = factsOf(
  `
| rest-key-header | REST takes a user key in \`Api-Key\` and in \`X-Api-Key\` | D | \`discovery failed\`: \`auth\` after a change of \`api_key_header\` | The header matters. Now: leave \`api_key_header\` as it is |
| rest-date | An answer of REST has a header \`Date\` | C | the status page shows no difference of clocks | Windows end by the clock here. Now: keep that clock right, or raise \`delay\` |
| rest-pages | A page has 200 applications, and \`Link\` names the next one | D | \`discovery failed\`: \`schema\` | Applications of later pages are not found. Now: choose applications by id |
| rest-order | No application is on two pages | U | applications come and go | A list of several pages may lack some. Now: choose applications by id |
| rest-ids | \`filter[ids]\` takes several ids, and leaves out an unknown one | V of several, U of unknown | \`newrelic_exporter_app_missing\` | Entries by id miss applications. Now: choose them by name |
| rest-silent | An application that does not report has no hosts | C | series of hosts that ended | Hosts that are gone take calls. Now: nothing |
| rest-host-names | \`hosts.json\` has a name for each listed host | D | \`host_name\` is the id | Some hosts show their id. Now: nothing |
| rest-quota | Good answers have no header about the quota | D | none | The budget could follow New Relic's numbers. Now: nothing; please report it |
| rest-whole | An answer about several metrics has the values of all | D says that it may not | \`newrelic_exporter_unexpected_answers_total{kind="values_missing"}\` | Each kind of metric takes a call of its own. Now: fewer \`metrics\`, or \`source: nerdgraph\` |
| rest-raw | With \`raw=true\` nothing is rounded | V | \`compare\`: \`differs\` with \`raw: true\` | \`raw: true\` does nothing. Now: leave it out |
| rest-rounding | Values have three significant digits | C | \`compare\`: \`differs\` by little | \`compare\` finds differences that are none. Now: compare with \`raw: true\` |
| rest-window | A window of whole minutes is answered as it was asked for, in one slice | C | \`poll failed\`: \`schema\`: another window | Polls fail. Now: \`window: default\` |
| rest-shortest | A window of a minute is accepted | D | \`poll failed\`: \`client\` | \`window: 1m\` fails. Now: a longer \`window\` |
| rest-too-short | Less than a minute is refused with 422 | D | none: it is not asked | None. Now: nothing |
| rest-longest | A window of a day is accepted | D | \`poll failed\`: \`client\` | Long windows fail. Now: a shorter \`window\` |
| rest-not-found | An unknown metric is in \`metrics_not_found\`, beside values of others | D | \`poll failed\`: \`schema\` | A misspelt metric takes all others with it. Now: look at \`metrics\` of the configuration |
| rest-own-window | New Relic's own window ended 1 to 6 minutes before | C | \`newrelic_application_window_end_timestamp_seconds\` | Values are later than they seem. Now: write a \`window\` |
| both-values | All presets of an application are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it |
| both-host-values | All presets of a host are equal in REST and NerdGraph, to three digits | D, I | \`compare\`: \`differs\` | Values change with the switch. Now: stay with \`source: rest\`, and report it |
| both-host-names | NerdGraph's hosts have the names that REST lists | U | \`compare\`: \`only REST\` and \`only NerdGraph\` in pairs | \`host_name\` changes with the switch. Now: adapt what selects by it |
`,
  checks,
);
