import type { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import type { RequestContext } from '../../model/source.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import {
  countingFailures,
  isJsonObject,
  type JsonObject,
  parseJson,
  parseJsonKeepingIds,
} from '../answer.ts';
import type { ApiRequest, ApiResponse, Transport } from '../calls/transport.ts';
import { documentIn, notWhole, type RestPurpose } from '../failures.ts';

/** What the calls of an account share. */
export interface RestContext {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly clock: Clock;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
}

export interface RestRequest extends ApiRequest, RestPurpose {}

/**
 * Sends a request, and reads its answer with `read`. Rejects with an `ApiError` if the answer is a failure,
 * which is counted, or with the signal's reason.
 */
export async function askRest<Content>(
  request: RestRequest,
  { send, observer }: RestContext,
  { signal, ...call }: RequestContext,
  read: (document: JsonObject, headers: ApiResponse['headers']) => Content,
): Promise<Content> {
  const response = await send({ ...call, ...request }, signal);
  return countingFailures(response, request, observer, () => {
    // Values are numbers, however long; lists have ids.
    const isList = request.operation.startsWith('list_');
    const document = documentIn(response, request, isList ? parseJsonKeepingIds : parseJson);
    if (isJsonObject(document)) return read(document, response.headers);
    throw notWhole(request, 'the answer is not a JSON object');
  });
}

/** The failure that a list is not whole; `undefined` if no part of it was left out. */
export function partsMissing(
  count: number,
  purpose: RestPurpose,
  which: string,
): ApiError | undefined {
  if (count === 0) return undefined;
  return notWhole(purpose, `parts of the list were left out (${count})${which}`);
}

/** Real pages have 200 elements, or 1000 names. A million would block the whole process for seconds. */
const maxElements = 1000;

/** The elements of one page of a list. Throws an `ApiError` if there is no list, or if it is too long. */
export function listElementsOf(
  document: JsonObject,
  member: 'applications' | 'application_hosts' | 'metrics',
  purpose: RestPurpose,
): readonly unknown[] {
  const elements = document[member];
  if (!Array.isArray(elements)) {
    throw notWhole(purpose, `the answer has no list of ${member}`);
  }
  if (elements.length > maxElements) {
    const detail = `the answer lists ${elements.length} ${member} on one page, more than a page ever has`;
    throw notWhole(purpose, detail);
  }
  return elements as readonly unknown[];
}
