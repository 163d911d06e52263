import type { Server, ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import { SocketAddress } from 'node:net';
import { DEFAULT_CIPHERS, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ServerTls } from '../model/web-config.ts';
import type { Connections } from './connections.ts';

/** The server of one listening socket. */
export interface HttpServer {
  readonly server: Server;
  /** New connections get this certificate and these rules; open ones stay. Does nothing without TLS. */
  readonly renewTls: (tls: ServerTls) => void;
}

/** How long a client may take to read why it is refused. */
const lingerMs = 1000;

const plainHttpAnswer =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n' +
  'This port speaks HTTPS: ask with https:// (in Prometheus: scheme: https).\n';

/** Which certificates OpenSSL asks for and refuses; `clientRefusal` decides on the rest. */
function clientRules({ clientAuth }: ServerTls): TlsOptions {
  return {
    requestCert: clientAuth !== 'NoClientCert',
    rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
  };
}

function contextOf(tls: ServerTls): TlsOptions {
  // Versions before TLS 1.2 work only with signatures that OpenSSL refuses otherwise.
  const isOld = tls.minVersion === 'TLSv1' || tls.minVersion === 'TLSv1.1';
  const ciphers = isOld ? `${tls.ciphers ?? DEFAULT_CIPHERS}:@SECLEVEL=0` : tls.ciphers;
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    honorCipherOrder: tls.prefersServerCiphers,
    ...(tls.clientCa !== undefined && { ca: tls.clientCa }),
    ...(ciphers !== undefined && { ciphers }),
    ecdhCurve: tls.curves ?? 'auto',
  };
}

/** Creates a server that speaks HTTP over TLS, and ends the connections of clients that it refuses. */
export function createTlsServer(
  first: ServerTls,
  options: ServerOptions,
  connections: Connections,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): HttpServer {
  let tls = first;
  const server = createServer({ ...options, ...contextOf(tls), ...clientRules(tls) });
  // Before the listener of the HTTP server, which would read requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const problem = clientRefusal(socket, tls);
    if (problem === undefined) return;
    logger.debug({ client: socket.remoteAddress, problem }, 'client refused');
    socket.destroy();
  });
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    logger.debug({ error }, 'handshake of a client failed');
    const transport = connections.transportOf(socket);
    // Without a handshake there is no way to send an answer through TLS.
    socket.destroy();
    if (error.code !== 'ERR_SSL_HTTP_REQUEST' || transport?.writable !== true) return;
    transport.end(plainHttpAnswer);
    const cancelTimer = clock.after(lingerMs, () => transport.destroy());
    transport.once('close', cancelTimer);
  });

  return {
    server,
    renewTls: (next) => {
      server.setSecureContext(contextOf(next));
      // Node.js reads these for each connection, although only the constructor is meant to set them.
      Object.assign(server, clientRules(next));
      tls = next;
    },
  };
}

/** Why a client is refused after its handshake; `undefined` if it may ask. */
function clientRefusal(
  socket: TLSSocket,
  { clientAuth, allowedSans }: ServerTls,
): string | undefined {
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    return clientAuth === 'VerifyClientCertIfGiven' ? undefined : 'it has no certificate';
  }
  const isVerified = clientAuth === 'RequireAnyClientCert' || socket.authorized;
  if (!isVerified) return 'no CA of ours has signed its certificate, or it has expired';
  if (allowedSans === undefined) return undefined;
  const allowed = new Set(allowedSans.map(plainAddress));
  if (subjectAltNamesOf(certificate).some((name) => allowed.has(name))) return undefined;
  return 'its certificate has none of the names in client_allowed_sans';
}

const kinds: ReadonlySet<string> = new Set(['DNS', 'IP Address', 'email', 'URI']);

/** One name; Node.js writes a value as JSON if a name of another kind could be read into it. */
const oneName = /(?<kind>[^:,]+):(?<value>"(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gu;

/** The alternative names of a certificate that can be compared with `client_allowed_sans`. */
export function subjectAltNamesOf({
  subjectAltName = '',
}: {
  readonly subjectAltName?: string | undefined;
}): readonly string[] {
  return [...subjectAltName.matchAll(oneName)].flatMap(({ groups }) => {
    const { kind = '', value = '' } = groups ?? {};
    if (!kinds.has(kind)) return [];
    const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
    return [kind === 'IP Address' ? plainAddress(name) : name];
  });
}

/** IPv6 addresses can be written in several ways; all other texts stay as they are. */
function plainAddress(text: string): string {
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*$/iu.test(text)) return text;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).address;
  } catch {
    return text;
  }
}
