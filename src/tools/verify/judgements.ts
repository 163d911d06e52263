import { dayMs, minuteMs } from '../../model/time.ts';
import {
  entityIdOf,
  epochMsOf,
  type JsonObject,
  objectOf,
  windowEndMsOf,
} from '../../newrelic/answer.ts';
import { valueKeyOf } from '../../newrelic/nerdgraph/column-sets.ts';
import { cellOf, rowText } from '../../newrelic/nerdgraph/nrql-answer.ts';
import { metricAnswerOf } from '../../newrelic/rest/metric-payload.ts';
import { nextPageOf } from '../../newrelic/rest/paging.ts';
import { verdictOf } from '../survey/both-apis.ts';
import { halfHourMs, nothing, presetColumns, presetSeries } from './calls.ts';
import {
  at,
  each,
  type FactAnswer,
  idOf,
  listAt,
  numberIn,
  refused,
  type See,
  type Seen,
  seen,
} from './fact.ts';

function dated({ headers, atMs }: FactAnswer): Seen {
  const aheadMs = atMs - Date.parse(String(headers['date']));
  if (Number.isNaN(aheadMs)) return seen(false, 'no Date');
  return seen(true, `the clock here is ahead by ${Math.round(aheadMs / 1000)} s`);
}

/** Whether both that were asked for are there, and nothing else. */
function bothFound({ items, asked: { applicationId, otherId } }: FactAnswer): Seen {
  const found = new Set(items.map(idOf));
  const isSo = found.size === 2 && found.has(applicationId) && found.has(otherId);
  return seen(isSo, `${items.length} are found`);
}

/** Whether nothing is on two pages. */
function noneTwice(...pages: readonly FactAnswer[]): Seen {
  const ids = pages.flatMap(({ items }) => items.map(({ guid, id }) => guid ?? id));
  const again = ids.length - new Set(ids).size;
  return seen(again === 0, `${again} of the first page are on the second`);
}

/** Whether the first refusal has one of these statuses; `withoutAny` is what it means that all are accepted. */
function refusedWith(statuses: readonly number[], withoutAny?: false): See {
  return (...answers) => {
    const accepted = answers.filter(({ status }) => status < 400).length;
    const first = answers.find(({ status }) => status >= 400);
    if (first === undefined) return seen(withoutAny, `${accepted} accepted`);
    const before = accepted === 0 ? '' : `${accepted} accepted, then `;
    return refused(statuses.includes(first.status), first, before);
  };
}

/** Whether each row is so. */
function eachRow(isSo: (row: JsonObject) => boolean): See {
  return ({ items }) => each(items, isSo);
}

/** Whether the values of those that had any calls are so. */
function eachValue(isSo: (value: unknown) => boolean): See {
  return ({ items }) => {
    const busy = items.filter((row) => row['calls'] !== 0).map(({ value }) => value ?? null);
    return each(busy, isSo);
  };
}

/** Whether it is an object of numbers, with this member if one is named. */
function isOfNumbers(value: unknown, member?: string): boolean {
  const numbers = Object.entries(objectOf(value));
  const hasMember = numbers.some(([name]) => name === (member ?? name));
  return hasMember && numbers.every(([, number]) => typeof number === 'number');
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
  return !/^(?:null)?$/iu.test(rowText(facet));
}

/** The window of a row of TIMESERIES, in seconds. */
function spanOf({ beginTimeSeconds, endTimeSeconds }: JsonObject): string {
  return JSON.stringify([beginTimeSeconds, endTimeSeconds]);
}

function halfHourTo(endMs: number): string {
  return JSON.stringify([(endMs - halfHourMs) / 1000, endMs / 1000]);
}

function valuesIn(metric: JsonObject | undefined): JsonObject {
  const [slice] = listAt(metric, 'timeslices');
  return objectOf(slice?.['values']);
}

/** Calls per minute of the metrics that had any. */
function ratesIn({ items }: FactAnswer): ReadonlyMap<unknown, number> {
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
    const fromMs = toMs - lengthMs;
    return each(stated, ({ from, to }) => epochMsOf(from) === fromMs && windowEndMsOf(to) === toMs);
  };
}

