import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, type FailureReason, failureReasons } from '../../../src/model/api-error.ts';
import { apiErrorFrom, statusReason } from '../../../src/newrelic/calls/transport-errors.ts';

function anError(fields: Readonly<Record<string, unknown>>, message = 'secret?names[]=x'): Error {
  return Object.assign(new Error(message), fields);
}

/** The codes of Node.js, OpenSSL and undici for each reason. */
const codes: readonly (readonly [FailureReason, codes: string])[] = [
  ['dns', 'ENOTFOUND EAI_AGAIN'],
  ['connect', 'ECONNREFUSED EHOSTUNREACH ENETUNREACH EMFILE UND_ERR_CONNECT_TIMEOUT'],
  ['connect', 'UND_ERR_ABORTED'],
  ['tls', 'CERT_HAS_EXPIRED CERT_NOT_YET_VALID DEPTH_ZERO_SELF_SIGNED_CERT EPROTO'],
  ['tls', 'SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID'],
  ['tls', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY ERR_SSL_WRONG_VERSION_NUMBER UND_ERR_PRX_TLS'],
  ['reset', 'ECONNRESET EPIPE UND_ERR_SOCKET UND_ERR_RES_CONTENT_LENGTH_MISMATCH'],
  ['reset', 'HPE_INVALID_EOF_STATE'],
  ['timeout', 'UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT ETIMEDOUT'],
  ['too_large', 'UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_HEADERS_OVERFLOW'],
  ['not_json', 'HPE_INVALID_CONSTANT'],
  ['client', 'UND_ERR_INVALID_ARG UND_ERR_DESTROYED SOMETHING_NEW'],
];

describe('an error of a connection', () => {
  it.each(codes.flatMap(([reason, all]) => all.split(' ').map((code) => [code, reason] as const)))(
    '%s has the reason %s, and names the host and the code, but no text of others',
    (code, reason) => {
      const cause = anError({ code });
      const error = apiErrorFrom(cause, 'api.newrelic.com');

      expect(error).toMatchObject({ reason, cause });
      expect(error.message).toMatch(/^api\.newrelic\.com: .+; .+/u);
      expect(error.message).toContain(code);
      const isShown = reason === 'tls' || code === 'UND_ERR_ABORTED';
      expect(error.message.includes('secret')).toBe(isShown);
    },
  );

  it.each([
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'client certificate'],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', 'client certificate'],
    ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'client certificate'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS 1.2 or 1.3'],
    ['CERT_HAS_EXPIRED', 'ca_file'],
  ])('%s says what that means: %s', (code, says) => {
    expect(apiErrorFrom(anError({ code }), 'host').message).toContain(says);
  });

  const refused = anError({ code: 'ECONNREFUSED', address: '::1', port: 3128 });
  const circular = anError({});
  circular.cause = circular;
  it.each<[string, FailureReason, unknown]>([
    ['ETIMEDOUT while it connects', 'connect', anError({ code: 'ETIMEDOUT', syscall: 'connect' })],
    [
      'one inside of others',
      'connect',
      new TypeError('x', { cause: new AggregateError([anError({}), refused]) }),
    ],
    [
      'one around another',
      'tls',
      anError({ code: 'UND_ERR_PRX_TLS', cause: anError({ code: 'EPIPE' }) }),
    ],
    ['one that is its own cause', 'client', circular],
    ['errors that are no list', 'client', anError({ errors: 'none' })],
    ...[undefined, null, 'text', { code: 5 }].map((thrown): [string, FailureReason, unknown] => [
      typeof thrown,
      'client',
      thrown,
    ]),
  ])('%s is %s', (_, reason, thrown) => {
    expect(apiErrorFrom(thrown, 'host').reason).toBe(reason);
  });

  it('names the address', () => {
    expect(apiErrorFrom(refused, 'host').message).toContain('ECONNREFUSED ::1:3128');
  });

  it('is passed on as it is if it is ours', () => {
    const original = new ApiError('timeout', 'too late');

    expect(apiErrorFrom(original, 'host')).toBe(original);
  });

  it('of TLS shows its message, on one line and cut if it is long', () => {
    const long = anError({ code: 'EPROTO' }, `wrong\nversion number ${'x'.repeat(500)}`);
    const { message } = apiErrorFrom(long, 'host');

    expect(message).toContain('EPROTO: wrong version number xxx');
    expect(message.length).toBeLessThan(400);
  });
});

describe('a status', () => {
  it.each<[FailureReason | undefined, readonly number[]]>([
    [undefined, [200, 204, 299]],
    ['redirect', [300, 304, 399]],
    ['auth', [401, 403]],
    ['not_found', [404]],
    ['throttled', [429]],
    ['client', [199, 400, 407, 422, 499]],
    ['server', [500, 504, 999]],
  ])('is %s: %j', (reason, statuses) => {
    expect(new Set(statuses.map(statusReason))).toEqual(new Set([reason]));
  });

  it('has a reason or is a success, whatever number it is', () => {
    const known = new Set<FailureReason | undefined>([undefined, ...failureReasons]);
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double()), (status) => {
        expect(known.has(statusReason(status))).toBe(true);
      }),
    );
  });
});
