import { ApiError } from '../../model/api-error.ts';
import { presetNames, presets } from '../../model/presets.ts';
import type { Operation } from '../../model/telemetry.ts';
import { hourMs } from '../../model/time.ts';
import type { ValueName } from '../../model/vendor-value.ts';
import { isJsonObject, type JsonObject } from '../../newrelic/answer.ts';
import { type NerdGraphPurpose, notWhole, type RestPurpose } from '../../newrelic/failures.ts';
import { nrqlText } from '../../newrelic/nerdgraph/nrql.ts';
import { ask, listElementsOf, partsMissing, type RestRequest } from '../../newrelic/rest/answer.ts';
import { nextPageOf, type Page, type PageContent, readPages } from '../../newrelic/rest/paging.ts';
import { pageOf, pathOf, queryOf } from '../../newrelic/rest/requests.ts';
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
  /** Only metrics whose names contain this, in upper or lower case. */
  readonly like: string | undefined;
}

function metricNamesRequest(
  { applicationId, hostId, like }: MetricListQuestion,
  page: number,
): RestRequest {
  const query = queryOf([['name', like], pageOf(page)]);
  return {
    operation: 'list_metrics',
    applicationId,
    hostId,
    target: `${pathOf(applicationId, hostId)}/metrics.json${query}`,
    answerSize: 'large',
  };
}

/** How a list ended; its metrics came page by page. */
export interface MetricListEnd {
  /** Why something is missing from it. */
  readonly error: ApiError | undefined;
  /** How much is read of a list at most, such as "the first 100 pages", if it is longer than that. */
  readonly cut: string | undefined;
}

/**
 * Lists the metrics of an application, or of one of its hosts, by the API that the account is polled with.
 * Rejects with the reason of a stop, or with an `ApiError` if nothing was asked for.
 *
 * @param maxPages of one list at most, with REST: some applications have over 1000 metrics, which fill a
 *   page, and New Relic takes seconds for one
 * @param onPage called with each page as soon as it has arrived; it may name a metric that another one named
 */
export async function listMetrics(
  open: OpenAccount,
  question: MetricListQuestion,
  maxPages: number,
  onPage: (metrics: readonly ListedMetric[]) => void,
): Promise<MetricListEnd> {
  const { like } = question;
  const isLike = ({ name }: ListedMetric): boolean =>
    like === undefined || name.toLowerCase().includes(like.toLowerCase());
  const list = open.account.source.kind === 'rest' ? listByRest : listByNrql;
  return list(open, question, (some) => onPage(some.filter(isLike)), maxPages);
}

async function listByRest(
  { asking, platform: { stopSignal: signal } }: OpenAccount,
  question: MetricListQuestion,
  onPage: (metrics: readonly ListedMetric[]) => void,
  maxPages: number,
): Promise<MetricListEnd> {
  const purpose = metricNamesRequest(question, 1);
  let isCut = false;
  const readPage = async (page: number): Promise<Page<ListedMetric>> => {
    const request = metricNamesRequest(question, page);
    const found = await ask(request, asking, { signal }, (document, { link }) => ({
      ...contentOf(document, purpose),
      link,
    }));
    isCut = page >= maxPages && nextPageOf(found.link, page) !== undefined;
    onPage(found.items);
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
  // A call that was aborted on its way may have ended with an error of the transport.
  if (error !== undefined) signal.throwIfAborted();
  return { error, cut: isCut ? `the first ${maxPages} pages` : undefined };
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
  return { name, values: values.filter((value) => typeof value === 'string') };
}

/** The most names in one answer of NerdGraph; there is no second page. */
const mostNames = 5000;

/** Names what was recorded in the last hour: what is older, a poll would not find either. */
async function listByNrql(
  open: OpenAccount,
  { applicationId, hostId, like }: MetricListQuestion,
  onPage: (metrics: readonly ListedMetric[]) => void,
): Promise<MetricListEnd> {
  const toMs = Math.floor(open.asking.vendorClock.wallMs());
  const conditions = [
    `appId = ${applicationId}`,
    ...(hostId === undefined ? [] : [`host = ${nrqlText(hostId)}`]),
    // It takes upper and lower case for the same. What stands for any characters in it cannot be written
    // otherwise, so more may come back than was asked for.
    ...(like === undefined ? [] : [`metricTimesliceName LIKE ${nrqlText(`%${like}%`)}`]),
  ];
  const nrql = `SELECT uniques(metricTimesliceName, ${mostNames}) FROM Metric WHERE ${conditions.join(' AND ')} SINCE ${toMs - hourMs} UNTIL ${toMs}`;
  const names = await askResults(open, 'list_metrics', nrql, namesOf);
  if (names instanceof ApiError) return { error: names, cut: undefined };
  onPage(names.map((name) => ({ name, values: surelyHas(name) })));
  const cut = names.length < mostNames ? undefined : `${mostNames} names`;
  return { error: undefined, cut };
}

/** What `read` makes of the results of one query, or why it cannot. Rejects with the reason of a stop. */
export async function askResults<Value>(
  open: OpenAccount,
  operation: Operation,
  nrql: string,
  read: (results: readonly unknown[], purpose: NerdGraphPurpose) => Value,
): Promise<Value | ApiError> {
  const purpose = { operation, accountId: open.account.source.accountId };
  try {
    return await askNrql(open, purpose, nrql, ({ results }) =>
      read(Array.isArray(results) ? results : [], purpose),
    );
  } catch (error) {
    open.platform.stopSignal.throwIfAborted();
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

/** The one list in the one result, whatever its member is called. */
function namesOf([first]: readonly unknown[], purpose: NerdGraphPurpose): readonly string[] {
  const list = isJsonObject(first) ? Object.values(first).find(Array.isArray) : undefined;
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
