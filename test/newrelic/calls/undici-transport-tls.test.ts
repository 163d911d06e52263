import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { httpServer, httpsServer, proxyServer, relayTo, tcpServer } from './loopback-server.ts';
import { apiErrorOf, get, openTransport } from './open-transport.ts';

// A key pair for these tests alone: self-signed, for the name "localhost", valid until 2126.
const key = readFileSync(new URL('fixtures/test-only-key.pem', import.meta.url), 'utf8');
const cert = readFileSync(new URL('fixtures/test-only-certificate.pem', import.meta.url), 'utf8');

function tunnelTo(port: number, socket: Socket): void {
  relayTo(port, socket, () => socket.write('HTTP/1.1 200 Connection Established\r\n\r\n'));
}

describe('createUndiciTransport over TLS', () => {
  it('refuses a certificate that no known CA has signed', async () => {
    const server = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const transport = openTransport({ baseUrl: `https://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('tls');
    expect(error.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
    expect(error.message).toContain('ca_file');
  });

  it('accepts a certificate that a CA of the extra bundle has signed', async () => {
    const server = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const transport = openTransport({ baseUrl: `https://localhost:${server.port}`, ca: cert });

    const answer = await get(transport);

    expect(answer.status).toBe(200);
  });

  it('refuses a certificate for another host', async () => {
    const server = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const transport = openTransport({ baseUrl: `https://127.0.0.1:${server.port}`, ca: cert });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('tls');
    expect(error.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('says that the other side speaks plain HTTP when it does', async () => {
    const server = await httpServer((_request, response) => response.end('{}'));
    const transport = openTransport({ baseUrl: `https://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('tls');
    expect(error.message).toContain('does not speak TLS (ERR_SSL_');
    expect(error.message).not.toMatch(/error:|openssl|\.c:|[0-9A-F]{8}/);
    expect(error.message).toContain('scheme and port of base_url');
  });

  it('points to the scheme when https is spoken at the port of an http address', async () => {
    const server = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('reset');
    expect(error.message).toContain('the scheme of base_url (http or https)');
  });

  it('points to the scheme when the answer to plain http is a TLS alert', async () => {
    const server = await tcpServer((socket) => socket.end(Buffer.from([21, 3, 1, 0, 2, 2, 70])));
    const transport = openTransport({ baseUrl: `http://localhost:${server.port}` });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('not_json');
    expect(error.message).toContain('scheme and port of base_url');
  });

  it.each([
    { maxVersion: 'TLSv1.2', reason: 'tls' },
    // Here the server checks the certificate when the client already considers the connection open.
    { maxVersion: 'TLSv1.3', reason: 'reset' },
  ] as const)(
    'says that the server may want a client certificate when it does: $maxVersion',
    async ({ maxVersion, reason }) => {
      const server = await httpsServer(
        { key, cert, ca: cert, requestCert: true, rejectUnauthorized: true, maxVersion },
        (_request, response) => response.end('{}'),
      );
      const transport = openTransport({ baseUrl: `https://localhost:${server.port}`, ca: cert });

      const error = await apiErrorOf(get(transport));

      expect(error.reason).toBe(reason);
      expect(error.message).toContain('client certificate');
    },
  );

  it('gives up a handshake that does not end', async () => {
    const server = await tcpServer(() => undefined);
    const transport = openTransport({
      baseUrl: `https://localhost:${server.port}`,
      connectTimeoutMs: 50,
    });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('connect');
    expect(error.message).toContain('UND_ERR_CONNECT_TIMEOUT');
    expect(error.message).toContain('that the server speaks TLS');
  });
});

describe('createUndiciTransport through a proxy', () => {
  it('tunnels to an https origin, whose key the proxy never sees', async () => {
    const keys: unknown[] = [];
    const origin = await httpsServer({ key, cert }, (request, response) => {
      keys.push(request.headers['api-key']);
      response.end('{"through":"tunnel"}');
    });
    const tunnels: unknown[] = [];
    const proxy = await proxyServer(
      (request, socket) => {
        tunnels.push([
          request.url,
          request.headers['proxy-authorization'],
          request.headers['api-key'],
        ]);
        tunnelTo(origin.port, socket);
      },
      (_request, response) => response.writeHead(500).end(),
    );
    const transport = openTransport({
      baseUrl: `https://localhost:${origin.port}/prefix`,
      proxyUrl: `http://user:pass%20word@127.0.0.1:${proxy.port}`,
      ca: cert,
    });

    const answer = await get(transport);

    const credentials = Buffer.from('user:pass word').toString('base64');
    expect(answer.body).toBe('{"through":"tunnel"}');
    expect(tunnels).toEqual([[`localhost:${origin.port}`, `Basic ${credentials}`, undefined]]);
    expect(keys).toEqual(['test-key']);
  });

  it('checks the certificate of the origin behind the tunnel', async () => {
    const origin = await httpsServer({ key, cert }, (_request, response) => response.end('{}'));
    const proxy = await proxyServer(
      (_request, socket) => {
        tunnelTo(origin.port, socket);
      },
      (_request, response) => response.writeHead(500).end(),
    );
    const transport = openTransport({
      baseUrl: `https://localhost:${origin.port}`,
      proxyUrl: `http://127.0.0.1:${proxy.port}`,
    });

    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe('tls');
  });

  it('sends a plain http request in absolute form', async () => {
    const seen: unknown[] = [];
    const proxy = await proxyServer(
      (_request, socket) => socket.destroy(),
      (request, response) => {
        seen.push([request.url, request.headers.host, request.headers['proxy-authorization']]);
        response.end('{"through":"proxy"}');
      },
    );
    const transport = openTransport({
      baseUrl: 'http://vendor.invalid:8080/prefix',
      proxyUrl: `http://user:@127.0.0.1:${proxy.port}`,
    });

    const answer = await get(transport, '/v2/applications.json');

    const credentials = Buffer.from('user:').toString('base64');
    expect(answer.body).toBe('{"through":"proxy"}');
    expect(seen).toEqual([
      [
        'http://vendor.invalid:8080/prefix/v2/applications.json',
        'vendor.invalid:8080',
        `Basic ${credentials}`,
      ],
    ]);
  });
});
