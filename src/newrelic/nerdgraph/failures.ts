import { ApiError, type FailureReason, remedyOf } from '../../model/api-error.ts';
import { anyRegion, otherRegion, otherRegionRemedy } from '../../model/region.ts';
import { countOf } from '../../model/shown-text.ts';
import {
  type ApiObserver,
  againOf,
  type Logger,
  type Operation,
  titleOf,
  type UnexpectedAnswer,
  unexpectedAnswers,
} from '../../model/telemetry.ts';
import { excerptOf, isJsonObject, type JsonObject, jsonIn, objectOf } from '../answer.ts';
import type { ApiResponse } from '../calls/transport.ts';
import { byCode, statusReason } from '../calls/transport-errors.ts';

/** What a call was for. Every message about the call begins with it. */
export interface CallPurpose {
  readonly operation: Operation;
  /** How many applications were asked for; `undefined` if it was a list of them. */
  readonly applications?: number | undefined;
  readonly accountId: number | undefined;
}

/** The failure with its remedy. `detail` is a clause without a full stop, and holds no secret. */
export function failureOf(
  { operation, applications, accountId }: CallPurpose,
  reason: FailureReason,
  detail: string,
  status?: number,
): ApiError {
  const subject =
    applications === undefined || applications === 0
      ? ''
      : ` of ${countOf(applications, 'application')}`;
  const remedy = otherRegion.test(detail)
    ? otherRegionRemedy
    : remedyFor({ reason, status }, accountId, operation);
  return new ApiError(
    reason,
    `${titleOf(operation)}${subject}: ${detail}. ${remedy}.`,
    status === undefined ? {} : { status },
  );
}

/** The failure of an answer that is not what was asked for, or not all of it. */
export function notWhole(purpose: CallPurpose, detail: string): ApiError {
  return failureOf(purpose, 'schema', detail);
}

/** The failure that an answer is, by the status that it should have had; `undefined` if it is none. */
export function failureIn(
  { status, body }: ApiResponse,
  purpose: CallPurpose,
): ApiError | undefined {
  const reason = statusReason(status);
  if (reason === undefined) return undefined;
  const said = excerptOf(graphqlMessageOf(body));
  const detail = said === '' ? `status ${status}` : `status ${status}, "${said}"`;
  // What fails in NerdGraph itself fails in one query. A status of HTTP is one of all of them.
  const isOfQuery = said !== '' && status === 500;
  return failureOf(purpose, reason, detail, isOfQuery ? undefined : status);
}

/**
 * The message of the error in a body that decides; empty if there is none, as in a page of a gateway.
 */
function graphqlMessageOf(body: string): string {
  const error = decidingErrorOf(graphqlErrorsOf(jsonIn(body)).errors);
  if (error === undefined) return '';
  return error.errorClass === '' ? error.message : `${error.errorClass}: ${error.message}`;
}

function remedyFor(
  failure: Pick<ApiError, 'reason' | 'status'>,
  accountId: number | undefined,
  operation: Operation,
): string {
  if (failure.status === 403) return noAccess(accountId);
  // Neither a command that asks once nor a query of the configuration is divided.
  const isWhole = operation === 'list_metrics' || operation === 'query';
  if (isWhole && failure.reason === 'too_large') return askForLess;
  if (operation === 'query' && failure.reason === 'client') {
    return 'New Relic refuses the NRQL: correct it in "queries"';
  }
  if (operation === 'query' && failure.reason === 'schema') {
    return 'Nothing of it is shown; if that lasts, report it as a fault, with this message';
  }
  return remedyOf(failure, remedies, againOf(operation));
}

/** What mends a query that is asked as a whole. */
export const askForLess =
  'The query takes too long or returns too much: ask for less, with a smaller LIMIT, fewer functions or shorter facets';

function noAccess(accountId: number | undefined): string {
  const account = accountId === undefined ? 'the account' : `the account ${accountId}`;
  return `The user of the API key has no access to ${account}: check account_id ("newrelic-exporter check-config --online" names the accounts that the key sees), the region (${anyRegion}) and the rights of that user`;
}

const remedies: Readonly<Partial<Record<FailureReason, string>>> = {
  auth: `Check the API key of the account: it must be a user key (NRAK-…) of an active user, and the region (${anyRegion}) must be the one of the account`,
  not_found: 'Check base_url: there is no NerdGraph at this address (/graphql)',
  throttled:
    'A limit of NerdGraph is reached (3000 NRQL queries a minute for an account, 25 requests in flight for a user): lower requests_per_minute or concurrency, or find who else asks as the same user',
  schema: 'Check that base_url is the address of New Relic',
  client: 'New Relic refuses this query: report it as a fault of the exporter, with this message',
  too_large:
    'The query takes too long or returns too much; it is asked in smaller parts where that is possible',
};

