import { isJsonObject, type JsonObject } from '../newrelic/json.ts';
import {
  ask,
  type CallSubject,
  listElementsOf,
  partsMissing,
  type RestContext,
} from '../newrelic/rest/answer.ts';
import { nextPageOf, type Page, type PageContent, readPages } from '../newrelic/rest/paging.ts';
import { metricNamesRequest } from '../newrelic/rest/requests.ts';
import { isLike, type ListedMetric, type ListMetrics } from './metric-list.ts';

/**
 * Lists metrics with the REST API: 1000 names on a page, each with its values.
 *
 * @param maxPages of one list at most: some applications have over 1000, and New Relic takes seconds for one
 */
export function createMetricNames(maxPages: number, context: RestContext): ListMetrics {
  return async ({ applicationId, hostId, like }, { signal, onPage }) => {
    const subject = metricNamesRequest(applicationId, hostId, like, 1);
    let isCut = false;
    const readPage = async (page: number): Promise<Page<ListedMetric>> => {
      const request = metricNamesRequest(applicationId, hostId, like, page);
      const found = await ask(request, context, { signal }, (document, { link }) => ({
        ...contentOf(document, subject),
        link,
      }));
      isCut = page >= maxPages && nextPageOf(found.link, page) !== undefined;
      onPage(found.items.filter(({ name }) => isLike(name, like)));
      // Without the header the list ends here.
      return isCut ? { ...found, link: undefined } : found;
    };

    const { error } = await readPages(readPage, {
      subject,
      maxPages,
      keyOf: ({ name }) => name,
      weightOf: () => 1,
      onBadPage: ({ reason }) => context.observer.failed(subject.operation, reason),
    });
    // A call that was aborted on its way may have ended with an error of the transport.
    if (error !== undefined) signal.throwIfAborted();
    return { error, cut: isCut ? `the first ${maxPages} pages` : undefined };
  };
}

function contentOf(document: JsonObject, subject: CallSubject): PageContent<ListedMetric> {
  const elements = listElementsOf(document, 'metrics', subject);
  const items = elements.map(metricOf).filter((metric) => metric !== undefined);
  const missing = elements.length - items.length;
  return { items, error: partsMissing(missing, subject, ': they are not a name with values') };
}

function metricOf(element: unknown): ListedMetric | undefined {
  if (!isJsonObject(element)) return undefined;
  const { name, values } = element;
  if (typeof name !== 'string' || name === '' || !Array.isArray(values)) return undefined;
  return { name, values: values.filter((value) => typeof value === 'string') };
}
