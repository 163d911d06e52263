import { isLike, type ListedMetric, type ListMetrics } from '../../model/metric-list.ts';
import type { ApiObserver } from '../../model/telemetry.ts';
import { countingFailures } from '../answer.ts';
import type { Transport } from '../calls/transport.ts';
import { isJsonObject, type JsonObject, parseJson } from '../json.ts';
import { type CallSubject, documentOf, listElementsOf, partsMissing } from './answer.ts';
import { nextPageOf, type Page, readPages } from './paging.ts';
import { metricNamesRequest } from './requests.ts';

export interface MetricNamesOptions {
  /** Pages of one list at most: some applications have over 1000, and New Relic takes seconds for one. */
  readonly maxPages: number;
}

export interface MetricNamesDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed'>;
}

/** Lists metrics with the REST API: 1000 names on a page, each with its values. */
export function createMetricNames(
  { maxPages }: MetricNamesOptions,
  { send, observer }: MetricNamesDependencies,
): ListMetrics {
  return async ({ applicationId, hostId, like }, { signal, onPage }) => {
    const subject: CallSubject = {
      operation: 'list_metrics',
      applicationId,
      hostId,
    };
    let isCut = false;

    const readPage = async (page: number): Promise<Page<ListedMetric>> => {
      const response = await send(
        metricNamesRequest({ applicationId, hostId, like }, page),
        signal,
      );
      const content = countingFailures(response, subject, observer, () =>
        contentOf(documentOf(response, subject, parseJson), subject),
      );
      const header = response.headers['link'];
      isCut = page >= maxPages && nextPageOf(header, page) !== undefined;
      onPage(content.items.filter(({ name }) => isLike(name, like)));
      // Without the header the list ends here.
      return { ...content, link: isCut ? undefined : header };
    };

    const { error } = await readPages(readPage, {
      subject,
      maxPages,
      keyOf: ({ name }) => name,
      weightOf: () => 1,
      onBadPage: ({ reason }) => {
        observer.failed(subject.operation, reason);
      },
    });
    // A call that was aborted on its way may have ended with an error of the transport.
    if (error !== undefined) signal.throwIfAborted();
    return { error, cut: isCut ? `the first ${maxPages} pages` : undefined };
  };
}

function contentOf(
  document: JsonObject,
  subject: CallSubject,
): Pick<Page<ListedMetric>, 'items' | 'error'> {
  const elements = listElementsOf(document, 'metrics', subject);
  const items = elements.map(metricOf).filter((metric) => metric !== undefined);
  return {
    items,
    error: partsMissing(
      elements.length - items.length,
      subject,
      ': they are not a name with values',
    ),
  };
}

function metricOf(element: unknown): ListedMetric | undefined {
  if (!isJsonObject(element)) return undefined;
  const { name, values } = element;
  if (typeof name !== 'string' || name === '' || !Array.isArray(values)) return undefined;
  return { name, values: values.filter((value) => typeof value === 'string') };
}
