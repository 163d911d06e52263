import { describe, expect, it } from 'vitest';
import { renderDiagnostic } from '../../../src/config/diagnostic.ts';
import { loadWebConfig } from '../../../src/web/config/load-web-config.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { tlsFiles, tlsText } from '../../support/tls-files.ts';
import { aServerTls } from '../server-tls.ts';
import { block, hash, loadWeb, path, tls } from './web-configs.ts';

describe('a good file', () => {
  it.each([
    { name: 'is empty', text: '' },
    { name: 'has only comments', text: '# nothing\n' },
    { name: 'has an empty map for TLS', text: 'tls_server_config: {}\n' },
  ])('may mean nothing: $name', async ({ text }) => {
    const { config, warnings } = await loadWeb(text);

    expect(config).toEqual({ tls: undefined, users: new Map(), headers: {} });
    expect(warnings).toEqual([]);
  });

  it('names the certificate and its key, relative to itself', async () => {
    const { config, files } = await loadWeb(tls());

    expect(config.tls).toEqual(aServerTls());
    expect([...files.keys()]).toEqual([
      path,
      '/etc/exporter/server.pem',
      '/etc/exporter/server-key.pem',
    ]);
  });

  it('may hold certificate, key and CA itself', async () => {
    const { config } = await loadWeb(
      `tls_server_config:
  cert: ${block(tlsText('server'))}
  key: ${block(tlsText('server-key'))}
  client_auth_type: RequireAndVerifyClientCert
  client_ca: ${block(tlsText('ca'))}
  client_allowed_sans: [a.example, 2001:db8::1]
`,
    );

    expect(config.tls).toMatchObject({
      cert: tlsText('server'),
      key: tlsText('server-key'),
      clientCa: tlsText('ca'),
      clientAuth: 'RequireAndVerifyClientCert',
      allowedSans: ['a.example', '2001:db8::1'],
    });
  });

  it('may choose versions, suites and curves', async () => {
    const { config } = await loadWeb(
      tls(
        'min_version: TLS12',
        'max_version: TLS12',
        'cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]',
        'prefer_server_cipher_suites: false',
        'curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]',
      ),
    );

    expect(config.tls).toMatchObject({
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.2',
      ciphers: expect.stringMatching(/:ECDHE-RSA-AES128-GCM-SHA256$/u) as string,
      prefersServerCiphers: false,
      curves: 'P-256:P-384:P-521:X25519',
    });
  });

  it('may have users, headers and a limit of requests', async () => {
    const { config } = await loadWeb(`
http_server_config:
  http2: false
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: ""
    Strict-Transport-Security: max-age=31536000; includeSubDomains
basic_auth_users:
  alice: ${hash}
  "bob dylan": ${hash}
`);

    expect(config).toMatchObject({
      users: new Map([
        ['alice', hash],
        ['bob dylan', hash],
      ]),
      headers: {
        'Content-Security-Policy': "default-src 'self'",
        'X-Frame-Options': 'deny',
        'X-Content-Type-Options': 'nosniff',
        'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
      },
    });
    expect(Object.keys(config.headers)).not.toContain('X-XSS-Protection');
  });
});

describe('a warning', () => {
  it.each([
    {
      about: 'passwords without TLS',
      text: `basic_auth_users:\n  alice: ${hash}\n`,
      warning: '1:1: warning: without "tls_server_config" passwords cross the network in clear',
    },
    {
      about: 'all public CAs',
      text: tls('client_auth_type: RequireAndVerifyClientCert'),
      warning:
        '4:21: warning: RequireAndVerifyClientCert without a "client_ca_file" accepts the certificates of every public CA',
    },
  ])('names $about', async ({ text, warning }) => {
    const { warnings } = await loadWeb(text);

    expect(warnings.map((found) => renderDiagnostic(found).split('\n')[0])).toEqual([
      `${path}:${warning}`,
    ]);
  });

  it.each([
    {
      when: '2200-01-01',
      message: /"cert_file" .* expired on 2126-\d\d-\d\d: clients will refuse it/u,
    },
    { when: '2020-01-01', message: /"cert_file" .* is not valid before 20\d\d-\d\d-\d\d/u },
  ])('names a certificate that is not valid at $when', async ({ when, message }) => {
    const files = { [path]: tls(), ...tlsFiles('/etc/exporter') };
    const { readFile } = createFakePlatform({ files });
    const { warnings } = await loadWebConfig(path, {
      readFile,
      clock: { wallMs: () => Date.parse(when) },
    });

    expect(warnings.map(({ message: text }) => text)).toEqual([
      expect.stringMatching(message) as string,
    ]);
  });
});