/** One of the `errors` of a GraphQL answer. */
export interface GraphqlError {
  readonly message: string;
  /** New Relic's class of the error, in capital letters; empty if there is none. */
  readonly errorClass: string;
  readonly classification: string;
}

/** The errors of a GraphQL document, and those that only announce that a field will go some day. */
export function graphqlErrorsOf(document: unknown): {
  readonly errors: readonly GraphqlError[];
  readonly deprecations: readonly string[];
} {
  const stated: unknown = objectOf(document)['errors'];
  const all = Array.isArray(stated) ? stated.filter(isJsonObject).map(graphqlErrorOf) : [];
  return {
    errors: all.filter((error) => !isDeprecation(error)),
    deprecations: all.filter(isDeprecation).map(({ message }) => message),
  };
}

function graphqlErrorOf(error: JsonObject): GraphqlError {
  const { errorClass, error_code: code, classification } = objectOf(error['extensions']);
  return {
    message: textOf(error['message']),
    errorClass: textOf(errorClass) || textOf(code),
    classification: textOf(classification),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isDeprecation({ message }: GraphqlError): boolean {
  return message.startsWith('This field is deprecated!');
}

/**
 * What was asked for: the value of `nrql`, `entitySearch` or `accounts`; `undefined` if it is null or
 * absent, or if its results are null: the field of the results may fail on its own.
 */
export function answeredPartOf(document: unknown): unknown {
  const { account, entitySearch, accounts } = actorOf(document);
  const part = isJsonObject(account) ? account['nrql'] : (entitySearch ?? accounts);
  return objectOf(part)['results'] === null ? undefined : (part ?? undefined);
}

const tooMuch = 413;

/** By error class. */
const statuses = byCode<number>([
  [429, 'TOO_MANY_REQUESTS'],
  [401, 'BAD_API_KEY UNAUTHORIZED'],
  [403, 'ACCESS_DENIED FORBIDDEN NOT_FOUND'],
  [tooMuch, 'TIMEOUT'],
  [400, 'INVALID_INPUT BAD_USER_INPUT'],
  [500, 'INTERNAL_SERVER_ERROR SERVER_ERROR'],
]);

const tooBig = /query is (?:a little )?too (?:big|long)|too long|maximum length/i;
const deniesAccess = /not authori[sz]ed|unauthori[sz]ed|access denied|permission|forbidden/i;

/** Every status of an error. The first of these that any of the errors has decides about all of them. */
const precedence: readonly number[] = [429, 401, 403, tooMuch, 400, 500];

function statusOfError({ errorClass, classification, message }: GraphqlError): number {
  if (tooBig.test(message)) return tooMuch;
  if (otherRegion.test(message)) return 403;
  // New Relic answers so to a key whose user may not see the account. Its GraphQL library gives this
  // classification to any failure of a field, so a class of its own says more.
  const isOwn = errorClass !== '' && errorClass !== 'SERVER_ERROR';
  if (classification === 'DataFetchingException' && !isOwn) return 403;
  return statuses.get(errorClass) ?? (deniesAccess.test(message) ? 403 : 500);
}

/**
 * The status that an answer of NerdGraph should have had: errors come under 200, and with a part of what
 * was asked for. A query that takes too long, or returns too much, is 413:
 * the same query in smaller parts may succeed.
 */
export function statusOf({ status, body }: Pick<ApiResponse, 'status' | 'body'>): number {
  if (status !== 200 || !mayHaveFailed(body)) return status;
  const document = jsonIn(body);
  const deciding = decidingErrorOf(graphqlErrorsOf(document).errors);
  if (deciding !== undefined) return statusOfError(deciding);
  // Without an error the account is not visible to the key.
  return actorOf(document)['account'] === null ? 403 : status;
}

/** The error that decides what to do about all of them; `undefined` if there is none. */
function decidingErrorOf(errors: readonly GraphqlError[]): GraphqlError | undefined {
  const rankOf = (error: GraphqlError): number => precedence.indexOf(statusOfError(error));
  return errors.toSorted((left, right) => rankOf(left) - rankOf(right))[0];
}

/** Large answers are good ones: this spares parsing them twice. */
function mayHaveFailed(body: string): boolean {
  return body.includes('"errors"') || /"account"\s*:\s*null/.test(body);
}

function actorOf(document: unknown): JsonObject {
  return objectOf(objectOf(objectOf(document)['data'])['actor']);
}

/** Takes note of answers that are other than New Relic documents, or than its documents leave open. */
export interface UnexpectedAnswers {
  /**
   * @param detail what there was, for the log
   */
  saw(kind: UnexpectedAnswer, detail: Readonly<Record<string, unknown>>): void;
}

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
  return {
    saw: (kind, detail) => {
      observer.unexpected(kind, 1);
      const fields = { account, kind, ...detail };
      logger[logged.has(kind) ? 'debug' : 'warn'](fields, 'an answer was not as documented');
      logged.add(kind);
    },
  };
}
