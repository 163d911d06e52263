import type { AnswerMemory } from './answer-memory.ts';
import { connectionRouteOf } from './connection-route.ts';
import { createAbortWatch } from './deadline.ts';
import { Exchange } from './exchange.ts';
import type { RawTransport } from './transport.ts';

export interface UndiciTransportOptions {
  /** Scheme, host and port, perhaps a path prefix. */
  readonly baseUrl: string;
  /** Connections at most. */
  readonly connections: number;
  readonly proxyUrl: string | undefined;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca: string | undefined;
  readonly userAgent: string;
  /** Until the connection stands, TLS included. Default: 5 s. */
  readonly connectTimeoutMs?: number;
}

export interface UndiciTransportDependencies {
  readonly memory: AnswerMemory;
}

const defaultConnectTimeoutMs = 5000;

/**
 * The wire: sends GET requests over a pool of connections to one origin. Follows no redirect and asks
 * for uncompressed answers (small bodies cost more to unpack than to transfer).
 */
export function createUndiciTransport(
  options: UndiciTransportOptions,
  { memory }: UndiciTransportDependencies,
): RawTransport {
  const route = connectionRouteOf({
    ...options,
    connectTimeoutMs: options.connectTimeoutMs ?? defaultConnectTimeoutMs,
  });
  const { dispatcher, origin, pathPrefix, peer } = route;
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
        const { operation } = request;
        const exchange = new Exchange(
          { operation, peer, signal, abortWatch, memory },
          { resolve, reject },
        );
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
    close: async () => route.close(),
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
