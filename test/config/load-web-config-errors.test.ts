import { describe, expect, it } from 'vitest';
import { loadWebConfig } from '../../src/config/load-web-config.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { block, hash, path, tls, webFailureOf } from './web-configs.ts';

describe('a bad file, as exporter-toolkit has them', () => {
  it.each([
    {
      name: 'no map at all',
      text: 'hello',
      message: [`${path}:1:1: the file must be a map, not "hello"`, '  1 | *****', '    | ^^^^^'],
    },
    {
      name: 'an unknown key',
      text: 'tls_server_confg: {}',
      message: [
        `${path}:1:1: unknown key "tls_server_confg"`,
        '  1 | tls_server_confg: {}',
        '    | ^^^^^^^^^^^^^^^^',
        '    = help: did you mean "tls_server_config"?',
      ],
    },
    {
      name: 'an unknown key for TLS',
      text: tls('cert_filse: x'),
      message: [
        `${path}:4:3: unknown key "cert_filse"`,
        '  4 |   cert_filse: x',
        '    |   ^^^^^^^^^^',
        '    = help: did you mean "cert_file"?',
      ],
    },
    {
      name: 'an empty path of the certificate',
      text: 'tls_server_config:\n  cert_file: ""\n  key_file: server-key.pem\n',
      message: [
        `${path}:2:14: "cert_file" must not be empty`,
        '  2 |   cert_file: ""',
        '    |              ^^',
      ],
    },
    {
      name: 'neither certificate nor key',
      text: 'tls_server_config:\n  client_auth_type: RequestClientCert\n',
      message: [
        `${path}:1:1: "tls_server_config" needs "cert_file" or "cert"`,
        '  1 | tls_server_config:',
        '    | ^^^^^^^^^^^^^^^^^',
        `${path}:1:1: "tls_server_config" needs "key_file" or "key"`,
        '  1 | tls_server_config:',
        '    | ^^^^^^^^^^^^^^^^^',
      ],
    },
    {
      name: 'paths of files that do not exist',
      text: 'tls_server_config:\n  cert_file: nothing\n  key_file: /no/key\n',
      message: [
        `${path}:2:14: "cert_file" /etc/exporter/nothing does not exist`,
        '  2 |   cert_file: nothing',
        '    |              ^^^^^^^',
        '    = help: create it, readable by this user',
        `${path}:3:13: "key_file" /no/key does not exist`,
        '  3 |   key_file: /no/key',
        '    |             ^^^^^^^',
        '    = help: create it, readable by this user',
      ],
    },
    {
      name: 'a CA of clients that are not asked for a certificate',
      text: tls('client_ca_file: ca.pem'),
      message: [
        `${path}:4:19: CAs of clients are given, but "client_auth_type" asks no client for a certificate`,
        '  4 |   client_ca_file: ca.pem',
        '    |                   ^^^^^^',
        '    = help: add "client_auth_type: RequireAndVerifyClientCert"',
      ],
    },
    {
      name: 'an unknown type of authentication',
      text: tls('client_auth_type: RequireAndVerifyClientCerts'),
      message: [
        `${path}:4:21: "client_auth_type" must be NoClientCert, RequestClientCert, RequireClientCert, RequireAnyClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert, not "RequireAndVerifyClientCerts"`,
        '  4 |   client_auth_type: RequireAndVerifyClientCerts',
        '    |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^',
        '    = help: did you mean "RequireAndVerifyClientCert"?',
      ],
    },
    {
      name: 'a CA file without a certificate',
      text: tls('client_auth_type: RequireAndVerifyClientCert', 'client_ca_file: server-key.pem'),
      message: [
        `${path}:5:19: "client_ca_file" /etc/exporter/server-key.pem holds no certificate that can be read`,
        '  5 |   client_ca_file: server-key.pem',
        '    |                   ^^^^^^^^^^^^^^',
        '    = help: write the certificates into it as PEM, each from BEGIN to END CERTIFICATE',
      ],
    },
    {
      name: 'allowed names of clients that may come without a certificate',
      text: tls('client_auth_type: VerifyClientCertIfGiven', 'client_allowed_sans: [a]'),
      message: [
        `${path}:5:24: "client_allowed_sans" needs "client_auth_type" RequireAndVerifyClientCert or RequireAnyClientCert`,
        '  5 |   client_allowed_sans: [a]',
        '    |                        ^^^',
        '    = help: with other types a client may come without a certificate',
      ],
    },
    {
      name: 'a password instead of its hash',
      text: 'basic_auth_users:\n  alice: opensesame\n',
      message: [
        `${path}:2:10: "alice" must be a bcrypt hash, which begins with $2a$, $2b$ or $2y$`,
        '  2 |   alice: **********',
        '    |          ^^^^^^^^^^',
        '    = help: make one with: htpasswd -nBC 10 "" | tr -d \':\\n\'',
      ],
    },
    {
      name: 'an unknown cipher suite',
      text: tls('cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25]'),
      message: [
        `${path}:4:19: each entry of "cipher_suites" must be a cipher suite by Go's name, such as TLS_ECDHE_…, not "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25"`,
        '  4 |   cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA25]',
        '    |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^',
        '    = help: did you mean "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"?',
      ],
    },
    {
      name: 'an unknown curve',
      text: tls('curve_preferences: [CurveP266]'),
      message: [
        `${path}:4:23: each entry of "curve_preferences" must be CurveP256, CurveP384, CurveP521 or X25519, not "CurveP266"`,
        '  4 |   curve_preferences: [CurveP266]',
        '    |                       ^^^^^^^^^',
        '    = help: did you mean "CurveP256"?',
      ],
    },
    {
      name: 'an unknown version',
      text: tls('min_version: TLS111'),
      message: [
        `${path}:4:16: "min_version" must be TLS10, TLS11, TLS12 or TLS13, not "TLS111"`,
        '  4 |   min_version: TLS111',
        '    |                ^^^^^^',
        '    = help: did you mean "TLS11"?',
      ],
    },
    {
      name: 'a header that may not be set',
      text: 'http_server_config:\n  headers:\n    Server: x\n',
      message: [
        `${path}:3:5: unknown key "Server"`,
        '  3 |     Server: x',
        '    |     ^^^^^^',
        '    = help: the keys here are Content-Security-Policy, X-Frame-Options, X-Content-Type-Options, X-XSS-Protection, Strict-Transport-Security',
      ],
    },
    {
      name: 'a bad value of a header',
      text: 'http_server_config:\n  headers:\n    X-Frame-Options: all\n    X-Content-Type-Options: sniff\n',
      message: [
        `${path}:3:22: "X-Frame-Options" must be deny or sameorigin, not "all"`,
        '  3 |     X-Frame-Options: all',
        '    |                      ^^^',
        `${path}:4:29: "X-Content-Type-Options" must be nosniff, not "sniff"`,
        '  4 |     X-Content-Type-Options: sniff',
        '    |                             ^^^^^',
        '    = help: did you mean "nosniff"?',
      ],
    },
  ])('is refused with its place: $name', async ({ text, message }) => {
    expect((await webFailureOf(text)).split('\n')).toEqual(message);
  });

  it('is refused if it does not exist', async () => {
    const loading = loadWebConfig('/no/web.yaml', createFakePlatform());

    await expect(loading).rejects.toThrow(
      '/no/web.yaml: the web configuration file does not exist\n    = help: name the web configuration file with --web.config.file',
    );
  });
});

