import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Page } from '../exposition/page.ts';
import { prefersGzip } from './accept-encoding.ts';
import type { Answer } from './send.ts';

export interface MetricsSources {
  /** The vendor's series, rendered and compressed. */
  page(): Promise<Page>;
  /** The exporter's own series, in text format 0.0.4. */
  selfMetrics(): Promise<string>;
}

/**
 * The answer to a scrape: the stored page, then the exporter's own metrics. Compressed, it is two
 * gzip members. The second one is stored, not deflated (level 0): deflating some 10 kB anew for
 * every scrape would cost several times as much CPU as all the rest of it.
 */
export async function metricsAnswer(
  request: IncomingMessage,
  sources: MetricsSources,
): Promise<Answer> {
  const [page, text] = await Promise.all([sources.page(), sources.selfMetrics()]);
  const own = Buffer.from(text);
  const headers = {
    'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
    'Cache-Control': 'no-store',
    Vary: 'Accept-Encoding',
  };
  if (!prefersGzip(request.headers['accept-encoding'])) {
    return { status: 200, headers, body: [page.identity, own] };
  }
  return {
    status: 200,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: [page.gzip, gzipSync(own, { level: 0 })],
  };
}
