import { redacted } from '../model/key-text.ts';
import { withoutOpensslNoise } from '../model/shown-text.ts';

/** One line of the log as data: plain JSON values. */
export interface LogEntry {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** Names of fields whose content is never logged, without `-` and `_`. */
const secretNames =
  /^(?:x?apikey|licensekey|(?:proxy)?authorization|password|secret|token|(?:set)?cookie)$/iu;

/** Container runtimes split lines at 16 KiB. */
const longestText = 8192;

/** An error has no more causes that help, unless they go round in a circle. */
const mostCauses = 8;

/**
 * An error as pino is to log it: `{type, message, reason?, status?, cause?, stack?}`. Its own serializer
 * would write all properties of an error, such as the headers of a request, and each cause twice.
 */
export function loggedError(
  error: unknown,
  hasStack: boolean,
  causes: number = mostCauses,
): unknown {
  if (!(error instanceof Error)) return error;
  const { reason, status }: Error & { reason?: unknown; status?: unknown } = error;
  return {
    type: error.name,
    message: errorMessageOf(error),
    reason,
    status,
    cause: causes === 0 ? undefined : loggedError(error.cause, hasStack, causes - 1),
    stack: hasStack ? error.stack : undefined,
  };
}

/** When a connection fails at every address, Node's error has no message of its own. */
function errorMessageOf(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) {
    return withoutOpensslNoise(error.message);
  }
  return error.errors
    .map((inner: unknown) => (inner instanceof Error ? inner.message : String(inner)))
    .join('; ');
}

/** The entry of a line of JSON without secrets, whether in its fields, their names or the message. */
export function entryIn(line: string, redact: (text: string) => string): LogEntry {
  const entry: LogEntry = JSON.parse(line);
  const { level, time, msg, ...fields } = entry;
  return { level, time, ...fieldsWithoutSecrets(fields, redact), msg: redact(msg) };
}

function fieldsWithoutSecrets(
  fields: object,
  redact: (text: string) => string,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => {
      const isSecret = secretNames.test(name.replaceAll(/[-_]/g, ''));
      return [redact(name), isSecret ? redacted : redactedValue(value, redact)];
    }),
  );
}

function redactedValue(value: unknown, redact: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redactedValue(item, redact));
  if (typeof value === 'object' && value !== null) return fieldsWithoutSecrets(value, redact);
  const safe = redact(String(value));
  // A number stays a number unless its digits are a secret.
  if (typeof value !== 'string') return safe === String(value) ? value : safe;
  // Cut only now: a part of a secret would not be known as one.
  return safe.length <= longestText
    ? safe
    : `${safe.slice(0, longestText)}… (${safe.length - longestText} more characters)`;
}
