import { createSecureContext, rootCertificates } from 'node:tls';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';

export interface ConnectionOptions {
  /** Scheme, host and port, perhaps a path prefix. */
  readonly baseUrl: string;
  /** Connections at most. */
  readonly connections: number;
  readonly proxyUrl: string | undefined;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca: string | undefined;
  /** An answer with a larger body is broken off. */
  readonly maxResponseBytes: number;
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
}

/** The deadline of a call ends it much earlier: these only guard connections that nobody waits for. */
const silenceTimeoutMs = 600_000;

/** Opens nothing yet: connections are made when requests need them. */
export function connectionRouteOf(options: ConnectionOptions): ConnectionRoute {
  const base = new URL(options.baseUrl);
  const pathPrefix = base.pathname.replace(/\/+$/, '');
  const proxy = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl);
  const poolOptions: Pool.Options = {
    connections: options.connections,
    pipelining: 1,
    maxResponseSize: options.maxResponseBytes,
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
  };
  const connect = connectOptionsOf(options);

  if (proxy === undefined) {
    const dispatcher = new Pool(base.origin, { ...poolOptions, connect });
    return { dispatcher, origin: base.origin, pathPrefix, headers: {} };
  }
  if (base.protocol === 'http:' && proxy.protocol.startsWith('http')) {
    // Proxies commonly refuse tunnels to anything but port 443: plain HTTP goes in absolute form.
    const dispatcher = new Pool(proxy.origin, { ...poolOptions, connect });
    const headers = { host: base.host, ...proxyAuthorizationOf(proxy) };
    return { dispatcher, origin: proxy.origin, pathPrefix: base.origin + pathPrefix, headers };
  }
  const dispatcher = new ProxyAgent({
    ...poolOptions,
    uri: proxy.href,
    requestTls: connect,
    proxyTls: connect,
    // A proxy that accepts the connection and then says nothing must not hold it for long.
    clientFactory: (origin, tunnelOptions) =>
      new Pool(origin, { ...tunnelOptions, headersTimeout: options.connectTimeoutMs }),
  });
  return { dispatcher, origin: base.origin, pathPrefix, headers: {} };
}

function connectOptionsOf(options: ConnectionOptions): {
  timeout: number;
  rejectUnauthorized: true;
  secureContext?: ReturnType<typeof createSecureContext>;
} {
  // Explicit, so that no environment variable can turn the verification off.
  const fixed = { timeout: options.connectTimeoutMs, rejectUnauthorized: true } as const;
  if (options.ca === undefined) return fixed;
  // `ca` replaces the built-in certificates, so these are named too; parsed once, not per connection.
  const secureContext = createSecureContext({ ca: [...rootCertificates, options.ca] });
  return { ...fixed, secureContext };
}

function proxyAuthorizationOf(proxy: URL): Readonly<Record<string, string>> {
  if (proxy.username === '') return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
