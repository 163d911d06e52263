import { z } from 'zod';
import { aMap, flag, text } from '../../config/schema-fields.ts';
import { controls } from '../../model/shown-text.ts';
import {
  type ClientAuthName,
  type CurveName,
  cipherNames,
  clientAuthNames,
  curveNames,
  type VersionName,
  versionNames,
} from './tls-names.ts';

/** `tls_server_config` as the file has it. */
export interface FileTls {
  readonly cert?: string;
  readonly key?: string;
  readonly client_ca?: string;
  readonly cert_file?: string;
  readonly key_file?: string;
  readonly client_ca_file?: string;
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

const aList = { error: 'must be a list' };
const inPem = { error: 'must be a string in PEM form, after "|" and a line break' };

function wordsOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function pem(description: string): z.ZodType<string> {
  return z.string(inPem).min(1, { error: 'must not be empty' }).meta({ description });
}

function oneOf<Name extends string>(names: readonly Name[], description: string): z.ZodType<Name> {
  return z.enum(names, { error: `must be ${wordsOf(names)}` }).meta({ description });
}

const tls: z.ZodType<FileTls> = z.strictObject(
  {
    cert: pem('Certificate of the server (PEM).').exactOptional(),
    key: pem('Key of the certificate (PEM).').exactOptional(),
    client_ca: pem('CAs of client certificates (PEM).').exactOptional(),
    cert_file: text('File with the certificate of the server.').exactOptional(),
    key_file: text('File with the key of the certificate.').exactOptional(),
    client_ca_file: text('File with the CAs of client certificates.').exactOptional(),
    client_auth_type: oneOf(clientAuthNames, 'What is asked of clients.').prefault('NoClientCert'),
    client_allowed_sans: z
      .array(text('Name in the certificate of a client.'), aList)
      .min(1, { error: 'must not be empty' })
      .exactOptional(),
    min_version: oneOf(versionNames, 'Oldest version of TLS.').prefault('TLS12'),
    max_version: oneOf(versionNames, 'Newest version of TLS.').prefault('TLS13'),
    cipher_suites: z
      .array(
        z.enum(cipherNames, { error: "must be a cipher suite by Go's name, such as TLS_ECDHE_…" }),
        aList,
      )
      .prefault([]),
    prefer_server_cipher_suites: flag('Whether our order of cipher suites counts.').prefault(true),
    curve_preferences: z.array(oneOf(curveNames, 'Elliptic curve.'), aList).prefault([]),
  },
  aMap,
);

/** Only these, and only these values, as exporter-toolkit has it. */
const headers = z.strictObject(
  {
    'Content-Security-Policy': headerValue().exactOptional(),
    'X-Frame-Options': z
      .enum(['deny', 'sameorigin'], { error: 'must be deny or sameorigin' })
      .exactOptional(),
    'X-Content-Type-Options': z.enum(['nosniff'], { error: 'must be nosniff' }).exactOptional(),
    'X-XSS-Protection': headerValue().exactOptional(),
    'Strict-Transport-Security': headerValue().exactOptional(),
  },
  aMap,
);

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

/** The shape of the web configuration file: everything that can be checked in one value alone. */
export const webFileSchema: z.ZodType<FileWebConfig> = z.strictObject(
  {
    tls_server_config: tls.exactOptional(),
    http_server_config: z
      .strictObject(
        { http2: flag('Whether to serve HTTP/2.').exactOptional(), headers: headers.prefault({}) },
        aMap,
      )
      .prefault({}),
    basic_auth_users: anyMap.pipe(z.record(userName, passwordHash)).prefault({}),
  },
  aMap,
);

export function webJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(webFileSchema, { target: 'draft-7', io: 'input', unrepresentable: 'any' });
}
