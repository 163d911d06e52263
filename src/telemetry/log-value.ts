import { redacted } from '../model/key-text.ts';
import { withoutOpensslNoise } from '../model/shown-text.ts';

export interface LogValueOptions {
  /** Applied to every string and to every property name. */
  readonly redact: (text: string) => string;
  /** Whether errors carry their stack. */
  readonly stacks: boolean;
}

/** Names of fields whose content is never logged, in lower case and without `-` and `_`. */
const secretNames: ReadonlySet<string> = new Set([
  'apikey',
  'xapikey',
  'licensekey',
  'authorization',
  'proxyauthorization',
  'password',
  'secret',
  'token',
  'cookie',
  'setcookie',
]);

/** Container runtimes split lines at 16 KiB. */
const longestText = 8192;

/** Deeper than everything that is logged on purpose. */
const maximumDepth = 8;

/**
 * Copies the value into plain JSON values without secrets. Errors become
 * `{type, message, reason?, status?, cause?}`. Never throws: marks unreadable values instead.
 *
 * The serializer of pino for errors would copy all of their properties, such as the headers of a
 * request, and its redaction needs the path of each secret.
 */
export function toLogValue(value: unknown, options: LogValueOptions): unknown {
  return copy(value, options, []);
}

function copy(value: unknown, options: LogValueOptions, parents: readonly object[]): unknown {
  switch (typeof value) {
    case 'undefined':
      return undefined;
    case 'object':
      return value === null ? null : copyObject(value, options, parents);
    case 'number':
    case 'boolean':
      return copyScalar(value, options);
    case 'function':
    case 'string':
    case 'bigint':
    case 'symbol':
      return textFor(String(value), options);
  }
}

/** Cut only when secrets are replaced: a part of a secret would not be known as one. */
function textFor(text: string, { redact }: LogValueOptions): string {
  const safe = redact(text);
  if (safe.length <= longestText) return safe;
  return `${safe.slice(0, longestText)}… (${safe.length - longestText} more characters)`;
}

/** A number stays a number unless its digits are a secret. */
function copyScalar(value: number | boolean, options: LogValueOptions): unknown {
  const text = String(value);
  const safe = options.redact(text);
  if (safe !== text) return safe;
  return typeof value === 'number' && !Number.isFinite(value) ? text : value;
}

function copyObject(value: object, options: LogValueOptions, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= maximumDepth) return '[too deep]';
  const path = [...parents, value];
  try {
    if (value instanceof Error) return copyError(value, options, path);
    if (Array.isArray(value)) return value.map((item: unknown) => copy(item, options, path));
    return copyFields(value, options, path);
  } catch {
    return '[unreadable]';
  }
}

function copyFields(
  fields: object,
  options: LogValueOptions,
  path: readonly object[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, item]: [string, unknown]) => {
      const isSecret = secretNames.has(name.toLowerCase().replaceAll(/[-_]/g, ''));
      return [
        options.redact(name),
        isSecret && item !== undefined ? redacted : copy(item, options, path),
      ];
    }),
  );
}

function copyError(
  error: Error,
  options: LogValueOptions,
  path: readonly object[],
): Readonly<Record<string, unknown>> {
  const { reason, status }: Error & { reason?: unknown; status?: unknown } = error;
  return {
    type: textFor(error.name, options),
    message: textFor(messageOf(error), options),
    reason: copy(reason, options, path),
    status: copy(status, options, path),
    cause: copy(error.cause, options, path),
    stack: options.stacks ? copy(error.stack, options, path) : undefined,
  };
}

/** When a connection fails at every address, Node's error has no message of its own. */
function messageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) {
    return withoutOpensslNoise(error.message);
  }
  return error.errors
    .map((inner: unknown) => (inner instanceof Error ? inner.message : String(inner)))
    .join('; ');
}
