import { ApiError } from '../model/api-error.ts';
import { withoutForeignKeys } from '../model/key-text.ts';
import { onOneLine } from '../model/shown-text.ts';
import {
  type ApiObserver,
  type InvalidSampleReason,
  type Logger,
  type Operation,
  type UnexpectedAnswer,
  unexpectedAnswers,
} from '../model/telemetry.ts';
import { minuteMs } from '../model/time.ts';
import type { ApiResponse } from './calls/transport.ts';

const maxLength = 120;

// Far more than is ever shown, so that a page of several megabytes costs nothing.
const examinedLength = 4000;

/**
 * The beginning of a foreign text, fit for one line of a log: without control, formatting or
 * unpaired surrogate characters, with white space collapsed, at most 120 characters long.
 *
 * What may be a key is replaced before the text is shortened.
 */
export function excerptOf(text: string): string {
  return onOneLine(withoutForeignKeys(text.slice(0, examinedLength)), maxLength);
}

/**
 * Runs `use`, which reads an answer, and counts the answer as failed if it cannot be read. Failure
 * statuses were already counted where the answer came in.
 */
export function countingFailures<Value>(
  { status }: Pick<ApiResponse, 'status'>,
  { operation }: { readonly operation: Operation },
  observer: Pick<ApiObserver, 'failed'>,
  use: () => Value,
): Value {
  try {
    return use();
  } catch (error) {
    const isSuccess = status >= 200 && status < 300;
    if (isSuccess && error instanceof ApiError) observer.failed(operation, error.reason);
    throw error;
  }
}

/** An object of a parsed document. Its members come from the vendor and may be anything. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Throws a `SyntaxError` on anything that is not JSON. For documents without ids. */
export function parseJson(body: string): unknown {
  return JSON.parse(body);
}

/** As `parseJson`, but `undefined` for what is not JSON: the body of a failure may be anything. */
export function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * As `parseJson`, but an integer beyond 2^53 becomes a string of the same digits: ids must not be
 * rounded. For the documents that carry ids; the answers of the many metric calls carry none.
 */
export function parseJsonKeepingIds(body: string): unknown {
  if (!mayHaveLongNumber.test(body)) return parseJson(body);
  // Only to see whether it is JSON. The result is not kept: a large document takes much memory.
  parseJson(body);
  return JSON.parse(withLongIntegersQuoted(body));
}

/**
 * A number of at least 16 digits, as it can stand in JSON. In a text, only what follows a comma, a colon,
 * a bracket or white space is taken for one: names of hosts often end in many digits.
 */
