import { inOrder } from '../../config/read-file.ts';
import { ApiError } from '../../model/api-error.ts';
import { presetNames, presets } from '../../model/presets.ts';
import { countOf } from '../../model/shown-text.ts';
import { hourMs } from '../../model/time.ts';
import type { ValueName } from '../../model/vendor-value.ts';
import { isJsonObject, type JsonObject, objectOf } from '../../newrelic/answer.ts';
import { type NerdGraphPurpose, notWhole, type RestPurpose } from '../../newrelic/failures.ts';
import { nrqlText } from '../../newrelic/nerdgraph/nrql.ts';
import { askRest, listElementsOf, partsMissing } from '../../newrelic/rest/answer.ts';
import {
  type ListPage,
  nextPageOf,
  type PageContent,
  readPages,
} from '../../newrelic/rest/paging.ts';
import { pageOf, queryText, targetOf } from '../../newrelic/rest/requests.ts';
import { askNrql, type OpenAccount } from './ask.ts';

/** A metric that an application has. */
export interface ListedMetric {
  readonly name: string;
  /** Which values it has, as the REST API calls them; `undefined` if New Relic does not tell. */
  readonly values: readonly string[] | undefined;
}

/** Which metrics to name. */
interface MetricListQuestion {
  readonly applicationId: string;
  /** By its id in the API that is asked; `undefined` for the application as a whole. */
  readonly hostId: string | undefined;
  /** Only metrics whose names contain this, in upper or lower case; empty for all. */
  readonly like: string;
}

/** What was read of a list. */
interface MetricList {
  /** By name. */
  readonly metrics: readonly ListedMetric[];
  /** Why it is not all of it. It may hold a secret. */
  readonly lack: string | undefined;
}

type AddAll = (some: readonly ListedMetric[]) => void;

/**
 * Lists the metrics of an application, or of one of its hosts, by the API that the account is polled with. After a
 * failure or a stop there is what had arrived by then.
 *
 * @param maxPages of one list at most, with REST: some applications have over 1000 metrics, which fill a
 *   page, and New Relic takes seconds for one
 */
export async function listMetrics(
  open: OpenAccount,
  question: MetricListQuestion,
  maxPages: number,
): Promise<MetricList> {
  const like = question.like.toLowerCase();
  const found = new Map<string, ListedMetric>();
  const add: AddAll = (some) => {
    for (const one of some) {
      if (one.name.toLowerCase().includes(like)) found.set(one.name, one);
    }
  };
  const list = open.account.source.kind === 'rest' ? listByRest : listByNrql;
  let lack: string | undefined;
  try {
    const cut = await list(open, question, add, maxPages);
    const isLonger = `the list is longer than what is read of it, ${cut}`;
    if (cut !== undefined) lack = `${isLonger}: list fewer with --like=TEXT`;
  } catch (error) {
    const isStopped = open.platform.stopSignal.aborted;
    if (!isStopped && !(error instanceof ApiError)) throw error;
    const reason = isStopped || !(error instanceof ApiError) ? '' : `: ${error.message}`;
    lack = `the list is not complete, ${countOf(found.size, 'metric')}${reason}`;
  }
  const metrics = [...found.values()].toSorted((one, other) => inOrder(one.name, other.name));
  return { metrics, lack };
}

/** What both return: how much is read of a list at most, if it is longer than that. */
async function listByRest(
  { asking, platform: { stopSignal: signal } }: OpenAccount,
  { applicationId, hostId, like }: MetricListQuestion,
  add: AddAll,
  maxPages: number,
): Promise<string | undefined> {
  const purpose = { operation: 'list_metrics', applicationId, hostId } as const;
  let isCut = false;
  const readPage = async (page: number): Promise<ListPage<ListedMetric>> => {
    const query = queryText([['name', like === '' ? undefined : like], pageOf(page)]);
    const target = `${targetOf(applicationId, hostId)}/metrics.json${query}`;
    const request = { ...purpose, target, answerSize: 'large' } as const;
    const found = await askRest(request, asking, { signal }, (document, { link }) => ({
      ...contentOf(document, purpose),
      link,
    }));
    isCut = page >= maxPages && nextPageOf(found.link, page) !== undefined;
    add(found.items);
    // Without the header the list ends here.
    return isCut ? { ...found, link: undefined } : found;
  };
  const { error } = await readPages(readPage, {
    purpose,
    maxPages,
    keyOf: ({ name }) => name,
    weightOf: () => 1,
    onBadPage: ({ reason }) => asking.observer.failed(purpose.operation, reason),
  });
  if (error !== undefined) throw error;
  return isCut ? `the first ${maxPages} pages` : undefined;
}

