import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Page } from '../exposition/page.ts';
import type { Answer } from './answer.ts';

export interface MetricsSources {
  /** The vendor's series, rendered and compressed. */
  page(): Promise<Page>;
  /** The exporter's own series, in text format 0.0.4. */
  selfMetrics(): Promise<string>;
}

const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface Coding {
  readonly name: string;
  readonly quality: number;
}

/** Parses one member of the list; `undefined` if RFC 9110 does not allow it. */
function codingOf(member: string): Coding | undefined {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
  if (name === '') return undefined;
  const [parameter] = parameters;
  if (parameter === undefined) return { name, quality: 1 };
  const [key, value = ''] = parameter.split('=').map((part) => part.trim());
  if (parameters.length > 1 || key !== 'q' || !weight.test(value)) return undefined;
  return { name, quality: Number(value) };
}

/**
 * Whether the `Accept-Encoding` of a request calls for gzip: it is allowed, and the client does not
 * prefer the plain answer (RFC 9110, section 12.5.3).
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const qualities = new Map<string, number>();
  for (const member of (acceptEncoding ?? '').split(',')) {
    const coding = codingOf(member);
    if (coding !== undefined) qualities.set(coding.name, coding.quality);
  }
  const others = qualities.get('*') ?? 0;
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? others;
  const identity = qualities.get('identity') ?? others;
  return gzip > 0 && gzip >= identity;
}

/**
 * Answers a scrape with the stored page, followed by the exporter's own metrics. Compressed, these are
 * two gzip members. The second one is stored, not deflated (level 0): deflating some 10 kB for every
 * scrape would take several times as much CPU as everything else in it.
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