const subject = { operation: 'application_metrics', accountId: undefined } as const;

const ignore = (): undefined => undefined;

/** What both APIs say of each preset, of the application or of the host with this name. */
function bothOf(ofRest: FactAnswer, ofNerdgraph: FactAnswer, host?: string) {
  const { toMs } = ofRest.asked;
  const asked = { series: presetSeries, window: { fromMs: toMs - halfHourMs, toMs }, raw: true };
  const document = objectOf(ofRest.document);
  const { values } = metricAnswerOf(document, asked, subject, ofRest.atMs, ignore);
  const set = presetColumns(host === undefined ? 'applications' : 'hosts');
  const row = ofNerdgraph.items.find((one) => one['host'] === host);
  const cells = set.columns.map(({ name }) => cellOf(at(row, name), ignore));
  return presetSeries.map((series, index) => {
    const column = set.values.find(({ key }) => key === valueKeyOf(series));
    const nerdgraph = column?.valueOf(cells, halfHourMs / 1000, ignore);
    return { ...series.gauge, rest: values[index], nerdgraph };
  });
}

function compared(...answers: Parameters<typeof bothOf>): Seen {
  const verdicts = bothOf(...answers).map(({ name, unit, rest, nerdgraph }) => {
    const both = { rest: [rest ?? []].flat(), nerdgraph: [nerdgraph ?? []].flat() };
    return { name, verdict: verdictOf({ ...both, raw: false, unit }) ?? 'idle' };
  });
  const busy = verdicts.filter(({ verdict }) => verdict !== 'idle');
  const wrong = busy.filter(({ verdict }) => verdict !== 'equal');
  const texts = wrong.map(({ verdict, name }) => `${name} ${verdict}`);
  const isSo = busy.length === 0 ? undefined : wrong.length === 0;
  return seen(isSo, `${busy.length} values; ${texts.join(', ') || 'all equal'}`);
}

/** Whether the list of hosts does not go on: then those that it lacks are not there. */
function isWhole({ headers }: FactAnswer): boolean {
  return nextPageOf(headers['link'], 1) === undefined;
}

