import { describe, expect, it } from 'vitest';
import { loadWebConfig } from '../../../src/web/config/load-web-config.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { block, hash, path, tls, webFailureOf } from './web-configs.ts';

const ofTwoUsers = 'basic_auth_users:\n  "alice:admin": HASH\n  alice: opensesame\n';

type Case = readonly [text: string, places: string, names: readonly string[]];

describe('a bad file', () => {
  /** What is in it, where each mistake is, and what its message must name. */
  const cases: readonly Case[] = [
    ['hello', '1:1', ['must be a map']],
    ['tls_server_confg: {}', '1:1', ['did you mean "tls_server_config"']],
    [tls('cert_filse: x'), '4:3', ['did you mean "cert_file"']],
    ['tls_server_config: {cert_file: "", key_file: k}\n', '1:32', ['"cert_file"', 'empty']],
    ['tls_server_config: {client_auth_type: RequestClientCert}', '1:1 1:1', ['"cert"', '"key"']],
    [
      'tls_server_config: {cert_file: nothing, key_file: /no/key}',
      '1:32 1:51',
      ['/etc/exporter/nothing does not exist', '/no/key does not exist'],
    ],
    [tls('cert: x'), '2:3', ['"cert" and "cert_file"']],
    [tls('client_ca_file: ca.pem'), '4:19', ['add "client_auth_type']],
    [tls('client_auth_type: RequireClientCerts'), '4:21', ['not "RequireClientCerts"']],
    [
      tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: server-key.pem'),
      '5:19',
      ['server-key.pem', 'no certificate'],
    ],
    [
      tls('client_auth_type: VerifyClientCertIfGiven', 'client_allowed_sans: [a]'),
      '5:24',
      ['"client_allowed_sans"', 'without a certificate'],
    ],
    [tls('cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25]'), '4:19', ['GCM_SHA256"?']],
    [tls('curve_preferences: [CurveP266]'), '4:23', ['"CurveP256"?']],
    [tls('min_version: TLS111'), '4:16', ['"TLS11"?']],
    [tls('min_version: TLS13', 'max_version: TLS12'), '4:16', ['TLS13', 'TLS12']],
    [
      'tls_server_config: {cert_file: server.pem, key_file: renewed-key.pem}',
      '1:54',
      ['does not belong to the certificate'],
    ],
    ['tls_server_config: {cert_file: server.pem, key_file: server.pem}', '1:54', ['no key']],
    [
      'tls_server_config: {cert_file: server-key.pem, key_file: server-key.pem}',
      '1:32',
      ['server-key.pem', 'no certificate'],
    ],
    ['tls_server_config: {cert_file: server.pem, key_file: encrypted.pem}', '1:54', ['encrypted']],
    ['basic_auth_users:\n', '1:1', ['must be a map']],
    [ofTwoUsers.replace('HASH', hash), '2:3 3:10', ['colon', 'bcrypt', 'htpasswd']],
    ...['03', '16', '99'].map(
      (cost): Case => [
        `basic_auth_users:\n  alice: ${hash.replace('$10$', `$${cost}$`)}\n`,
        '2:10',
        [String(Number(cost)), '4 to 15'],
      ],
    ),
    ...[hash.slice(0, -1), `${hash}.`, hash.replace('2y', '2x'), '$6$r$s$h', '12345678'].map(
      (value): Case => [
        `basic_auth_users:\n  alice: ${value}\n`,
        '2:10',
        ['begins with $2a$, $2b$ or $2y$', 'htpasswd'],
      ],
    ),
    ['http_server_config:\n  headers:\n    Server: x\n', '3:5', ['"Server"', 'X-Frame-Options']],
    [
      'http_server_config: { headers: { X-Content-Type-Options: sniff } }\n',
      '1:58',
      ['must be nosniff'],
    ],
    [
      'http_server_config: { headers: { X-XSS-Protection: "0\\r\\nX: y" } }\n',
      '1:52',
      ['printable ASCII'],
    ],
  ];

  it.each(cases)('is refused with its places: %s', async (text, places, names) => {
    const pem =
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
    const failure = await webFailureOf(text, { '/etc/exporter/encrypted.pem': pem });

    const found = [...failure.matchAll(/^\/etc\/exporter\/web\.yaml:(\d+:\d+):/gmu)];
    expect(found.map(([, place]) => place).join(' ')).toBe(places);
    for (const name of names) expect(failure).toContain(name);
  });

  it('is refused if it does not exist', async () => {
    const loading = loadWebConfig('/no/web.yaml', createFakePlatform());

    await expect(loading).rejects.toThrow(
      /\/no\/web\.yaml: .* does not exist\n.*--web\.config\.file/u,
    );
  });

  it('has all its errors named in one run', async () => {
    const failure = await webFailureOf(
      tls('client_ca_file: nothing', 'min_version: TLS13', 'max_version: TLS12'),
    );

    expect(failure.match(/^\/etc/gmu)).toHaveLength(3);
  });
});

describe('a password or a key in the file', () => {
  it.each([
    { what: 'a number', text: 'basic_auth_users:\n  alice: 48151623\n', secret: '48151623' },
    { what: 'a variable', text: 'basic_auth_users:\n  alice: $ecret\n', secret: 'ecret' },
    { what: 'a list', text: 'basic_auth_users:\n  alice: [opensesame]\n', secret: 'opensesame' },
    { what: 'the only user', text: 'basic_auth_users: opensesame\n', secret: 'opensesame' },
    {
      what: 'in a line that is no YAML',
      text: 'basic_auth_users:\n\talice: opensesame\n',
      secret: 'opensesame',
    },
    {
      what: 'given twice',
      text: 'basic_auth_users:\n  alice: one1\n  alice: opensesame\n',
      secret: 'opensesame',
    },
    {
      what: 'a key that is none',
      text: `tls_server_config:\n  cert_file: server.pem\n  key: ${block('opensesame')}\n`,
      secret: 'opensesame',
    },
  ])('is never repeated: $what', async ({ text, secret }) => {
    const failure = await webFailureOf(text);

    expect(failure).toContain(path);
    expect(failure).not.toContain(secret);
  });
});
