import type { IncomingMessage } from 'node:http';

/** The query of a request; empty if there is none. */
export function paramsOf({ url = '/' }: Pick<IncomingMessage, 'url'>): URLSearchParams {
  return new URLSearchParams(/\?([^#]*)/u.exec(url)?.[1] ?? '');
}

/** Whether the request came over TLS. */
export function isTls({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
  return 'encrypted' in socket;
}
