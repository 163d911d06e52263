import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { httpServer, httpsServer, proxyServer, tcpServer, tunnelTo } from './loopback-server.ts';
import { apiErrorOf, get, openTransport, tls } from './open-transport.ts';

const { cert } = tls;
const answering: RequestListener = (_request, response) => void response.end('{}');
const https = async () => (await httpsServer(tls, answering)).port;
const http = async () => (await httpServer(answering)).port;
const alert = Buffer.from([21, 3, 1, 0, 2, 2, 70]);
const alerting = async () => (await tcpServer((socket) => socket.end(alert))).port;
const silent = async () => (await tcpServer(() => undefined)).port;
/** In TLS 1.3 the client considers the connection open before the server checks its certificate. */
const wantingCertificate = (maxVersion: 'TLSv1.2' | 'TLSv1.3') => async () => {
  const options = { ...tls, ca: cert, requestCert: true, rejectUnauthorized: true, maxVersion };
  return (await httpsServer(options, answering)).port;
};
const scheme = 'scheme and port of base_url';

describe('a connection over TLS', () => {
  it('is trusted if a CA of the extra bundle has signed the certificate', async () => {
    const answer = await get(openTransport(`https://localhost:${await https()}`, { ca: cert }));

    expect(answer.status).toBe(200);
  });

  it.each<[string, () => Promise<number>, string, string, readonly string[], string?]>([
    [
      'no known CA has signed it',
      https,
      'https://localhost',
      'tls',
      ['DEPTH_ZERO_SELF_SIGNED_CERT', 'ca_file'],
    ],
    [
      'it is for another host',
      https,
      'https://127.0.0.1',
      'tls',
      ['ERR_TLS_CERT_ALTNAME_INVALID'],
      cert,
    ],
    [
      'the server speaks plain HTTP',
      http,
      'https://localhost',
      'tls',
      ['does not speak TLS (ERR_SSL_', scheme],
    ],
    [
      'the address is that of plain HTTP',
      https,
      'http://localhost',
      'reset',
      ['the scheme of base_url (http or https)'],
    ],
    ['the answer is an alert of TLS', alerting, 'http://localhost', 'not_json', [scheme]],
    [
      'it wants one of ours',
      wantingCertificate('TLSv1.2'),
      'https://localhost',
      'tls',
      ['client certificate'],
      cert,
    ],
    [
      'it wants one of ours, of TLS 1.3',
      wantingCertificate('TLSv1.3'),
      'https://localhost',
      'reset',
      ['client certificate'],
      cert,
    ],
    [
      'the handshake does not end',
      silent,
      'https://localhost',
      'connect',
      ['UND_ERR_CONNECT_TIMEOUT', 'that the server speaks TLS'],
    ],
  ])('is refused, and why: %s', async (_, open, address, reason, says, ca) => {
    const connectTimeoutMs = open === silent ? 50 : 5000;
    const transport = openTransport(`${address}:${await open()}`, { ca, connectTimeoutMs });
    const error = await apiErrorOf(get(transport));

    expect(error.reason).toBe(reason);
    for (const text of says) expect(error.message).toContain(text);
    expect(error.message).not.toMatch(/error:|openssl|\.c:|[0-9A-F]{8}/u);
  });
});

describe('a connection through a proxy', () => {
  it.each([
    { what: 'if its certificate is trusted', ca: cert, keys: ['test-key'] },
    { what: 'but not if it is not', ca: undefined, keys: [] },
  ])(
    'is a tunnel to an https origin, whose key the proxy never sees, $what',
    async ({ ca, keys }) => {
      const [seen, tunnels]: [unknown[], unknown[]] = [[], []];
      const origin = await httpsServer(tls, (request, response) => {
        seen.push(request.headers['api-key']);
        response.end('{"through":"tunnel"}');
      });
      const proxy = await proxyServer(({ url, headers }, socket) => {
        tunnels.push([url, headers['proxy-authorization'], headers['api-key']]);
        tunnelTo(origin.port, socket);
      });
      const proxyUrl = `http://user:pass%20word@127.0.0.1:${proxy.port}`;
      const transport = openTransport(`https://localhost:${origin.port}/prefix`, { proxyUrl, ca });
      const outcome = await get(transport).then(
        ({ body }) => body,
        ({ reason }: { reason: string }) => reason,
      );

      expect(outcome).toBe(ca === undefined ? 'tls' : '{"through":"tunnel"}');
      const credentials = `Basic ${btoa('user:pass word')}`;
      expect(tunnels).toEqual([[`localhost:${origin.port}`, credentials, undefined]]);
      expect(seen).toEqual(keys);
    },
  );

  it('sends a plain http request in absolute form', async () => {
    const seen: unknown[] = [];
    const proxy = await proxyServer(
      (_request, socket) => socket.destroy(),
      ({ url, headers }, response) => {
        seen.push([url, headers.host, headers['proxy-authorization']]);
        response.end('{"through":"proxy"}');
      },
    );
    const proxyUrl = `http://user:@127.0.0.1:${proxy.port}`;
    const transport = openTransport('http://vendor.invalid:8080/prefix', { proxyUrl });
    const answer = await get(transport, '/v2/applications.json');

    const url = 'http://vendor.invalid:8080/prefix/v2/applications.json';
    expect(answer.body).toBe('{"through":"proxy"}');
    expect(seen).toEqual([[url, 'vendor.invalid:8080', `Basic ${btoa('user:')}`]]);
  });
});
