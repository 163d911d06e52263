import type { IncomingMessage } from 'node:http';

/** The path of a request, without the query and without the origin that a proxy may add. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  return path === '' ? '/' : path;
}
