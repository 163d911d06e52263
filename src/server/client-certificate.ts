import type { X509Certificate } from 'node:crypto';
import { SocketAddress } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ServerTls } from '../model/web-config.ts';

/** Why a client is refused after its handshake; `undefined` if it may ask. */
export function refusalOf(socket: TLSSocket, tls: ServerTls): string | undefined {
  const { clientAuth, allowedSans } = tls;
  if (clientAuth === 'NoClientCert' || clientAuth === 'RequestClientCert') return undefined;
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) {
    return clientAuth === 'VerifyClientCertIfGiven' ? undefined : 'it has no certificate';
  }
  const isVerified = clientAuth === 'RequireAnyClientCert' || socket.authorized;
  if (!isVerified) return 'no CA of ours has signed its certificate, or it has expired';
  if (allowedSans === undefined) return undefined;
  const allowed = new Set(allowedSans.map(plainAddress));
  if (subjectAltNamesOf(certificate).some((name) => allowed.has(name))) return undefined;
  return 'its certificate has none of the names in client_allowed_sans';
}

/** The kinds of names that may be allowed. */
const kinds: ReadonlySet<string> = new Set(['DNS', 'IP Address', 'email', 'URI']);

/** One name; Node.js writes a value as JSON if a name of another kind could be read into it. */
const oneName = /(?<kind>[^:,]+):(?<value>"(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gu;

/** The alternative names of a certificate that can be compared with `client_allowed_sans`. */
export function subjectAltNamesOf({
  subjectAltName = '',
}: Pick<X509Certificate, 'subjectAltName'>): readonly string[] {
  return [...subjectAltName.matchAll(oneName)]
    .map(({ groups }) => ({ kind: groups?.['kind'] ?? '', value: groups?.['value'] ?? '' }))
    .filter(({ kind }) => kinds.has(kind))
    .map(({ kind, value }) => {
      const name = value.startsWith('"') ? String(JSON.parse(value)) : value;
      return kind === 'IP Address' ? plainAddress(name) : name;
    });
}

/** IPv6 addresses can be written in several ways; all other texts stay as they are. */
function plainAddress(text: string): string {
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*$/iu.test(text)) return text;
  try {
    return new SocketAddress({ address: text, family: 'ipv6' }).address;
  } catch {
    return text;
  }
}
