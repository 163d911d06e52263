import { getCiphers } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  cipherNames,
  clientAuthNames,
  clientAuthOf,
  curveNames,
  opensslCiphers,
  opensslCurves,
} from '../../src/web-config/tls-names.ts';

describe('opensslCiphers', () => {
  it.each(cipherNames.map((name) => ({ name })))('knows $name as OpenSSL does', ({ name }) => {
    const known = new Set(getCiphers());
    const ciphers = opensslCiphers([name])?.split(':') ?? [];

    expect(ciphers.filter((cipher) => !known.has(cipher.toLowerCase()))).toEqual([]);
    expect(ciphers).toHaveLength(/^TLS_(?:AES|CHACHA20)/u.test(name) ? 3 : 4);
  });

  it('keeps the order, after the suites of TLS 1.3, which are always on', () => {
    const names = [
      'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
      'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
    ];

    expect(opensslCiphers(names)).toBe(
      'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:' +
        'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256',
    );
  });

  it('leaves an empty list to the defaults', () => {
    expect(opensslCiphers([])).toBeUndefined();
    expect(opensslCurves([])).toBeUndefined();
  });
});

describe('opensslCurves', () => {
  it('keeps the order', () => {
    expect(opensslCurves(curveNames.toReversed())).toBe('X25519:P-521:P-384:P-256');
  });
});

describe('clientAuthOf', () => {
  it('knows the old name of a type', () => {
    expect([...new Set(clientAuthNames.map(clientAuthOf))]).toEqual([
      'NoClientCert',
      'RequestClientCert',
      'RequireAnyClientCert',
      'VerifyClientCertIfGiven',
      'RequireAndVerifyClientCert',
    ]);
  });
});
