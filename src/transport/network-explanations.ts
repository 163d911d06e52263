import type { FailureReason } from '../model/api-error.ts';

/** The reasons for which no answer, or no complete one, came. */
export type NetworkReason = Extract<
  FailureReason,
  'dns' | 'connect' | 'tls' | 'reset' | 'timeout' | 'too_large' | 'not_json' | 'client'
>;

/** What is wrong, and what to do. */
export interface Explanation {
  readonly problem: string;
  readonly remedy: string;
}

export const explanations: Readonly<Record<NetworkReason, Explanation>> = {
  dns: {
    problem: 'the name cannot be resolved',
    remedy: 'check base_url (and proxy_url) and the DNS of this machine',
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
/** For codes that say more than their reason. */
export const explanationsByCode: ReadonlyMap<string, Explanation> = new Map([
  [
    'UND_ERR_CONNECT_TIMEOUT',
    {
      problem: 'no connection in time',
      remedy:
        'check base_url, proxy_url and the firewalls on the way; with https also that the server speaks TLS on that port',
    },
  ],
  ['ERR_SSL_WRONG_VERSION_NUMBER', noTls],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', noTls],
  ['ERR_SSL_HTTP_REQUEST', noTls],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', noCommonVersion],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', noCommonVersion],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', wantsCertificate],
  ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', wantsCertificate],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', wantsCertificate],
  // The same alerts, as newer versions of OpenSSL name them.
  ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', wantsCertificate],
  ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', wantsCertificate],
]);
