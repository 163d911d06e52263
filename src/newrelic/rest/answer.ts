import {
  ApiError,
  type ApiErrorOptions,
  type FailureReason,
  remedyOf,
} from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import { anyRegion, otherRegion, otherRegionRemedy } from '../../model/region.ts';
import type { RequestContext } from '../../model/source.ts';
import {
  type ApiObserver,
  againOf,
  type Logger,
  type Operation,
  titleOf,
} from '../../model/telemetry.ts';
import {
  countingFailures,
  excerptOf,
  isJsonObject,
  type JsonObject,
  jsonIn,
  objectOf,
  parseJson,
  parseJsonKeepingIds,
} from '../answer.ts';
import type { ApiRequest, ApiResponse, Transport } from '../calls/transport.ts';
import { statusReason } from '../calls/transport-errors.ts';

/** What the calls of an account share. */
export interface RestContext {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly clock: Clock;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
}

/** What a call is for. Every message about the call begins with it. */
export interface CallSubject {
  readonly operation: Operation;
  readonly applicationId?: string | undefined;
  readonly hostId?: string | undefined;
}

export interface RestRequest extends ApiRequest, CallSubject {}

/**
 * Sends a request, and reads its answer with `read`. Rejects with an `ApiError` if the answer is a failure,
 * which is counted, or with the signal's reason.
 */
export async function ask<Content>(
  request: RestRequest,
  { send, observer }: RestContext,
  { signal, turn, isRepeated }: RequestContext,
  read: (document: JsonObject, headers: ApiResponse['headers']) => Content,
): Promise<Content> {
  const response = await send({ ...request, turn, isRepeated }, signal);
  return countingFailures(response, request, observer, () =>
    read(documentOf(response, request), response.headers),
  );
}

/**
 * The document of an answer. Throws an `ApiError` if the answer is a failure: one that is not 2xx, whose body
 * need not be JSON, or a 200 with an `error`, which is the vendor's own failure under a wrong status.
 */
function documentOf({ status, body }: ApiResponse, subject: CallSubject): JsonObject {
  const reason = statusReason(status);
  if (reason !== undefined) {
    throw failureOf(subject, reason, `status ${status}${quoted(titleIn(objectOf(jsonIn(body))))}`, {
      status,
    });
  }

  const document = parsed(body, subject, status);
  if (!isJsonObject(document)) {
    throw failureOf(subject, 'schema', 'the answer is not a JSON object', { status });
  }
  const title = titleIn(document);
  const detail = `status ${status}, but an error${quoted(title)}`;
  if (otherRegion.test(title)) throw failureOf(subject, 'auth', detail, { status: 403 });
  if (isPresent(document['error'])) throw failureOf(subject, 'server', detail, { status });
  return document;
}

function parsed(body: string, subject: CallSubject, status: number): unknown {
  try {
    // Values are numbers, however long; lists have ids.
    return areValues(subject) ? parseJson(body) : parseJsonKeepingIds(body);
  } catch (cause) {
    const start = excerptOf(body);
    const detail = start === '' ? 'the answer is empty' : `the answer is not JSON: "${start}"`;
    // The parser's own message quotes the body uncleaned, so it does not become the cause.
    const options = cause instanceof SyntaxError ? { status } : { status, cause };
    throw failureOf(subject, 'not_json', detail, options);
  }
}

function areValues({ operation }: CallSubject): boolean {
  return operation === 'application_metrics' || operation === 'host_metrics';
}

/** The vendor's error is an object with a title; a plain text has been seen too, and the errors of NerdGraph. */
function titleIn({ error, errors }: JsonObject): string {
  const stated: unknown = error ?? (Array.isArray(errors) ? errors[0] : undefined);
  const title = isJsonObject(stated) ? (stated['title'] ?? stated['message']) : stated;
  return typeof title === 'string' ? excerptOf(title) : '';
}

function quoted(title: string): string {
  return title === '' ? '' : `, "${title}"`;
}

function isPresent(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}

interface FailureOptions extends ApiErrorOptions {
  /** What to do about it, without a full stop, if the usual remedy for the reason is wrong. */
  readonly remedy?: string;
}

/** The failure with its remedy. `detail` is a clause without a full stop, and holds no secret. */
export function failureOf(
  subject: CallSubject,
  reason: FailureReason,
  detail: string,
  options: FailureOptions = {},
): ApiError {
  const { operation, applicationId, hostId } = subject;
  const application = applicationId === undefined ? '' : ` of application ${applicationId}`;
  const host = hostId === undefined ? '' : `, host ${hostId}`;
  const remedy = otherRegion.test(detail)
    ? otherRegionRemedy
    : (options.remedy ?? remedyFor(subject, reason, options.status));
  const title = titleOf(operation);
  return new ApiError(reason, `${title}${application}${host}: ${detail}. ${remedy}.`, options);
}

function remedyFor(
  { applicationId, operation }: CallSubject,
  reason: FailureReason,
  status: number | undefined,
): string {
  if (applicationId !== undefined && reason === 'not_found') {
    return 'New Relic no longer has it, or it belongs to another account than the API key';
  }
  // With a refused key the list of applications would have failed, long before this call.
  if (applicationId !== undefined && status === 403) {
    return "New Relic forbids this application to the API key's user: give that user access to it, or take it out of the configuration";
  }
  return remedyOf({ reason, status }, remedies, againOf(operation));
}

const remedies: Readonly<Partial<Record<FailureReason, string>>> = {
  auth:
    'Check the API key of the account: it must be a user key (NRAK-…; REST API keys ended in ' +
    `2025) of an active user, created in this account and in the configured region (${anyRegion}), ` +
    'and sent in the configured header',
  not_found: 'Check base_url: there is no New Relic REST API v2 at this address',
  throttled:
    "New Relic's quota of the API key is used up: lower requests_per_minute, or find who else " +
    'uses the key',
  schema: 'Check that base_url is the address of the New Relic REST API v2',
  client: 'New Relic refuses this request: check base_url and the window of the application',
};

/** The failure that a list is not whole; `undefined` if no part of it was left out. */
export function partsMissing(
  count: number,
  subject: CallSubject,
  which: string,
): ApiError | undefined {
  if (count === 0) return undefined;
  return failureOf(subject, 'schema', `parts of the list were left out (${count})${which}`);
}

/** Real pages have 200 elements, or 1000 names. A million would block the whole process for seconds. */
const maxElements = 1000;

/** The elements of one page of a list. Throws an `ApiError` if there is no list, or if it is too long. */
export function listElementsOf(
  document: JsonObject,
  member: 'applications' | 'application_hosts' | 'metrics',
  subject: CallSubject,
): readonly unknown[] {
  const elements = document[member];
  if (!Array.isArray(elements)) {
    throw failureOf(subject, 'schema', `the answer has no list of ${member}`);
  }
  if (elements.length > maxElements) {
    const detail = `the answer lists ${elements.length} ${member} on one page, more than a page ever has`;
    throw failureOf(subject, 'schema', detail);
  }
  return elements as readonly unknown[];
}
