import type { FailureReason } from '../model/api-error.ts';

/** The reasons for which no answer, or no complete one, came. */
export type NetworkReason = Extract<
  FailureReason,
  'dns' | 'connect' | 'tls' | 'reset' | 'timeout' | 'too_large' | 'not_json' | 'client'
>;

const reasonsByCode: ReadonlyMap<string, NetworkReason> = new Map<string, NetworkReason>([
  ['ENOTFOUND', 'dns'],
  ['ECONNREFUSED', 'connect'],
  ['EHOSTUNREACH', 'connect'],
  ['EHOSTDOWN', 'connect'],
  ['ENETUNREACH', 'connect'],
  ['ENETDOWN', 'connect'],
  ['EADDRNOTAVAIL', 'connect'],
  ['EACCES', 'connect'],
  ['EPERM', 'connect'],
  ['EMFILE', 'connect'],
  ['ENFILE', 'connect'],
  ['ETIMEDOUT', 'connect'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
  // undici's word for a proxy that refuses to open a tunnel. A request that is really aborted is
  // rejected with the reason of its signal.
  ['UND_ERR_ABORTED', 'connect'],
  ['EPROTO', 'tls'],
  ['HOSTNAME_MISMATCH', 'tls'],
  ['INVALID_CA', 'tls'],
  ['INVALID_PURPOSE', 'tls'],
  ['PATH_LENGTH_EXCEEDED', 'tls'],
  ['UND_ERR_PRX_TLS', 'tls'],
  ['ECONNRESET', 'reset'],
  ['ECONNABORTED', 'reset'],
  ['EPIPE', 'reset'],
  ['UND_ERR_SOCKET', 'reset'],
  ['UND_ERR_INFO', 'reset'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'reset'],
  ['HPE_INVALID_EOF_STATE', 'reset'],
  ['HPE_CLOSED_CONNECTION', 'reset'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'reset'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'too_large'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too_large'],
  ['HPE_HEADER_OVERFLOW', 'too_large'],
  ['HTTPParserError', 'not_json'],
  // undici trips over an answer that HTTP does not allow here, such as an upgrade nobody asked for.
  ['ERR_ASSERTION', 'not_json'],
  ['UND_ERR_INVALID_ARG', 'client'],
  ['UND_ERR_DESTROYED', 'client'],
  ['UND_ERR_CLOSED', 'client'],
]);

const reasonsByPrefix: readonly (readonly [RegExp, NetworkReason])[] = [
  [/^EAI_/, 'dns'],
  // OpenSSL's verification results as Node.js names them, and Node's own TLS codes.
  [/^(ERR_TLS|ERR_SSL|CERT|CRL|UNABLE_TO|ERROR_IN_C|SELF_SIGNED_CERT|DEPTH_ZERO)_/, 'tls'],
  // The parser of HTTP: what came is not HTTP.
  [/^HPE_/, 'not_json'],
];

/**
 * What an error code (or, for want of one, the name of an error) of Node.js, OpenSSL or undici means;
 * `undefined` when it is not known here.
 */
export function reasonOfCode(code: string): NetworkReason | undefined {
  return reasonsByCode.get(code) ?? reasonsByPrefix.find(([prefix]) => prefix.test(code))?.[1];
}