/** How the answers to the calls of a fact tell whether it holds, by the id of the fact. */
export const judgements: Readonly<Record<string, See>> = {
  'nerdgraph-date': dated,
  'nerdgraph-account': ({ items, asked }) => {
    const isSeen = items.some(({ id }) => rowText(id) === asked.accountId);
    return seen(isSeen, `${items.length} are seen`);
  },
  'nerdgraph-count': ({ document, items: { length } }) => {
    const total = numberIn(at(document, 'count'));
    const isLast = (at(document, 'results.nextCursor') ?? '') === '';
    const isSo = isLast ? length === total : length === 200 && total > 200;
    return seen(isSo, `${length} on the ${isLast ? 'only' : 'first'} page of ${total}`);
  },
  'nerdgraph-order': ({ items }) => {
    const names = items.map(({ name }) => rowText(name));
    const lists = [names, names.map((name) => name.toLowerCase())];
    const orders = [undefined, new Intl.Collator('en').compare];
    const isSorted = lists.some((list) =>
      orders.some((order) => list.join() === list.toSorted(order).join()),
    );
    return seen(isSorted, isSorted ? 'sorted' : 'not sorted');
  },
  'nerdgraph-cursor': noneTwice,
  'nerdgraph-ids': bothFound,
  'nerdgraph-names': ({ items, asked }, all) => {
    const found = new Set(items.map(idOf));
    const names = new Set([asked.name, asked.otherName]);
    const meant = all.items.filter(({ name }) => names.has(rowText(name)));
    return each(meant, (one) => found.has(idOf(one)));
  },
  'nerdgraph-tags': ({ items }) => {
    const tags = items.flatMap((entity) => listAt(entity, 'tags'));
    return each(tags, ({ key, values }) => typeof key === 'string' && Array.isArray(values));
  },
  'nerdgraph-error-rate': ({ items }, all, bad) => {
    const rates = items.map((entity) => numberIn(at(entity, 'apmSummary.errorRate')));
    if (rates.some((rate) => rate > 1)) return seen(false, 'one is above 1');
    const rate = rates[items.findIndex((one) => idOf(one) === all.asked.applicationId)] ?? 0;
    const times = rate / (callsIn(bad.items.filter(isGroup)) / callsIn(all.items));
    // Not of the same minutes: what is of another order of magnitude tells nothing.
    const isAlike = times > 0.1 && times < 10;
    return seen(isAlike ? true : undefined, isAlike ? 'a share' : 'none is above 1');
  },
  'nerdgraph-numbers': (...answers) => {
    const [bare = 0, quoted = 0] = answers.map(({ items }) => items.length);
    const isSo = bare + quoted > 0 ? bare > 0 : undefined;
    return seen(isSo, `${bare} without quotes, ${quoted} with them`);
  },
  'nerdgraph-app-id': eachRow(({ appId }) => entityIdOf(appId) !== undefined),
  'nerdgraph-facets': eachRow(({ facet, appId, host }) => {
    return [facet].flat().map(rowText).join('\n') === [appId, host].map(rowText).join('\n');
  }),
  'nerdgraph-sums': (...answers) => {
    const documents = answers.flatMap(({ items, document }) => (items.length > 0 ? document : []));
    return each(documents, addsUp);
  },
  'nerdgraph-window': ({ document, asked: { toMs } }) => {
    const { begin, end } = objectOf(at(document, 'metadata.timeWindow'));
    const moved = [numberIn(begin) + halfHourMs, numberIn(end)].map((ms) => (ms - toMs) / 1000);
    return seen(moved.join() === '0,0', `moved by ${moved.join(' and ')} s`);
  },
  'nerdgraph-nothing': eachRow(({ none, noTime }) => none === 0 && noTime === null),
  'nerdgraph-heartbeat': eachRow(({ live }) => numberIn(live) > 0),
  'nerdgraph-too-long': refusedWith([413]),
  'nerdgraph-too-many': refusedWith([400, 413], false),
  'query-percentile': eachValue((value) => isOfNumbers(value, '95')),
  'query-percentile-member': eachValue((value) => typeof value === 'number'),
  'query-apdex': eachValue((value) => isOfNumbers(value, 'score')),
  'query-histogram': eachValue((value) => isOfNumbers(value)),
  'query-null': ({ items }, all) => {
    const odd = items.filter((row) => !isGroup(row)).length;
    return seen(callsIn(all.items) > 0 ? odd === 0 : undefined, `${odd} of ${items.length} groups`);
  },
  'query-total': ({ document }, all) => {
    const groups = { ...objectOf(document), results: listAt(document, 'results').filter(isGroup) };
    return seen(callsIn(all.items) > 0 ? addsUp(groups) : undefined, 'the sums of groups');
  },
  'query-syntax': refusedWith([400], false),
  'query-event-types': eachRow(({ eventType }) => typeof eventType === 'string'),
  'series-windows': ({ items, asked: { toMs } }) => {
    const wanted = [25, 20, 15, 10, 5, 0].map((minutes) => halfHourTo(toMs - minutes * minuteMs));
    const isSo = items.map(spanOf).join() === wanted.join();
    return seen(items.length > 0 ? isSo : undefined, `${items.length} windows`);
  },
  'series-values': ({ items, asked: { toMs } }, { items: [usual] }) => {
    const same = items.find((row) => spanOf(row) === halfHourTo(toMs));
    if (same === undefined || usual === undefined) return seen(undefined, 'no such window');
    const isSo = same['calls'] === usual['calls'];
    return seen(isSo, isSo ? 'the same' : 'others');
  },
  'series-past': eachRow(
    (row) => numberIn(row['endTimeSeconds']) - numberIn(row['beginTimeSeconds']) === 3600,
  ),
  'rest-date': dated,
  'rest-pages': ({ items: { length }, headers }) => {
    const next = nextPageOf(headers['link'], 1);
    const isSo = next === undefined ? length <= 200 : next === 2 && length === 200;
    return seen(isSo, `${length} applications, ${next === undefined ? 'no' : 'a'} next page`);
  },
  'rest-order': noneTwice,
  'rest-ids': bothFound,
  'rest-silent': ({ items }) => {
    const silent = items.filter(({ reporting }) => reporting === false);
    return each(silent, (one) => listAt(one, 'links.application_hosts').length === 0);
  },
  'rest-host-names': (list, hosts) => {
    const application = list.items.find((one) => idOf(one) === hosts.asked.applicationId);
    const ids = [at(application, 'links.application_hosts') ?? []].flat();
    const named = new Set(hosts.items.filter(({ host }) => rowText(host) !== '').map(idOf));
    if (!isWhole(hosts)) return seen(undefined, 'the list of hosts has several pages');
    return each(ids, (id) => named.has(idOf({ id })));
  },
  'rest-quota': ({ headers }) => {
    // Of their names only what is usual: a gateway may have its own.
    const usual = /(?:x-)?rate-?limit(?:-(?:limit|remaining|reset))?|quota/iu;
    const named = Object.keys(headers).flatMap((name) => usual.exec(name)?.[0] ?? []);
    return seen(named.length === 0, [`${named.length} headers`, ...named].join(', '));
  },
  'rest-whole': (together, { items: [alone] }) => {
    if (!Object.hasOwn(valuesIn(alone), 'score')) return seen(undefined, 'no Apdex');
    const same = together.items.find(({ name }) => name === alone?.['name']);
    const hasAll = Object.hasOwn(valuesIn(same), 'score');
    return seen(hasAll, hasAll ? 'whole' : 'the first only');
  },
  'rest-raw': (ofRest, ofNerdgraph?: FactAnswer) => {
    const rates = [...ratesIn(ofRest).values()];
    const exact = rates.filter((rate) => rate !== rounded(rate)).length;
    // Rates may be short by nature: digits are lost only where NerdGraph has more of them.
    const both = exact > 0 || ofNerdgraph === undefined ? [] : bothOf(ofRest, ofNerdgraph);
    const isLost = both.some(({ unit, rest = 0, nerdgraph = 0 }) => {
      const isShorter = Math.abs(rest - nerdgraph) > 1e-6 * rest;
      return unit === 'per_minute' && isShorter && rest === rounded(nerdgraph);
    });
    const isSo = exact > 0 ? true : isLost ? false : undefined;
    return seen(isSo, `${exact} of ${rates.length} have more than three digits`);
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
    const isNamed = Array.isArray(missing) && missing.includes(nothing);
    return seen(isNamed && items.every(({ name }) => name !== nothing), `${items.length} found`);
  },
  'rest-own-window': ({ items: [metric], headers, atMs }) => {
    const toMs = windowEndMsOf(listAt(metric, 'timeslices')[0]?.['to']);
    if (toMs === undefined) return seen(undefined, 'no values');
    const dateMs = Date.parse(rowText(headers['date']));
    const minutes = ((Number.isNaN(dateMs) ? atMs : dateMs) - toMs) / minuteMs;
    return seen(minutes > 1 && minutes < 6, `it ended ${minutes.toFixed(1)} minutes before`);
  },
  'both-values': (ofRest, ofNerdgraph) => compared(ofRest, ofNerdgraph),
  'both-host-values': (ofRest, ofNerdgraph, hosts) => {
    const host = rowText(hosts.items.find((one) => idOf(one) === ofRest.asked.hostId)?.['host']);
    const isOnly = hosts.items.filter((one) => one['host'] === host).length === 1;
    if (host === '' || !isOnly) return seen(undefined, 'no name of its own');
    return compared(ofRest, ofNerdgraph, host);
  },
  'both-host-names': (hosts, { items }) => {
    const names = new Set(hosts.items.map(({ host }) => rowText(host)));
    const namesAll = isWhole(hosts) && !names.has('') && names.size >= items.length;
    if (!namesAll) return seen(undefined, 'REST does not name all');
    return each(items, ({ host }) => names.has(rowText(host)));
  },
};
