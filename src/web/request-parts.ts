import type { IncomingMessage } from 'node:http';

/** The path of a request, without the query and without the origin that a proxy may add. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path === '' ? '/' : path;
}

/** The query of a request; empty if there is none. */
export function paramsOf({ url = '/' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/u.exec(url)?.[1] ?? '');
}