const mayHaveLongNumber = /(?:^|[:[,\s])-?\d{16}/;

/**
 * For valid JSON only: there, a quote that is not escaped begins or ends a text, and a run of
 * number characters outside a text is one number or one literal. It goes from token to token,
 * because `replace` would keep all of them, in up to a hundred times the size of the document. For
 * the same reason the parts are joined before many of them have grown old.
 */
function withLongIntegersQuoted(json: string): string {
  const parts: string[] = [];
  let [quoted, copied, isInText] = ['', 0, false];
  for (const { 0: token, index } of json.matchAll(/\\.|"|[-+.\w]+/gs)) {
    const isLongInteger = /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
    if (token === '"') {
      isInText = !isInText;
    } else if (!isInText && isLongInteger) {
      parts.push(json.slice(copied, index), `"${token}"`);
      copied = index + token.length;
      if (parts.length >= partsAtATime) quoted += parts.splice(0).join('');
    }
  }
  return quoted + parts.join('') + json.slice(copied);
}

const partsAtATime = 1000;

/** The text, unless it is empty; `undefined` for anything else. */
export function textIn(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const idDigits = /^\d{1,32}$/;

/**
 * Whether the text is an id of the vendor: decimal digits and nothing else. Only such a text may
 * become part of a path. The longest known id has 10 digits; 32 leave room and keep a URL short.
 */
export function isEntityId(text: string): boolean {
  return idDigits.test(text);
}

/**
 * The id in a member of an answer, as the decimal string that the model uses; `undefined` if the
 * value is not an id. Neither is a number beyond 2^53: its last digits are already lost.
 */
export function entityIdOf(value: unknown): string | undefined {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && value >= 0 ? String(value) : undefined;
  }
  return typeof value === 'string' && isEntityId(value) ? value : undefined;
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * An ISO 8601 timestamp of an answer in milliseconds since the epoch; `undefined` if the value is
 * not a timestamp. One without an offset is not accepted: it would be read in the time zone of this
 * machine.
 */
export function epochMsOf(value: unknown): number | undefined {
  if (typeof value !== 'string' || !timestamp.test(value)) return undefined;
  const epochMs = Date.parse(value);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/** The minute that holds `epochMs`, as `YYYY-MM-DDThh:mm:00Z`: the vendor's resolution is a minute. */
export function minuteTextOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16)}:00Z`;
}

/**
 * The end of a range as the vendor states it. The vendor writes the end of a summarized range
 * either as `:00` or as the last second before, `:59`. Both mean the same whole minute.
 */
export function windowEndMsOf(value: unknown): number | undefined {
  const epochMs = epochMsOf(value);
  if (epochMs === undefined) return undefined;
  const withinMinuteMs = ((epochMs % minuteMs) + minuteMs) % minuteMs;
  return withinMinuteMs >= 59_000 ? epochMs - withinMinuteMs + minuteMs : epochMs;
}

/** Called for every value of the vendor that was left out. */
export type InvalidSampleListener = (reason: InvalidSampleReason) => void;

/**
 * A value of the vendor that may be published: a finite number, and unless that is allowed not a negative one.
 * `undefined` if the member is absent, which is not the same as 0. Also `undefined` for anything else, such as a
 * number in a string; then `onInvalid` is called.
 */
export function loggedSampleOf(
  value: unknown,
  onInvalid: InvalidSampleListener,
  { mayBeNegative = false }: { readonly mayBeNegative?: boolean } = {},
): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') onInvalid('not_a_number');
  // `1e999` is valid JSON and is parsed as Infinity.
  else if (!Number.isFinite(value)) onInvalid('not_finite');
  else if (value < 0 && !mayBeNegative) onInvalid('negative');
  else return value;
  return undefined;
}

/** Takes note of what comes with answers, or is other than New Relic documents, or than its documents leave open. */
export interface UnexpectedAnswers {
  /** @param detail what there was, for the log */
  saw(kind: UnexpectedAnswer, detail: Readonly<Record<string, unknown>>): void;
  /** New Relic says something beside a whole answer: logged once for each text, and no fault. */
  noticed(text: string, operation: Operation): void;
}

/** A text that is another one each time must not fill the memory, or the log. */
const mostNoticesKept = 50;

/** Counts every one. The first of each kind is logged, and later ones at the level `debug`. */
export function createUnexpectedAnswers(
  account: string,
  {
    observer,
    logger,
  }: { readonly observer: Pick<ApiObserver, 'unexpected'>; readonly logger: Logger },
): UnexpectedAnswers {
  for (const kind of unexpectedAnswers) observer.unexpected(kind, 0);
  const logged = new Set<UnexpectedAnswer>();
  const notices = new Set<string>();
  return {
    saw: (kind, detail) => {
      observer.unexpected(kind, 1);
      const fields = { account, kind, ...detail };
      logger[logged.has(kind) ? 'debug' : 'warn'](fields, 'an answer was not as documented');
      logged.add(kind);
    },
    noticed: (text, operation) => {
      const notice = excerptOf(text);
      if (notices.has(notice) || notices.size >= mostNoticesKept) return;
      notices.add(notice);
      logger.info({ account, operation, notice }, 'New Relic has a notice on an answer');
    },
  };
}