function contentOf(document: JsonObject, purpose: RestPurpose): PageContent<ListedMetric> {
  const elements = listElementsOf(document, 'metrics', purpose);
  const items = elements.map(metricOf).filter((metric) => metric !== undefined);
  const missing = elements.length - items.length;
  return { items, error: partsMissing(missing, purpose, ': they are not a name with values') };
}

function metricOf(element: unknown): ListedMetric | undefined {
  if (!isJsonObject(element)) return undefined;
  const { name, values } = element;
  if (typeof name !== 'string' || name === '' || !Array.isArray(values)) return undefined;
  return { name, values: values.filter((value) => typeof value === 'string').toSorted() };
}

/** The most names in one answer of NerdGraph; there is no second page. */
const mostNames = 5000;

/** Names what was recorded in the last hour: what is older, a poll would not find either. */
async function listByNrql(
  open: OpenAccount,
  { applicationId, hostId, like }: MetricListQuestion,
  add: AddAll,
): Promise<string | undefined> {
  const toMs = Math.floor(open.asking.vendorClock.wallMs());
  const conditions = [
    `appId = ${applicationId}`,
    ...(hostId === undefined ? [] : [`host = ${nrqlText(hostId)}`]),
    // It takes upper and lower case for the same. What stands for any characters in it cannot be written
    // otherwise, so more may come back than was asked for.
    ...(like === '' ? [] : [`metricTimesliceName LIKE ${nrqlText(`%${like}%`)}`]),
  ];
  const nrql = `SELECT uniques(metricTimesliceName, ${mostNames}) FROM Metric WHERE ${conditions.join(' AND ')} SINCE ${toMs - hourMs} UNTIL ${toMs}`;
  const { accountId } = open.account.source;
  const purpose = { operation: 'list_metrics', accountId } as const;
  const names = await askNrql(open, purpose, nrql, (part) => namesOf(part, purpose));
  add(names.map((name) => ({ name, values: surelyHas(name) })));
  return names.length < mostNames ? undefined : `${mostNames} names`;
}

/** The one list in the one result, whatever its member is called. */
function namesOf({ results }: JsonObject, purpose: NerdGraphPurpose): readonly string[] {
  const first: unknown = Array.isArray(results) ? results[0] : undefined;
  const list = Object.values(objectOf(first)).find(Array.isArray);
  if (list === undefined) throw notWhole(purpose, 'the answer has no list of names');
  return list.filter((name: unknown) => typeof name === 'string' && name !== '');
}

/** What New Relic documents of every metric that counts calls and takes their time. */
const ofCalls: readonly ValueName[] = [
  'average_response_time',
  'call_count',
  'max_response_time',
  'min_response_time',
  'requests_per_minute',
  'standard_deviation',
];

/** Metrics under these names are calls and their times, in every language. */
const calls = /^(?:HttpDispatcher$|(?:OtherTransaction|WebTransaction|Datastore|External)\/)/;

const ofApdex: readonly ValueName[] = ['count', 'f', 's', 'score', 't', 'threshold'];

/**
 * Values that a metric has for certain, judging by its name: NerdGraph does not tell. `undefined` where
 * the name does not say it.
 */
function surelyHas(name: string): readonly ValueName[] | undefined {
  if (calls.test(name)) return ofCalls;
  if (name === 'Apdex') return ofApdex;
  const read = presetNames
    .flatMap((preset) => presets[preset])
    .flatMap(({ sources }) => Object.values(sources))
    .filter(({ metric }) => metric === name)
    .map(({ value }) => value);
  return read.length === 0 ? undefined : read;
}
