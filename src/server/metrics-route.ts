import type { IncomingMessage } from 'node:http';
import { toOpenMetrics } from '../exposition/open-metrics.ts';
import { gzipMember, type Page } from '../exposition/page.ts';
import type { Answer } from './answer.ts';
import { contentTypes, formatFor, prefersGzip } from './negotiation.ts';

export interface MetricsSources {
  /** New Relic's series, rendered and compressed. */
  page(): Promise<Page>;
  /** The exporter's own metrics, in text format 0.0.4. */
  selfMetrics(): Promise<string>;
}

/**
 * Answers scrapes with the stored page, which is the same in both formats, followed by the exporter's
 * own metrics. Only these are rendered and compressed for each scrape.
 */
export function createMetricsRoute(
  sources: MetricsSources,
): (request: IncomingMessage) => Promise<Answer> {
  return async (request) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const format = formatFor(accept);
    const [page, text] = await Promise.all([sources.page(), sources.selfMetrics()]);
    const own = Buffer.from(format === 'openmetrics' ? toOpenMetrics(text) : text);
    const headers = {
      'Content-Type': contentTypes[format],
      'Cache-Control': 'no-store',
      Vary: 'Accept, Accept-Encoding',
    };
    if (!prefersGzip(acceptEncoding)) return { status: 200, headers, body: [page.identity, own] };
    return {
      status: 200,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
      body: await gzipMember(page, own),
    };
  };
}
