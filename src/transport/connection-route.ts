import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { apiErrorFrom } from './transport-errors.ts';
import { createTunnels, proxyAuthorizationOf } from './tunnels.ts';

type Connector = buildConnector.connector;

export interface ConnectionOptions {
  /** Scheme, host and port, perhaps a path prefix. */
  readonly baseUrl: string;
  /** Connections at most. */
  readonly connections: number;
  readonly proxyUrl: string | undefined;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca: string | undefined;
  readonly connectTimeoutMs: number;
}

/** How requests reach the account's origin: directly or through a proxy. */
export interface ConnectionRoute {
  readonly dispatcher: Dispatcher;
  /** What the dispatcher connects to. */
  readonly origin: string;
  /** Stands before the path of every request; without a trailing slash. */
  readonly pathPrefix: string;
  /** What the route itself needs on every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The other end, as errors name it; with the proxy, if there is one. */
  readonly peer: string;
  /** Breaks off whatever is under way and closes every connection. */
  close(): Promise<void>;
}

/** The deadline of a call ends it much earlier: these only guard connections that nobody waits for. */
const silenceTimeoutMs = 600_000;

/** Opens nothing yet: connections are made when requests need them. */
export function connectionRouteOf(options: ConnectionOptions): ConnectionRoute {
  const base = new URL(options.baseUrl);
  const pathPrefix = base.pathname.replace(/\/+$/, '');
  const tls = tlsOptionsOf(options);
  const poolTo = (origin: string, connect: Connector): Pool =>
    new Pool(origin, {
      connections: options.connections,
      pipelining: 1,
      headersTimeout: silenceTimeoutMs,
      bodyTimeout: silenceTimeoutMs,
      connect,
    });

  if (options.proxyUrl === undefined) {
    const peer = base.host;
    const dispatcher = poolTo(base.origin, createConnector(tls, peer));
    const close = async (): Promise<void> => dispatcher.destroy();
    return { dispatcher, origin: base.origin, pathPrefix, headers: {}, peer, close };
  }
  const proxy = new URL(options.proxyUrl);
  const peer = `${base.host}: through the proxy ${proxy.host}`;
  const connect = createConnector(tls, peer);
  if (base.protocol === 'http:') {
    // Proxies commonly refuse tunnels to anything but port 443: plain HTTP goes in absolute form.
    const dispatcher = poolTo(proxy.origin, connect);
    return {
      dispatcher,
      origin: proxy.origin,
      pathPrefix: base.origin + pathPrefix,
      headers: { host: base.host, ...proxyAuthorizationOf(proxy) },
      peer,
      close: async () => dispatcher.destroy(),
    };
  }
  const tunnels = createTunnels(
    { proxy, peer, openTimeoutMs: options.connectTimeoutMs },
    { connectToProxy: connect, connectInside: createConnector(tls, peer) },
  );
  const dispatcher = poolTo(base.origin, tunnels.connect);
  const close = async (): Promise<void> => {
    await Promise.all([dispatcher.destroy(), tunnels.close()]);
  };
  return { dispatcher, origin: base.origin, pathPrefix, headers: {}, peer, close };
}

/**
 * Makes one connection, or fails with an `ApiError`. After some errors of its own undici connects
 * again for the request that waits, without end and without a pause; it knows them by their code, and
 * an `ApiError` has none.
 */
function createConnector(tls: buildConnector.BuildOptions, peer: string): Connector {
  const connect = buildConnector(tls);
  // The name to expect in a certificate is that of the host connected to: undici would take the one
  // in the header `host`, which behind a proxy is another one.
  return (target, callback) => {
    connect({ ...target, servername: '' }, (...result) => {
      if (result[0] === null) callback(...result);
      else callback(apiErrorFrom(result[0], peer), null);
    });
  };
}

function tlsOptionsOf(options: ConnectionOptions): buildConnector.BuildOptions {
  // Explicit, so that no environment variable can turn the verification off.
  const fixed = { timeout: options.connectTimeoutMs, rejectUnauthorized: true };
  if (options.ca === undefined) return fixed;
  // `ca` replaces the built-in certificates, so these are named too; parsed once, not per connection.
  const secureContext = createSecureContext({ ca: [...rootCertificates, options.ca] });
  return { ...fixed, secureContext };
}
