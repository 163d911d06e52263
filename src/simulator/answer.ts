import { createHash } from 'node:crypto';
import type { QuotaVerdict } from './quota.ts';

/** A complete answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

/** A 429: the only answer that tells about the quota. */
export function overQuotaAnswer(verdict: QuotaVerdict): Answer {
  return {
    status: 429,
    headers: {
      'Content-Type': contentType,
      'X-RateLimit-Limit': String(verdict.limit),
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': String(verdict.resetSeconds),
      'X-RateLimit-Docs': quotaDocs,
    },
    body: '{}',
  };
}

/** A 200 to a request that does not accept JSON: the status without the document. */
export function withoutBody(answer: Answer): Answer {
  return { ...answer, body: '' };
}
