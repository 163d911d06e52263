import type { IncomingHttpHeaders } from 'node:http';

/** What a request's key is worth. The key itself goes no further than the quota. */
export type Credentials =
  | { readonly kind: 'valid'; readonly key: string; readonly index: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' };

function single(value: string | readonly string[] | undefined): string | undefined {
  const first = typeof value === 'string' ? value : value?.[0];
  return first === '' ? undefined : first;
}

/** Reads the key from `Api-Key`, or else from `X-Api-Key`. */
export function readCredentials(
  headers: IncomingHttpHeaders,
  apiKeys: readonly string[],
): Credentials {
  const key = single(headers['api-key']) ?? single(headers['x-api-key']);
  if (key === undefined) return { kind: 'missing' };
  const index = apiKeys.indexOf(key);
  return index < 0 ? { kind: 'invalid' } : { kind: 'valid', key, index };
}

/**
 * Whether JSON may be sent. A request without an `Accept` header does not get a document: the
 * vendor answers it with 200 and an empty body.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const type = range.split(';')[0]?.trim().toLowerCase();
    return type === 'application/json' || type === 'application/*' || type === '*/*';
  });
}
