import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

const contentType = 'application/json; charset=utf-8';
const quotaDocs =
  'https://docs.newrelic.com/docs/apis/rest-api-v2/requirements/api-overload-protection-preventing-429-errors';

/** A 200 with a document, an `ETag` and, for one of several pages, a `Link`. It has no quota headers. */
export function documentAnswer(document: unknown, link?: string): Answer {
  const body = JSON.stringify(document);
  const digest = createHash('md5').update(body).digest('hex');
  return {
    status: 200,
    headers: {
      'Content-Type': contentType,
      ETag: `W/"${digest}"`,
      ...(link === undefined ? {} : { Link: link }),
    },
    body,
  };
}

/** An error in the vendor's envelope. */
export function errorAnswer(
  status: number,
  title: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return {
    status,
    headers: { 'Content-Type': contentType, ...headers },
    body: JSON.stringify({ error: { title } }),
  };
}

/** A 429: the only answer that tells about the quota. `resetSeconds` counts from the epoch. */
export function overQuotaAnswer(limit: number, resetSeconds: number): Answer {
  return {
    status: 429,
    headers: {
      'Content-Type': contentType,
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(resetSeconds),
      'X-RateLimit-Docs': quotaDocs,
    },
    body: '{}',
  };
}
