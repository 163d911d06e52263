import { createAbortWatch } from './abort-watch.ts';
import { connectionRouteOf } from './connection-route.ts';
import { Exchange } from './exchange.ts';
import type { RawTransport } from './raw-send.ts';

export interface UndiciTransportOptions {
  /** Scheme, host and port, perhaps a path prefix. */
  readonly baseUrl: string;
  /** Connections at most. */
  readonly connections: number;
  readonly proxyUrl: string | undefined;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca: string | undefined;
  readonly userAgent: string;
  /** A 2xx answer with a larger body is refused. Default: 16 MiB. */
  readonly maxResponseBytes?: number;
  /** Until the connection stands, TLS included. Default: 5 s. */
  readonly connectTimeoutMs?: number;
}

/** Far above a full page: 200 applications with all their hosts. */
const defaultMaxResponseBytes = 16 * 1024 * 1024;
const defaultConnectTimeoutMs = 5000;

/**
 * The wire: sends GET requests over a pool of connections to one origin. Follows no redirect and asks
 * for uncompressed answers (small bodies cost more to unpack than to transfer).
 */
export function createUndiciTransport(options: UndiciTransportOptions): RawTransport {
  const { host } = new URL(options.baseUrl);
  const route = connectionRouteOf({
    ...options,
    maxResponseBytes: options.maxResponseBytes ?? defaultMaxResponseBytes,
    connectTimeoutMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
  });
  const { dispatcher, origin, pathPrefix } = route;
  const headersFor = createHeaderLists({
    ...route.headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': options.userAgent,
  });
  // The deadline's signals come again and again.
  const abortWatch = createAbortWatch({ keepsListening: true });

  return {
    send: (request, headers, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const exchange = new Exchange({ host, signal, abortWatch }, { resolve, reject });
        const path = pathPrefix + request.target;
        try {
          dispatcher.dispatch(
            { origin, path, method: 'GET', headers: headersFor(headers) },
            exchange,
          );
        } catch (error) {
          exchange.fail(error);
        }
      }),
    close: () => dispatcher.destroy(),
  };
}

type Headers = Readonly<Record<string, string>>;

/** Names and values in turn, as undici likes them; made anew only when the headers are other ones. */
function createHeaderLists(fixed: Headers): (headers: Headers) => string[] {
  let last: { readonly headers: Headers; readonly list: string[] } | undefined;
  return (headers) => {
    if (last?.headers !== headers) {
      last = { headers, list: Object.entries({ ...fixed, ...headers }).flat() };
    }
    return last.list;
  };
}
