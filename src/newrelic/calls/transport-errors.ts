import { ApiError, type FailureReason } from '../../model/api-error.ts';
import { onOneLine, withoutOpensslNoise } from '../../model/shown-text.ts';

/** The reasons for which no answer, or no complete one, came. */
type NetworkReason = Exclude<FailureReason, OfAnswer>;
type OfAnswer = 'redirect' | 'schema' | 'auth' | 'not_found' | 'throttled' | 'server';

/** What is wrong, and what to do. */
interface Explanation {
  readonly problem: string;
  readonly remedy: string;
}

const explanations: Readonly<Record<NetworkReason, Explanation>> = {
  dns: {
    problem: 'the name cannot be resolved',
    remedy: 'check the DNS of this machine, and base_url and proxy_url if they are set',
  },
  connect: {
    problem: 'no connection',
    remedy: 'check base_url, proxy_url and the firewalls on the way',
  },
  tls: {
    problem: 'no trusted TLS connection',
    remedy: 'check the certificate of the server; the bundle of a private CA goes into ca_file',
  },
  reset: {
    problem: 'the connection broke before the answer was complete',
    remedy:
      'if this lasts, look for a proxy or firewall that cuts connections, and check that the scheme of base_url (http or https) is what the server speaks, and that it wants no client certificate: there is none to send',
  },
  timeout: {
    problem: 'no complete answer in time',
    remedy: "if this lasts, raise the account's timeout or look for a slow proxy or network",
  },
  too_large: {
    problem: 'the answer is larger than any real one',
    remedy: 'check that base_url and proxy_url lead to the New Relic API',
  },
  not_json: {
    problem: 'the answer is not HTTP as it should be',
    remedy: 'check the scheme and port of base_url and proxy_url',
  },
  client: {
    problem: 'the request could not be sent',
    remedy: 'check that the API key holds nothing but its own characters, and base_url',
  },
};

const noTimelyConnection: Explanation = {
  problem: 'no connection in time',
  remedy:
    'check base_url, proxy_url and the firewalls on the way; with https also that the server speaks TLS on that port',
};
const noTls: Explanation = {
  problem: 'the other side does not speak TLS',
  remedy:
    'check that scheme and port of base_url and proxy_url belong together: http:// where plain HTTP is spoken',
};
const wantsCertificate: Explanation = {
  problem: 'the server refuses the TLS connection',
  remedy:
    'it may want a client certificate, which cannot be configured here: check base_url, or put a proxy in front that has one',
};
const noCommonVersion: Explanation = {
  problem: 'the server and this exporter have no version of TLS in common',
  remedy: 'the server must speak TLS 1.2 or 1.3: check base_url, proxy_url and what is in between',
};
/** What each of some codes means: they stand behind their meaning, with blanks in between. */
function byCode<Meaning>(
  meanings: readonly (readonly [Meaning, codes: string])[],
): ReadonlyMap<string, Meaning> {
  return new Map(
    meanings.flatMap(([meaning, codes]) => codes.split(' ').map((code) => [code, meaning])),
  );
}

