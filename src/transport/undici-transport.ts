import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { type AnswerLimits, readAnswer } from './answer-body.ts';
import type { RawTransport } from './transport.ts';
import { apiErrorFrom } from './transport-errors.ts';
import { createTunnels, proxyAuthorizationOf } from './tunnels.ts';

export interface UndiciTransportOptions {
  /** Scheme, host and port, perhaps a path prefix. */
  readonly baseUrl: string;
  readonly connections: number;
  readonly proxyUrl: string | undefined;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca: string | undefined;
  readonly userAgent: string;
  /** How long a connection may take to open, TLS included. Default: 5 s. */
  readonly connectTimeoutMs?: number;
}

const defaultConnectTimeoutMs = 5000;

/**
 * The wire: sends requests over a pool of connections to one origin. It follows no redirect and
 * asks for uncompressed answers, because small bodies cost more to unpack than to transfer.
 */
export function createUndiciTransport(
  options: UndiciTransportOptions,
  { maxBytes }: { readonly maxBytes: AnswerLimits },
): RawTransport {
  const route = connectionRouteOf(options, options.connectTimeoutMs ?? defaultConnectTimeoutMs);
  const { dispatcher, origin, pathPrefix, peer } = route;
  const fixedHeaders = {
    ...route.headers,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': options.userAgent,
  };

  return {
    send: async ({ target, body, answerSize = 'small' }, headers, signal) => {
      const path = pathPrefix + target;
      const all = { ...fixedHeaders, ...headers };
      try {
        const answer = await dispatcher.request(
          body === undefined
            ? { origin, path, method: 'GET', headers: all, signal }
            : { origin, path, method: 'POST', headers: { ...all, ...json }, body, signal },
        );
        return await readAnswer(answer, { maxBytes: maxBytes[answerSize], peer, signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : apiErrorFrom(error, peer);
      }
    },
    close: async () => route.close(),
  };
}

const json = { 'content-type': 'application/json' };

type Connector = buildConnector.connector;

/** How requests reach the account's origin: directly or through a proxy. */
interface ConnectionRoute {
  readonly dispatcher: Dispatcher;
  /** What the dispatcher connects to. */
  readonly origin: string;
  /** Goes before the path of every request; without a trailing slash. */
  readonly pathPrefix: string;
  /** What the route itself needs on every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The other end, as errors name it, with the proxy if there is one. */
  readonly peer: string;
  close(): Promise<void>;
}

/** Calls end much earlier, at their deadline: this only guards connections that no call waits for. */
const silenceTimeoutMs = 600_000;

/** Opens nothing yet: connections are made when requests need them. */
function connectionRouteOf(
  options: UndiciTransportOptions,
  connectTimeoutMs: number,
): ConnectionRoute {
  const base = new URL(options.baseUrl);
  const pathPrefix = base.pathname.replace(/\/+$/, '');
  const tls = tlsOptionsOf(options.ca, connectTimeoutMs);
  const poolTo = (origin: string, connect: Connector): Pool =>
    new Pool(origin, {
      connections: options.connections,
      pipelining: 1,
      headersTimeout: silenceTimeoutMs,
      bodyTimeout: silenceTimeoutMs,
      connect,
    });

  const proxy = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl);
  const peer = proxy === undefined ? base.host : `${base.host}: through the proxy ${proxy.host}`;
  const connect = createConnector(tls, peer);
  if (proxy === undefined || base.protocol === 'http:') {
    const { origin } = proxy ?? base;
    const dispatcher = poolTo(origin, connect);
    const close = async (): Promise<void> => dispatcher.destroy();
    if (proxy === undefined) return { dispatcher, origin, pathPrefix, headers: {}, peer, close };
    // Proxies commonly refuse tunnels to anything but port 443: plain HTTP goes in absolute form.
    const headers = { host: base.host, ...proxyAuthorizationOf(proxy) };
    return { dispatcher, origin, pathPrefix: base.origin + pathPrefix, headers, peer, close };
  }
  const connectors = { connectToProxy: connect, connectInside: createConnector(tls, peer) };
  const tunnels = createTunnels({ proxy, peer, openTimeoutMs: connectTimeoutMs, ...connectors });
  const dispatcher = poolTo(base.origin, tunnels.connect);
  const close = async (): Promise<void> => {
    await Promise.all([dispatcher.destroy(), tunnels.close()]);
  };
  return { dispatcher, origin: base.origin, pathPrefix, headers: {}, peer, close };
}

/**
 * Makes one connection, or fails with an `ApiError`. After some errors of its own undici connects
 * again for the same request, without end and without a pause. It knows these errors by their code,
 * and an `ApiError` has none.
 */
function createConnector(tls: buildConnector.BuildOptions, peer: string): Connector {
  const connect = buildConnector(tls);
  // A certificate must have the name of the host that is connected to. undici would expect the name
  // in the header `host`, which is another one behind a proxy.
  return (target, callback) => {
    connect({ ...target, servername: '' }, (...result) => {
      if (result[0] === null) callback(...result);
      else callback(apiErrorFrom(result[0], peer), null);
    });
  };
}

function tlsOptionsOf(ca: string | undefined, timeoutMs: number): buildConnector.BuildOptions {
  // Explicit, so that no environment variable can turn the verification off.
  const fixed = { timeout: timeoutMs, rejectUnauthorized: true };
  if (ca === undefined) return fixed;
  // `ca` replaces the built-in certificates, so these are named too. Parsed once, not per connection.
  const secureContext = createSecureContext({ ca: [...rootCertificates, ca] });
  return { ...fixed, secureContext };
}
