import type { Dispatcher } from 'undici';
import { ApiError } from '../model/api-error.ts';
import { apiErrorFrom } from './api-error-from.ts';
import { connectionRouteOf } from './connection-route.ts';
import type { RawTransport } from './raw-send.ts';
import { readBodyStart } from './read-body-start.ts';
import { statusReason } from './status-reason.ts';

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
/** The body of a failure only explains it. */
const maxFailureBodyBytes = 64 * 1024;

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
  const fixedHeaders = {
    ...route.headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': options.userAgent,
  };

  return {
    send: async (request, headers, signal) => {
      try {
        const answer = await dispatcher.request({
          origin,
          path: pathPrefix + request.target,
          method: 'GET',
          headers: { ...fixedHeaders, ...headers },
          signal,
        });
        const body = await bodyOf(answer, host, signal);
        return { status: answer.statusCode, headers: answer.headers, body };
      } catch (error) {
        signal.throwIfAborted();
        throw apiErrorFrom(error, host);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function bodyOf(
  answer: Dispatcher.ResponseData,
  host: string,
  signal: AbortSignal,
): Promise<string> {
  const encoding = String(answer.headers['content-encoding'] ?? 'identity');
  const readable = encoding.trim().toLowerCase() === 'identity';
  // What a failure means stands in its status and headers, so its body may be missing.
  if (statusReason(answer.statusCode) !== undefined) {
    return readBodyStart(answer.body, readable ? maxFailureBodyBytes : 0, signal);
  }
  if (readable) return answer.body.text();
  await readBodyStart(answer.body, 0, signal);
  throw new ApiError(
    'not_json',
    `${host}: the answer is compressed (content-encoding: ${encoding.slice(0, 40)}) although that was not accepted; look for a proxy that compresses answers`,
    { status: answer.statusCode },
  );
}
