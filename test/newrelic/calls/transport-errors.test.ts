import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError, failureReasons } from '../../../src/model/api-error.ts';
import { apiErrorFrom, statusReason } from '../../../src/newrelic/calls/transport-errors.ts';

function anError(fields: Readonly<Record<string, unknown>>, message = 'secret?names[]=x'): Error {
  return Object.assign(new Error(message), fields);
}

describe('apiErrorFrom', () => {
  it.each([
    { code: 'ENOTFOUND', reason: 'dns' },
    { code: 'EAI_AGAIN', reason: 'dns' },
    { code: 'ECONNREFUSED', reason: 'connect' },
    { code: 'EHOSTUNREACH', reason: 'connect' },
    { code: 'ENETUNREACH', reason: 'connect' },
    { code: 'EMFILE', reason: 'connect' },
    { code: 'UND_ERR_CONNECT_TIMEOUT', reason: 'connect' },
    { code: 'UND_ERR_ABORTED', reason: 'connect' },
    { code: 'CERT_HAS_EXPIRED', reason: 'tls' },
    { code: 'CERT_NOT_YET_VALID', reason: 'tls' },
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', reason: 'tls' },
    { code: 'SELF_SIGNED_CERT_IN_CHAIN', reason: 'tls' },
    { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', reason: 'tls' },
    { code: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', reason: 'tls' },
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID', reason: 'tls' },
    { code: 'ERR_SSL_WRONG_VERSION_NUMBER', reason: 'tls' },
    { code: 'EPROTO', reason: 'tls' },
    { code: 'UND_ERR_PRX_TLS', reason: 'tls' },
    { code: 'ECONNRESET', reason: 'reset' },
    { code: 'EPIPE', reason: 'reset' },
    { code: 'UND_ERR_SOCKET', reason: 'reset' },
    { code: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', reason: 'reset' },
    { code: 'HPE_INVALID_EOF_STATE', reason: 'reset' },
    { code: 'UND_ERR_HEADERS_TIMEOUT', reason: 'timeout' },
    { code: 'UND_ERR_BODY_TIMEOUT', reason: 'timeout' },
    { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE', reason: 'too_large' },
    { code: 'UND_ERR_HEADERS_OVERFLOW', reason: 'too_large' },
    { code: 'HPE_INVALID_CONSTANT', reason: 'not_json' },
    { code: 'UND_ERR_INVALID_ARG', reason: 'client' },
    { code: 'UND_ERR_DESTROYED', reason: 'client' },
    { code: 'SOMETHING_NEW', reason: 'client' },
  ])('gives $code the reason $reason and names the host and the code', ({ code, reason }) => {
    const cause = anError({ code });

    const error = apiErrorFrom(cause, 'api.newrelic.com');

    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(/^api\.newrelic\.com: .+; .+/);
    expect(error.message).toContain(code);
    expect(error.cause).toBe(cause);
  });

  it.each([
    { syscall: 'connect', reason: 'connect' },
    { syscall: 'read', reason: 'timeout' },
  ])('gives ETIMEDOUT of $syscall the reason $reason', ({ syscall, reason }) => {
    const error = apiErrorFrom(anError({ code: 'ETIMEDOUT', syscall }), 'host');

    expect(error.reason).toBe(reason);
  });

  it.each([
    { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', says: 'client certificate' },
    { code: 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', says: 'client certificate' },
    { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', says: 'client certificate' },
    { code: 'ERR_SSL_WRONG_VERSION_NUMBER', says: 'does not speak TLS' },
    { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', says: 'TLS 1.2 or 1.3' },
    { code: 'CERT_HAS_EXPIRED', says: 'ca_file' },
  ])('says with $code what that code means', ({ code, says }) => {
    expect(apiErrorFrom(anError({ code }), 'host').message).toContain(says);
  });

  it('finds the code inside causes and aggregates', () => {
    const inner = anError({ code: 'ECONNREFUSED', address: '::1', port: 3128 });
    const outer = new TypeError('fetch failed', {
      cause: new AggregateError([anError({}), inner]),
    });

    const error = apiErrorFrom(outer, 'host');

    expect(error.reason).toBe('connect');
    expect(error.message).toContain('ECONNREFUSED ::1:3128');
  });

  it('prefers the outer code to the wrapped one', () => {
    const outer = anError({ code: 'UND_ERR_PRX_TLS', cause: anError({ code: 'ECONNRESET' }) });

    const error = apiErrorFrom(outer, 'host');

    expect(error.reason).toBe('tls');
  });

  it('survives an error that is its own cause', () => {
    const circular = anError({});
    circular.cause = circular;

    const error = apiErrorFrom(circular, 'host');

    expect(error.reason).toBe('client');
  });

  it.each([
    { thrown: undefined },
    { thrown: null },
    { thrown: 'text' },
    { thrown: { code: 5 } },
    { thrown: anError({ errors: 'none' }) },
  ])('makes a client error of $thrown', ({ thrown }) => {
    const error = apiErrorFrom(thrown, 'host');

    expect(error.reason).toBe('client');
  });

  it('passes an ApiError on as it is', () => {
    const original = new ApiError('timeout', 'too late');

    const error = apiErrorFrom(original, 'host');

    expect(error).toBe(original);
  });

  it('keeps the text of foreign errors out of the message', () => {
    const error = apiErrorFrom(anError({ code: 'ECONNRESET' }, 'GET /?key=secret'), 'host');

    expect(error.message).not.toContain('secret');
  });

  it('shows the message of a TLS error, on one line and cut if it is long', () => {
    const error = apiErrorFrom(
      anError({ code: 'EPROTO' }, `wrong\nversion number ${'x'.repeat(500)}`),
      'host',
    );

    expect(error.message).toContain('EPROTO: wrong version number xxx');
    expect(error.message.length).toBeLessThan(400);
  });
});

describe('statusReason', () => {
  it.each([
    { status: 200, reason: undefined },
    { status: 204, reason: undefined },
    { status: 299, reason: undefined },
    { status: 199, reason: 'client' },
    { status: 300, reason: 'redirect' },
    { status: 304, reason: 'redirect' },
    { status: 399, reason: 'redirect' },
    { status: 400, reason: 'client' },
    { status: 401, reason: 'auth' },
    { status: 403, reason: 'auth' },
    { status: 404, reason: 'not_found' },
    { status: 407, reason: 'client' },
    { status: 422, reason: 'client' },
    { status: 429, reason: 'throttled' },
    { status: 499, reason: 'client' },
    { status: 500, reason: 'server' },
    { status: 504, reason: 'server' },
    { status: 999, reason: 'server' },
  ])('gives $status the reason $reason', ({ status, reason }) => {
    expect(statusReason(status)).toBe(reason);
  });

  it('is defined for every number', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double()), (status) => {
        const reason = statusReason(status);

        expect(reason === undefined || failureReasons.includes(reason)).toBe(true);
      }),
    );
  });
});
