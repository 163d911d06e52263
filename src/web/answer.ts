import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Format } from '../publish/page.ts';

export interface WebAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Sent one after the other, without a copy. */
  readonly body: readonly Buffer[];
}

export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
) => WebAnswer | Promise<WebAnswer>;

const securityHeaders: OutgoingHttpHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** A short text. */
export function textAnswer(
  status: number,
  contentType: string,
  text: string,
  headers: OutgoingHttpHeaders = {},
): WebAnswer {
  return {
    status,
    headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store', ...headers },
    body: [Buffer.from(text)],
  };
}

/** A short text for people and logs; ends with a newline. */
export function plainAnswer(
  status: number,
  text: string,
  headers?: OutgoingHttpHeaders,
): WebAnswer {
  return textAnswer(status, 'text/plain; charset=utf-8', `${text}\n`, headers);
}

export function jsonAnswer(status: number, value: unknown): WebAnswer {
  return textAnswer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

/** The path of a request, without the query and without the origin that a proxy may add. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path === '' ? '/' : path;
}

/** The query of a request; empty if there is none. */
export function paramsOf({ url = '/' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/u.exec(url)?.[1] ?? '');
}

/**
 * Whether the `Accept-Encoding` of a request calls for gzip: it is allowed, and the client does not
 * prefer the plain answer (RFC 9110, section 12.5.3).
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const headers = { 'accept-encoding': acceptEncoding };
  return new Negotiator({ headers }).encoding(['gzip', 'identity']) === 'gzip';
}

export const contentTypes: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** How Prometheus 3 wants unusual names to be written. There are none, so it decides nothing. */
const escaping = /;\s*escaping=[^;,]*/giu;

/**
 * The format of the page that the `Accept` of a request calls for. What calls for neither gets the text
 * format, which people and old scrapers can read.
 */
export function formatFor(accept: string | undefined): Format {
  const headers = { accept: accept?.replaceAll(escaping, '') };
  const { text, openmetrics } = contentTypes;
  const preferred = new Negotiator({ headers }).mediaType([text, openmetrics]);
  return preferred === openmetrics ? 'openmetrics' : 'text';
}

const compress = promisify(gzip);

/** The answer in gzip if the client prefers that; compressed in another thread. */
export async function compressed(request: IncomingMessage, answer: WebAnswer): Promise<WebAnswer> {
  const headers = { ...answer.headers, Vary: 'Accept-Encoding' };
  if (!prefersGzip(request.headers['accept-encoding'])) return { ...answer, headers };
  return {
    status: answer.status,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: [await compress(Buffer.concat(answer.body))],
  };
}

/** Sends the answer; only its headers if the request is HEAD. */
export function send(request: IncomingMessage, response: ServerResponse, answer: WebAnswer): void {
  const parts = answer.body.filter((part) => part.length > 0);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(answer.status, {
    ...securityHeaders,
    ...answer.headers,
    'Content-Length': length,
  });
  const last = request.method === 'HEAD' ? undefined : parts.at(-1);
  if (last === undefined) {
    response.end();
    return;
  }
  // Node takes a response that was ended for done and its connection for idle, although its bytes may
  // still wait for a slow client: closing the server would cut it off. So the response ends only
  // after the last byte has left.
  for (const part of parts.slice(0, -1)) response.write(part);
  response.write(last, () => response.end());
}
