import { own } from '../../model/own.ts';
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

export const cipherNames: readonly string[] = [...Object.keys(olderSuites), ...alwaysOn];

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

export type CurveName = keyof typeof curves;

export const curveNames: readonly CurveName[] = ['CurveP256', 'CurveP384', 'CurveP521', 'X25519'];

/** In OpenSSL's notation; `undefined` for an empty list, which means the defaults. */
export function opensslCurves(names: readonly CurveName[]): string | undefined {
  return names.length === 0 ? undefined : names.map((name) => curves[name]).join(':');
}

const versions = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

export type VersionName = keyof typeof versions;

/** From the oldest to the newest. */
export const versionNames: readonly VersionName[] = ['TLS10', 'TLS11', 'TLS12', 'TLS13'];

export function tlsVersionOf(name: VersionName): TlsVersion {
  return versions[name];
}

export type ClientAuthName = ClientAuth | 'RequireClientCert';

export const clientAuthNames: readonly ClientAuthName[] = [
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