describe('a bad file of other kinds', () => {
  it.each([
    {
      name: 'the same thing twice',
      text: tls('cert: x'),
      headline: '2:3: "cert" and "cert_file" cannot both be given: remove one of them',
    },
    {
      name: 'a key of another certificate',
      text: 'tls_server_config:\n  cert_file: server.pem\n  key_file: renewed-key.pem\n',
      headline: '3:13: "key_file" /etc/exporter/renewed-key.pem does not belong to the certificate',
    },
    {
      name: 'a certificate in place of the key',
      text: 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.pem\n',
      headline: '3:13: "key_file" /etc/exporter/server.pem holds no key that can be read',
    },
    {
      name: 'an encrypted key',
      text: 'tls_server_config:\n  cert_file: server.pem\n  key_file: encrypted.pem\n',
      headline: '3:13: "key_file" /etc/exporter/encrypted.pem is encrypted',
    },
    {
      name: 'versions in the wrong order',
      text: tls('min_version: TLS13', 'max_version: TLS12'),
      headline: '4:16: "min_version" TLS13 is newer than "max_version" TLS12',
    },
    {
      name: 'a cost that takes minutes',
      text: `basic_auth_users:\n  alice: ${hash.replace('$10$', '$20$')}\n`,
      headline: '2:10: "alice" has a bcrypt cost of 20: it must be from 4 to 15',
    },
    {
      name: 'a user name that no client can send',
      text: `basic_auth_users:\n  "alice:admin": ${hash}\n`,
      headline:
        '2:3: "alice:admin" is not possible as a user name: it must not be empty or hold a colon',
    },
    {
      name: 'a limit that refuses everything',
      text: 'rate_limit: { interval: 1s, burst: 0 }\n',
      headline: '1:36: "burst" of 0 would refuse every request: write at least 1',
    },
    {
      name: 'half a limit',
      text: 'rate_limit: { interval: 1s }\n',
      headline: '1:13: missing key "burst"',
    },
    {
      name: 'nothing where users should be',
      text: 'basic_auth_users:\n',
      headline: '1:1: "basic_auth_users" must be a map',
    },
    {
      name: 'a header with a line break',
      text: 'http_server_config: { headers: { X-XSS-Protection: "0\\r\\nX: y" } }\n',
      headline: '1:52: "X-XSS-Protection" must hold nothing but printable ASCII characters',
    },
  ])('is refused: $name', async ({ text, headline }) => {
    const pem =
      '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
    const failure = await webFailureOf(text, { '/etc/exporter/encrypted.pem': pem });

    expect(failure.split('\n').filter((line) => line.startsWith(path))).toEqual([
      `${path}:${headline}`,
    ]);
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
