import { createSecureContext, rootCertificates } from 'node:tls';
import { buildConnector, Pool } from 'undici';
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
/** Calls end earlier, at their timeout: this only guards connections that no call waits for. */
const silenceTimeoutMs = 600_000;

/**
 * The wire: sends requests over a pool of connections to one origin, directly or through a proxy. It follows
 * no redirect and asks for uncompressed answers, because small bodies cost more to unpack than to transfer.
 * Opens nothing yet: connections are made when requests need them.
 */
export function createUndiciTransport(
  options: UndiciTransportOptions,
  { maxBytes }: { readonly maxBytes: AnswerLimits },
): RawTransport {
  const { connections, userAgent, connectTimeoutMs = defaultConnectTimeoutMs } = options;
  const base = new URL(options.baseUrl);
  const proxy = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl);
  const peer = proxy === undefined ? base.host : `${base.host}: through the proxy ${proxy.host}`;
  const tls = tlsOptionsOf(options.ca, connectTimeoutMs);
  const connect = createConnector(tls, peer);
  const inside = { connectToProxy: connect, connectInside: createConnector(tls, peer) };
  const tunnels =
    proxy === undefined || base.protocol === 'http:'
      ? undefined
      : createTunnels({ proxy, peer, openTimeoutMs: connectTimeoutMs, ...inside });
  const { origin, pathPrefix, headers: own } = routeOf(base, tunnels ? undefined : proxy);
  const pool = new Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: silenceTimeoutMs,
    bodyTimeout: silenceTimeoutMs,
    connect: tunnels?.connect ?? connect,
  });
  const fixedHeaders = {
    ...own,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': userAgent,
  };

  return {
    send: async ({ target, body, answerSize = 'small' }, headers, signal) => {
      const path = pathPrefix + target;
      const all = { ...fixedHeaders, ...headers };
      try {
        const answer = await pool.request(
          body === undefined
            ? { path, method: 'GET', headers: all, signal }
            : { path, method: 'POST', headers: { ...all, ...jsonType }, body, signal },
        );
        return await readAnswer(answer, { maxBytes: maxBytes[answerSize], peer, signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : apiErrorFrom(error, peer);
      }
    },
    close: async () => {
      await Promise.all([pool.destroy(), tunnels?.close()]);
    },
  };
}

const jsonType = { 'content-type': 'application/json' };

/** Proxies commonly refuse tunnels to anything but port 443: plain HTTP goes in absolute form. */
function routeOf(base: URL, proxy: URL | undefined) {
  const path = base.pathname.replace(/\/+$/, '');
  if (proxy === undefined) return { origin: base.origin, pathPrefix: path, headers: {} };
  const headers = { host: base.host, ...proxyAuthorizationOf(proxy) };
  return { origin: proxy.origin, pathPrefix: base.origin + path, headers };
}

type UndiciConnector = buildConnector.connector;

/**
 * Makes one connection, or fails with an `ApiError`. After some errors of its own undici connects
 * again for the same request, without end and without a pause. It knows these errors by their code,
 * and an `ApiError` has none.
 */
function createConnector(tls: buildConnector.BuildOptions, peer: string): UndiciConnector {
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
