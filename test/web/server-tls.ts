import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { ServerTls, WebConfig } from '../../src/model/web-config.ts';
import type { Access } from '../../src/web/web-guard.ts';
import { tlsText } from '../support/tls-files.ts';

/** What a web configuration gives that has nothing but the certificate of the tests. */
export function aServerTls(overrides: Partial<ServerTls> = {}): ServerTls {
  return {
    cert: tlsText('server'),
    key: tlsText('server-key'),
    clientCa: undefined,
    clientAuth: 'NoClientCert',
    allowedSans: undefined,
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.3',
    ciphers: undefined,
    curves: undefined,
    prefersServerCiphers: true,
    ...overrides,
  };
}

/** Whom a server with TLS and without passwords lets in. */
export function tlsAccess(overrides: Partial<ServerTls> = {}): Access {
  const config: WebConfig = { tls: aServerTls(overrides), users: new Map(), headers: {} };
  return {
    config: () => config,
    comparePassword: async () => {
      throw new Error('there are no passwords');
    },
  };
}

/** Connects as a client that trusts the CA of the tests. */
export function secureClient(port: number, options: ConnectionOptions = {}): TLSSocket {
  const client = connect({ port, host: 'localhost', ca: tlsText('ca'), ...options });
  return client.on('error', () => undefined);
}
