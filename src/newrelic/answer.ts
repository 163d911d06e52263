import { statusReason } from '../transport/status-reason.ts';
import type { ApiResponse } from '../transport/transport.ts';
import { excerptOf } from './excerpt.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import { isJsonObject, type JsonObject } from './json.ts';

/**
 * The document of an answer. Throws an `ApiError`, and nothing else, when the answer is a failure:
 * the status is looked at before the body, and a body that is not 2xx need not be JSON.
 *
 * A 200 whose document has an `error` member is the vendor's own failure under a wrong status: its
 * reason is `server`, whatever else the document holds.
 */
export function documentOf(
  response: ApiResponse,
  subject: CallSubject,
  parse: (body: string) => unknown,
): JsonObject {
  const { status, body } = response;
  const reason = statusReason(status);
  if (reason !== undefined) {
    throw failureOf(subject, reason, `status ${status}${quoted(titleOfBody(body))}`, { status });
  }

  const document = parsed(response, subject, parse);
  if (!isJsonObject(document)) {
    throw failureOf(subject, 'schema', 'the answer is not a JSON object', { status });
  }
  if (isPresent(document['error'])) {
    const detail = `status ${status}, but an error${quoted(titleOf(document['error']))}`;
    throw failureOf(subject, 'server', detail, { status });
  }
  return document;
}

function parsed(
  { status, body }: ApiResponse,
  subject: CallSubject,
  parse: (body: string) => unknown,
): unknown {
  try {
    return parse(body);
  } catch (cause) {
    const start = excerptOf(body);
    const detail = start === '' ? 'the answer is empty' : `the answer is not JSON: "${start}"`;
    // The parser's own message quotes the body uncleaned, so it does not become the cause.
    const options = cause instanceof SyntaxError ? { status } : { status, cause };
    throw failureOf(subject, 'not_json', detail, options);
  }
}

/** What a body that is not 2xx says, if it is the vendor's `{"error":{"title":…}}`; or nothing. */
function titleOfBody(body: string): string {
  if (!body.trimStart().startsWith('{')) return '';
  try {
    const document: unknown = JSON.parse(body);
    return isJsonObject(document) ? titleOf(document['error']) : '';
  } catch {
    return '';
  }
}

/** The vendor's error is an object with a title; a plain text has been seen too. */
function titleOf(error: unknown): string {
  const title = isJsonObject(error) ? error['title'] : error;
  return typeof title === 'string' ? excerptOf(title) : '';
}

function quoted(title: string): string {
  return title === '' ? '' : `, "${title}"`;
}

function isPresent(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}
