import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a page of another site made a browser send this request. Browsers say so in one of two headers;
 * programs such as curl send neither.
 */
export function isCrossSite({
  'sec-fetch-site': site,
  origin,
  host = '',
}: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  if (!/^https?:\/\//iu.test(origin) || !URL.canParse(origin)) return true;
  const { protocol, host: asking } = new URL(origin);
  // Both without the port that the scheme implies.
  const own = `${protocol}//${host}`;
  return !URL.canParse(own) || new URL(own).host !== asking;
}
