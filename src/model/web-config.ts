/** How the server treats the certificates of its clients. The names are Go's, as the file has them. */
export type ClientAuth =
  | 'NoClientCert'
  | 'RequestClientCert'
  | 'RequireAnyClientCert'
  | 'VerifyClientCertIfGiven'
  | 'RequireAndVerifyClientCert';

/** What the server needs to speak TLS, read from its files and checked. */
export interface ServerTls {
  /** PEM: the certificate of the server first, then those that link it to its CA. */
  readonly cert: string;
  /** PEM. A secret. */
  readonly key: string;
  /** PEM: the CAs of client certificates; `undefined` means the public CAs that Node.js knows. */
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  /** One of these names must be in the certificate of a client; `undefined` if any will do. */
  readonly allowedSans: readonly string[] | undefined;
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** In OpenSSL's notation; `undefined` for the defaults of Node.js. */
  readonly ciphers: string | undefined;
  /** In OpenSSL's notation, most preferred first; `undefined` for the defaults of Node.js. */
  readonly curves: string | undefined;
  readonly prefersServerCiphers: boolean;
}

/** As Node.js calls them. */
export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

/** Who may ask the server, and how: the content of the web configuration file. */
export interface WebConfig {
  /** `undefined` means plain HTTP. */
  readonly tls: ServerTls | undefined;
  /** The bcrypt hash of each user's password. If empty, nobody needs a password. */
  readonly users: ReadonlyMap<string, string>;
  /** Sent with every answer, instead of the headers of the same name that it has. */
  readonly headers: Readonly<Record<string, string>>;
}
