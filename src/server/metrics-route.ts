import type { IncomingMessage } from 'node:http';
import { gzipMember } from '../exposition/gzip.ts';
import { createOwnMetrics, type OwnMetricsDependencies } from '../exposition/own-metrics.ts';
import type { Page } from '../exposition/page.ts';
import type { Answer } from './answer.ts';
import { contentTypes, formatFor, prefersGzip } from './negotiation.ts';

export interface MetricsSources extends OwnMetricsDependencies {
  /** The vendor's series, rendered and compressed. */
  page(): Promise<Page>;
}

/**
 * Answers scrapes with the stored page, which is the same in both formats, followed by the exporter's
 * own metrics. Of these only what has changed since the last scrape is compressed again.
 */
export function createMetricsRoute(
  sources: MetricsSources,
): (request: IncomingMessage) => Promise<Answer> {
  const own = createOwnMetrics(sources);
  return async (request) => {
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const format = formatFor(accept);
    const [page, parts] = await Promise.all([sources.page(), own.parts(format)]);
    const headers = {
      'Content-Type': contentTypes[format],
      'Cache-Control': 'no-store',
      Vary: 'Accept, Accept-Encoding',
    };
    if (!prefersGzip(acceptEncoding)) {
      return { status: 200, headers, body: [page.identity, ...parts.map((one) => one.identity)] };
    }
    const packed = await Promise.all(parts.map(async (part) => part.packed()));
    return {
      status: 200,
      headers: { ...headers, 'Content-Encoding': 'gzip' },
      body: gzipMember(page, packed),
    };
  };
}
