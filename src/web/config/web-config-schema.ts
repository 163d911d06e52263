import { z } from 'zod';
import {
  aList,
  aMap,
  choice,
  flag,
  type KeyPlaces,
  mapOf,
  notEmpty,
  type Texts,
  text,
} from '../../config/schema-fields.ts';
import { own } from '../../model/own.ts';
import { controls } from '../../model/shown-text.ts';
import type { ClientAuth, TlsVersion } from '../../model/web-config.ts';

/** Cipher suites of TLS 1.3. As with Go, they are always on, whatever a list of suites says. */
const alwaysOn = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
] as const;

/** OpenSSL's names of Go's cipher suites for TLS 1.2 and older. */
const olderSuites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};

const cipherNames: readonly string[] = [...Object.keys(olderSuites), ...alwaysOn];

/** In OpenSSL's notation; `undefined` for an empty list, which means the defaults. */
export function opensslCiphers(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const older = names.map((name) => own(olderSuites, name)).filter((name) => name !== undefined);
  return [...alwaysOn, ...older].join(':');
}

const curves = {
  CurveP256: 'P-256',
  CurveP384: 'P-384',
  CurveP521: 'P-521',
  X25519: 'X25519',
} as const;

type CurveName = keyof typeof curves;

const curveNames: readonly CurveName[] = ['CurveP256', 'CurveP384', 'CurveP521', 'X25519'];

/** In OpenSSL's notation; `undefined` for an empty list, which means the defaults. */
export function opensslCurves(names: readonly CurveName[]): string | undefined {
  return names.length === 0 ? undefined : names.map((name) => curves[name]).join(':');
}

const versions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

type VersionName = keyof typeof versions;

/** From the oldest to the newest. */
export const versionNames: readonly VersionName[] = ['TLS10', 'TLS11', 'TLS12', 'TLS13'];

export function tlsVersionOf(name: VersionName): TlsVersion {
  return versions[name];
}

type ClientAuthName = ClientAuth | 'RequireClientCert';

const clientAuthNames: readonly ClientAuthName[] = [
  'NoClientCert',
  'RequestClientCert',
  'RequireClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
];

/** `RequireClientCert` is what exporter-toolkit once called `RequireAnyClientCert`. */
export function clientAuthOf(name: ClientAuthName): ClientAuth {
  return name === 'RequireClientCert' ? 'RequireAnyClientCert' : name;
}

/** `tls_server_config` as the file has it. */
export interface FileTls
  extends Texts<'cert' | 'key' | 'client_ca' | 'cert_file' | 'key_file' | 'client_ca_file'> {
  readonly client_auth_type: ClientAuthName;
  readonly client_allowed_sans?: readonly string[];
  readonly min_version: VersionName;
  readonly max_version: VersionName;
  readonly cipher_suites: readonly string[];
  readonly prefer_server_cipher_suites: boolean;
  readonly curve_preferences: readonly CurveName[];
}

/** The web configuration file, defaults applied. */
export interface FileWebConfig {
  readonly tls_server_config?: FileTls;
  readonly http_server_config: {
    readonly http2?: boolean;
    readonly headers: Readonly<Record<string, string>>;
  };
  readonly basic_auth_users: Readonly<Record<string, string>>;
}

const inPem = { error: 'must be a string in PEM form, after "|" and a line break' };

function pem(description: string): z.ZodType<string> {
  return z.string(inPem).min(1, notEmpty).meta({ description });
}

const tls: z.ZodType<FileTls> = mapOf({
  cert: pem('Certificate of the server (PEM).').exactOptional(),
  key: pem('Key of the certificate (PEM).').exactOptional(),
  client_ca: pem('CAs of client certificates (PEM).').exactOptional(),
  cert_file: text('File with the certificate of the server.').exactOptional(),
  key_file: text('File with the key of the certificate.').exactOptional(),
  client_ca_file: text('File with the CAs of client certificates.').exactOptional(),
  client_auth_type: choice(clientAuthNames, 'What is asked of clients.').prefault('NoClientCert'),
  client_allowed_sans: z
    .array(text('Name in the certificate of a client.'), aList)
    .min(1, notEmpty)
    .exactOptional(),
  min_version: choice(versionNames, 'Oldest version of TLS.').prefault('TLS12'),
  max_version: choice(versionNames, 'Newest version of TLS.').prefault('TLS13'),
  cipher_suites: z
    .array(
      z.enum(cipherNames, { error: "must be a cipher suite by Go's name, such as TLS_ECDHE_…" }),
      aList,
    )
    .prefault([]),
  prefer_server_cipher_suites: flag('Whether our order of cipher suites counts.').prefault(true),
  curve_preferences: z.array(choice(curveNames, 'Elliptic curve.'), aList).prefault([]),
});

/** Only these, and only these values, as exporter-toolkit has it. */
const headersMap = mapOf({
  'Content-Security-Policy': headerValue().exactOptional(),
  'X-Frame-Options': choice(['deny', 'sameorigin']).exactOptional(),
  'X-Content-Type-Options': choice(['nosniff']).exactOptional(),
  'X-XSS-Protection': headerValue().exactOptional(),
  'Strict-Transport-Security': headerValue().exactOptional(),
});

/** An empty value counts as none. */
function headerValue(): z.ZodType<string> {
  return z
    .string({ error: 'must be a string' })
    .regex(/^[\t\u{20}-\u{7e}]*$/u, { error: 'must hold nothing but printable ASCII characters' });
}

/** No client can send a user name with a colon. */
const userName = z.string().regex(new RegExp(`^[^:${controls}]+$`, 'u'), {
  error: 'is not possible as a user name: it must not be empty or hold a colon',
});

/** From there on every further cost takes twice as long, with 15 seconds of a processor. */
const costs = { lowest: 4, highest: 15 };
const bcryptHash = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/u;

/** What is wrong with the hash of a password, without any of it. */
function hashProblem(value: unknown): string | undefined {
  const cost = typeof value === 'string' ? bcryptHash.exec(value)?.groups?.['cost'] : undefined;
  if (cost === undefined) return 'must be a bcrypt hash, which begins with $2a$, $2b$ or $2y$';
  if (Number(cost) >= costs.lowest && Number(cost) <= costs.highest) return undefined;
  return `has a bcrypt cost of ${Number(cost)}: it must be from ${costs.lowest} to ${costs.highest}`;
}

/** Of any type at first: messages repeat a value of the wrong type, which may be a password. */
const passwordHash: z.ZodType<string> = z.unknown().transform((value, context) => {
  const message = hashProblem(value);
  if (typeof value === 'string' && message === undefined) return value;
  const help = 'make one with: htpasswd -nBC 10 "" | tr -d \':\\n\'';
  context.issues.push({ code: 'custom', message, input: value, params: { help, isSecret: true } });
  return z.NEVER;
});

/** Its error does not repeat the value either. */
const anyMap = z.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  aMap,
);

const webFileMap = mapOf({
  tls_server_config: tls.exactOptional(),
  http_server_config: mapOf({
    http2: flag('Whether to serve HTTP/2.').exactOptional(),
    headers: headersMap.prefault({}),
  }).prefault({}),
  basic_auth_users: anyMap.pipe(z.record(userName, passwordHash)).prefault({}),
});

/** The shape of the web configuration file: everything that can be checked in one value alone. */
export const webFileSchema: z.ZodType<FileWebConfig> = webFileMap;

/** The keys that may stand in the wrong map. */
export const webKeyPlaces: KeyPlaces = [['the top of the file', Object.keys(webFileMap.shape)]];
