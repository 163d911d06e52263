import { type buildConnector, Client } from 'undici';
import { ApiError } from '../../model/api-error.ts';
import { apiErrorFrom } from './transport-errors.ts';

type Connector = buildConnector.connector;
type Socket = NonNullable<buildConnector.Options['httpSocket']>;

export interface TunnelOptions {
  readonly proxy: URL;
  /** The origin and the proxy, as errors name them. */
  readonly peer: string;
  /** How long the proxy may take to answer once the connection to it is open. */
  readonly openTimeoutMs: number;
  readonly connectToProxy: Connector;
  /** Speaks TLS with the origin, inside the tunnel. */
  readonly connectInside: Connector;
}

/** Connections to an https origin through an HTTP proxy. */
export interface Tunnels {
  readonly connect: Connector;
  /** Aborts the tunnels that are not open yet. */
  close(): Promise<void>;
}

/**
 * Each connection to the origin is one `CONNECT` over one connection to the proxy. When that fails,
 * the connection has failed.
 *
 * undici's own `ProxyAgent` will not do. It reports a proxy that closes the connection as
 * `UND_ERR_SOCKET`; undici's client takes that for the end of an idle connection, and opens the next
 * one for the same request at once, thousands of times a second.
 */
export function createTunnels(options: TunnelOptions): Tunnels {
  const { proxy, peer, openTimeoutMs, connectToProxy, connectInside } = options;
  const proxyHeaders = { 'proxy-connection': 'keep-alive', ...proxyAuthorizationOf(proxy) };
  const opening = new Set<Client>();

  /** Calls back with an open tunnel, or with the `ApiError` that says why there is none. */
  const open = (target: string, callback: buildConnector.Callback): void => {
    const client = new Client(proxy.origin, {
      connect: connectToProxy,
      headersTimeout: openTimeoutMs,
    });
    opening.add(client);
    const headers = { host: target, ...proxyHeaders };
    client.connect({ path: target, headers }, (error, answer) => {
      opening.delete(client);
      // The socket of an open tunnel no longer belongs to the client.
      void client.destroy();
      if (error !== null) {
        callback(tunnelErrorFrom(error, peer), null);
        return;
      }
      const { socket, statusCode } = answer;
      if (statusCode >= 200 && statusCode < 300 && isSocket(socket)) {
        callback(null, socket);
        return;
      }
      socket.on('error', () => undefined).destroy();
      callback(tunnelRefusal(peer, statusCode), null);
    });
  };

  return {
    connect: (origin, callback) => {
      const target = `${origin.host ?? origin.hostname}${origin.port === '' ? ':443' : ''}`;
      open(target, (...tunnel) => {
        if (tunnel[0] === null) connectInside({ ...origin, httpSocket: tunnel[1] }, callback);
        else callback(...tunnel);
      });
    },
    close: async () => {
      await Promise.all([...opening].map(async (client) => client.destroy()));
    },
  };
}

/** The stream is the socket that `connectToProxy` made; undici's types say less. */
function isSocket(stream: object): stream is Socket {
  return 'setKeepAlive' in stream;
}

function tunnelRefusal(peer: string, status: number): ApiError {
  const remedy =
    status === 407
      ? 'check user and password in proxy_url'
      : 'check proxy_url, and that the proxy may connect to the API';
  return new ApiError(
    'connect',
    `${peer}: the proxy refuses the tunnel with status ${status}; ${remedy}`,
  );
}

function tunnelErrorFrom(error: unknown, peer: string): ApiError {
  const found = apiErrorFrom(error, peer);
  // An error of the connection to the proxy itself.
  if (found === error || found.reason !== 'reset') return found;
  return new ApiError(
    'reset',
    `${peer}: the proxy closes the connection instead of opening a tunnel; check that proxy_url leads to a proxy that works, and that it can reach the API`,
    { cause: error },
  );
}

/** What a proxy wants to know of a user, as it is sent: in base64. Empty when its URL holds no user. */
export function proxyCredentialsOf({ username, password }: URL): string {
  if (username === '') return '';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return Buffer.from(credentials).toString('base64');
}

/** The header that a proxy wants; none when its URL holds no user. */
export function proxyAuthorizationOf(proxy: URL): Readonly<Record<string, string>> {
  const credentials = proxyCredentialsOf(proxy);
  return credentials === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` };
}
