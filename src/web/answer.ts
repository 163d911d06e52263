import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { prefersGzip } from './negotiation.ts';

const securityHeaders: OutgoingHttpHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Sent one after the other, without a copy. */
  readonly body: readonly Buffer[];
}

/** A short text. */
export function textAnswer(
  status: number,
  contentType: string,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Answer {
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
  headers: OutgoingHttpHeaders = {},
): Answer {
  return textAnswer(status, 'text/plain; charset=utf-8', `${text}\n`, headers);
}

const compress = promisify(gzip);

/** The answer in gzip if the client prefers that; compressed in another thread. */
export async function compressed(request: IncomingMessage, answer: Answer): Promise<Answer> {
  const headers = { ...answer.headers, Vary: 'Accept-Encoding' };
  if (!prefersGzip(request.headers['accept-encoding'])) return { ...answer, headers };
  return {
    status: answer.status,
    headers: { ...headers, 'Content-Encoding': 'gzip' },
    body: [await compress(Buffer.concat(answer.body))],
  };
}

/** Sends the answer; only its headers if the request is HEAD. */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const length = answer.body.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(answer.status, {
    ...securityHeaders,
    ...answer.headers,
    'Content-Length': length,
  });
  if (request.method === 'HEAD' || length === 0) {
    response.end();
    return;
  }
  // Node takes a response that was ended for done and its connection for idle, although its bytes may
  // still wait for a slow client: closing the server would cut it off. So the response ends only
  // after the last byte has left.
  const parts = answer.body.filter((part) => part.length > 0);
  for (const [index, part] of parts.entries()) {
    if (index < parts.length - 1) response.write(part);
    else response.write(part, () => response.end());
  }
}
