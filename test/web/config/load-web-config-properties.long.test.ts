import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { hash, loadWeb } from './web-configs.ts';

const secret = 'open-sesame-4711';

const scalar = fc.oneof(
  fc.constantFrom('TLS12', 'TLS13', 'server.pem', 'server-key.pem', 'ca.pem', '', '1s', hash),
  fc.constantFrom('NoClientCert', 'RequireAndVerifyClientCert', 'deny', 'nosniff', 'X25519'),
  fc.constantFrom(null, true, false, 0, 1, -1, 1e300),
  fc.string({ unit: 'binary' }),
);
const value = fc.oneof(
  { depthSize: 'small' },
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.string(), scalar, { maxKeys: 3, noNullPrototype: true }),
);

/** A map with some of these keys, and perhaps another one. */
function mapOf(keys: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...keys) }, fc.string());
  return fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true });
}

const file = fc.record(
  {
    tls_server_config: mapOf([
      'cert',
      'key',
      'cert_file',
      'key_file',
      'client_ca_file',
      'client_auth_type',
      'client_allowed_sans',
      'min_version',
      'max_version',
      'cipher_suites',
      'curve_preferences',
    ]),
    http_server_config: mapOf(['http2', 'headers']),
    basic_auth_users: fc.oneof(value, mapOf(['alice', 'bob'])),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** The message of the error, or nothing. Any other error fails. */
async function outcomeOf(text: string): Promise<string> {
  try {
    await loadWeb(text);
    return '';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

describe('loadWebConfig', () => {
  it('loads whatever a file holds, or says what is wrong with it', async () => {
    await fc.assert(
      fc.asyncProperty(file, async (content) => {
        expect(typeof (await outcomeOf(JSON.stringify(content, undefined, 1)))).toBe('string');
      }),
      { numRuns: 300 },
    );
  });

  it('never repeats a password, whatever else is wrong', async () => {
    await fc.assert(
      fc.asyncProperty(file, fc.nat(400), async (content, cut) => {
        const users = { alice: secret, bob: [secret], carol: { dave: secret } };
        const text = JSON.stringify({ ...content, basic_auth_users: users }, undefined, 1);
        const broken = `${text.slice(0, cut)}\t${text.slice(cut)}`;

        expect(await outcomeOf(text)).not.toContain(secret);
        expect(await outcomeOf(broken)).not.toContain(secret);
      }),
      { numRuns: 200 },
    );
  });
});
