import type { X509Certificate } from 'node:crypto';
import type { Server, ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import { type Socket, SocketAddress } from 'node:net';
import { DEFAULT_CIPHERS, type TLSSocket, type TlsOptions } from 'node:tls';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import type { ServerTls } from '../model/web-config.ts';

/** The server of one listening socket. */
export interface HttpListener {
  readonly server: Server;
  /** New connections get this certificate and these rules; open ones stay. Does nothing without TLS. */
  renewTls(tls: ServerTls): void;
  /** Ends all connections at once, those in a handshake too. */
  cutOff(): void;
  /** The TCP connection below a connection. */
  readonly transportOf: (socket: Socket) => Socket;
}

/** A client that does not end its handshake by then is cut off. */
const handshakeTimeoutMs = 10_000;

/** How long a client may take to read why it is refused. */
const lingerMs = 1000;

const plainHttpAnswer =
  'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n' +
  'This port speaks HTTPS: ask with https:// (in Prometheus: scheme: https).\n';

/** Versions before TLS 1.2 work only with signatures that OpenSSL refuses otherwise. */
function ciphersOf({ ciphers, minVersion }: ServerTls): string | undefined {
  if (minVersion !== 'TLSv1' && minVersion !== 'TLSv1.1') return ciphers;
  return `${ciphers ?? DEFAULT_CIPHERS}:@SECLEVEL=0`;
}

/** Which certificates OpenSSL asks for and refuses; `refusalOf` decides on the rest. */
function clientRules({ clientAuth }: ServerTls): TlsOptions {
  return {
    requestCert: clientAuth !== 'NoClientCert',
    rejectUnauthorized: clientAuth === 'RequireAndVerifyClientCert',
  };
}

function contextOf(tls: ServerTls): TlsOptions {
  const ciphers = ciphersOf(tls);
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: tls.minVersion,
    maxVersion: tls.maxVersion,
    honorCipherOrder: tls.prefersServerCiphers,
    ...(tls.clientCa === undefined ? {} : { ca: tls.clientCa }),
    ...(ciphers === undefined ? {} : { ciphers }),
    ecdhCurve: tls.curves ?? 'auto',
  };
}

/** Names a connection by its client. No two open ones of a listener have the same name. */
function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Creates a server that speaks HTTP over TLS, and ends the connections of clients that it refuses. */
export function createTlsListener(
  first: ServerTls,
  options: ServerOptions,
  { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
): HttpListener {
  let tls = first;
  const server = createServer({
    ...options,
    ...contextOf(tls),
    ...clientRules(tls),
    handshakeTimeout: options.headersTimeout ?? handshakeTimeoutMs,
  });
  const open = new Map<string, Socket>();
  const transports = new WeakMap<Socket, Socket>();

  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    open.set(name, socket);
    socket.once('close', () => open.delete(name));
  });
  // Before the listener of the HTTP server, which would read requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const transport = open.get(nameOf(socket));
    if (transport !== undefined) transports.set(socket, transport);
    const reason = refusalOf(socket, tls);
    if (reason === undefined) return;
    logger.debug({ client: socket.remoteAddress, problem: reason }, 'client refused');
    socket.destroy();
  });
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    logger.debug({ error }, 'handshake of a client failed');
    const transport = open.get(nameOf(socket));
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
    cutOff: () => {
      server.closeAllConnections();
      for (const transport of open.values()) transport.destroy();
    },
    transportOf: (socket) => transports.get(socket) ?? socket,
  };
}

/** Why a client is refused after its handshake; `undefined` if it may ask. */
function refusalOf(socket: TLSSocket, tls: ServerTls): string | undefined {
  const { clientAuth, allowedSans } = tls;
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
}: Pick<X509Certificate, 'subjectAltName'>): readonly string[] {
  return [...subjectAltName.matchAll(oneName)]
    .map(({ groups }) => ({ kind: groups?.['kind'] ?? '', value: groups?.['value'] ?? '' }))
    .filter(({ kind }) => kinds.has(kind))
    .map(({ kind, value }) => {
      const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
      return kind === 'IP Address' ? plainAddress(name) : name;
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