/** For codes that say more than their reason. */
const explanationsByCode = byCode<Explanation>([
  [noTimelyConnection, 'UND_ERR_CONNECT_TIMEOUT'],
  [noTls, 'ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_PACKET_LENGTH_TOO_LONG ERR_SSL_HTTP_REQUEST'],
  [noCommonVersion, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION ERR_SSL_UNSUPPORTED_PROTOCOL'],
  [wantsCertificate, 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'],
  [wantsCertificate, 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE'],
  // The same alerts, as newer versions of OpenSSL name them.
  [
    wantsCertificate,
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE',
  ],
]);

/** The members of errors of Node.js and undici. Each may be missing or of another type. */
type ForeignError = Readonly<Partial<Record<Member, unknown>>>;
type Member = 'name' | 'code' | 'syscall' | 'message' | 'cause' | 'errors' | Address;
type Address = 'hostname' | 'address' | 'port';

/**
 * Turns whatever a request to `host` was rejected with into an `ApiError`. All foreign errors come in
 * here. Looks through `cause` and `AggregateError` for the first known error code; without one the
 * fault is on our side (`client`).
 */
export function apiErrorFrom(error: unknown, host: string): ApiError {
  if (error instanceof ApiError) return error;
  for (const candidate of chainOf(error)) {
    const reason = networkReason(candidate);
    if (reason !== undefined) {
      const explanation = explanationsByCode.get(codeOf(candidate)) ?? explanations[reason];
      return networkError(reason, host, detailOf(candidate, reason), error, explanation);
    }
  }
  return networkError('client', host, errorNameOf(error), error);
}

/** The error of a request to `host`. `detail` is put into brackets. */
export function networkError(
  reason: NetworkReason,
  host: string,
  detail: string,
  cause?: unknown,
  { problem, remedy }: Explanation = explanations[reason],
): ApiError {
  return new ApiError(reason, `${host}: ${problem} (${detail}); ${remedy}`, { cause });
}

/** The error and all that it wraps, from the outside in; each once. */
function* chainOf(error: unknown): Generator<ForeignError> {
  const seen = new Set<object>();
  const waiting: unknown[] = [error];
  for (const item of waiting) {
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const foreign: ForeignError = item;
    yield foreign;
    if (Array.isArray(foreign.errors)) waiting.push(...(foreign.errors as unknown[]));
    waiting.push(foreign.cause);
  }
}

/** undici's parser errors may have no code: then the name must do. */
function codeOf(error: ForeignError): string {
  return String(error.code ?? error.name);
}

/** The meaning of an error of Node.js, OpenSSL or undici; `undefined` when it is not known here. */
function networkReason(error: ForeignError): NetworkReason | undefined {
  const code = codeOf(error);
  if (code === 'ETIMEDOUT' && error.syscall !== 'connect') return 'timeout';
  return reasonsByCode.get(code) ?? reasonsByPrefix.find(([prefix]) => prefix.test(code))?.[1];
}

/** The code and the address. Messages may hold anything, so they stay out, except those of TLS. */
function detailOf(error: ForeignError, reason: NetworkReason): string {
  const code = codeOf(error);
  if (reason === 'tls' || code === 'UND_ERR_ABORTED') return `${code}: ${shortMessage(error)}`;
  const address = [error.hostname ?? error.address, error.port].filter(
    (part) => typeof part === 'string' || typeof part === 'number',
  );
  return address.length === 0 ? code : `${code} ${address.join(':')}`;
}

const maxMessageLength = 200;

function shortMessage(error: ForeignError): string {
  const text = typeof error.message === 'string' ? error.message : '';
  return onOneLine(withoutOpensslNoise(text), maxMessageLength);
}

function errorNameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code }: ForeignError = error;
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

const reasonsByCode = byCode<NetworkReason>([
  ['dns', 'ENOTFOUND'],
  ['connect', 'ECONNREFUSED EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN EADDRNOTAVAIL ETIMEDOUT'],
  // The last is undici's code for a proxy that refuses a tunnel. A request that is really aborted is
  // rejected with the reason of its signal.
  ['connect', 'EACCES EPERM EMFILE ENFILE UND_ERR_CONNECT_TIMEOUT UND_ERR_ABORTED'],
  ['tls', 'EPROTO HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE PATH_LENGTH_EXCEEDED'],
  ['tls', 'UND_ERR_PRX_TLS'],
  ['reset', 'ECONNRESET ECONNABORTED EPIPE UND_ERR_SOCKET UND_ERR_INFO HPE_INVALID_EOF_STATE'],
  ['reset', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH HPE_CLOSED_CONNECTION ERR_STREAM_PREMATURE_CLOSE'],
  ['timeout', 'UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT'],
  ['too_large', 'UND_ERR_RES_EXCEEDED_MAX_SIZE UND_ERR_HEADERS_OVERFLOW HPE_HEADER_OVERFLOW'],
  // undici fails on an answer that HTTP does not allow here, such as an unexpected upgrade.
  ['not_json', 'HTTPParserError ERR_ASSERTION'],
  ['client', 'UND_ERR_INVALID_ARG UND_ERR_DESTROYED UND_ERR_CLOSED'],
]);

const reasonsByPrefix: readonly (readonly [RegExp, NetworkReason])[] = [
  [/^EAI_/, 'dns'],
  // OpenSSL's verification results as Node.js names them, and Node's own TLS codes.
  [/^(ERR_TLS|ERR_SSL|CERT|CRL|UNABLE_TO|ERROR_IN_C|SELF_SIGNED_CERT|DEPTH_ZERO)_/, 'tls'],
  // From the HTTP parser: the answer is not HTTP.
  [/^HPE_/, 'not_json'],
];

/** What a status means as a failure; `undefined` for 2xx. Defined for every number. */
export function statusReason(status: number): FailureReason | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return 'redirect';
  return reasonsByStatus.get(status) ?? (status >= 500 ? 'server' : 'client');
}

const reasonsByStatus: ReadonlyMap<number, FailureReason> = new Map([
  [401, 'auth'],
  [403, 'auth'],
  [404, 'not_found'],
  [413, 'too_large'],
  [429, 'throttled'],
]);
