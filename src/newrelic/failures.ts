import {
  ApiError,
  type ApiErrorOptions,
  type FailureReason,
  remedyOf,
} from '../model/api-error.ts';
import { anyRegion, otherRegion, otherRegionRemedy } from '../model/region.ts';
import { countOf } from '../model/shown-text.ts';
import { type Operation, operationTitle } from '../model/telemetry.ts';
import { excerptOf, isJsonObject, type JsonObject, jsonIn, objectOf } from './answer.ts';
import type { ApiResponse } from './calls/transport.ts';
import { statusReason } from './calls/transport-errors.ts';

/** What a call is for. Every message about the call begins with it. */
export type CallPurpose = RestPurpose | NerdGraphPurpose;

export interface RestPurpose {
  readonly operation: Operation;
  readonly applicationId?: string | undefined;
  readonly hostId?: string | undefined;
}

export interface NerdGraphPurpose {
  readonly operation: Operation;
  /** How many applications were asked for; `undefined` if it was a list of them. */
  readonly applications?: number | undefined;
  readonly accountId: number | undefined;
}

/**
 * What New Relic's words mean, as a status of HTTP, for both APIs: the first row that fits decides. A class such as
 * SERVER_ERROR says nothing, and comes with plain refusals; the class of another stands before the words that may
 * be those of the user's text.
 */
export const meanings: readonly (readonly [status: number, words: RegExp])[] = [
  [403, otherRegion],
  // The fault of the query itself.
  [
    400,
    /NRQL Syntax Error|Unknown function|execution resulted in 400|Validation (?:error|failed)/iu,
  ],
  [400, /No application was matched/iu],
  [429, /\bTOO_MANY_REQUESTS\b|NRDB:110(?:6924|7005)|query rate limit/iu],
  [413, /[Qq]uery is (?:a little )?too big|too long|[Mm]aximum length|\bTIMEOUT\b|NRDB:1101002/u],
  [401, /\b(?:BAD_API_KEY|UNAUTHORIZED|UNAUTHENTICATED)\b/u],
  [403, /\b(?:ACCESS_DENIED|FORBIDDEN|NOT_FOUND)\b/u],
  [400, /\b(?:INVALID_INPUT|BAD_USER_INPUT|GRAPHQL_(?:VALIDATION|PARSE)_FAILED)\b/u],
  [500, /\bINTERNAL_SERVER_ERROR\b/u],
  [403, /not authori[sz]ed|unauthori[sz]ed|access denied|permission|forbidden/iu],
];

/** Of several errors the first of these decides about all of them. */
const precedence: readonly number[] = [429, 401, 403, 413, 400, 500];

/** What an answer that is a failure means. */
interface Verdict {
  /** The status that it should have had. */
  readonly status: number;
  /** New Relic's words; empty if there are none. */
  readonly said: string;
  /** Whether that tells whose fault it is. */
  readonly isTelling: boolean;
  /** Whether any field that fails is answered so, and one without rights, too. */
  readonly isOfField: boolean;
}

/** What any field that has failed is called. */
const unresolved =
  /^An error occurred resolving this field|^SERVER_ERROR: An error occurred resolving/u;

function errorVerdict(error: unknown): Verdict {
  const { said, own } = wordsOf(error);
  const { classification } = objectOf(objectOf(error)['extensions']);
  const [status] = meanings.find(([, words]) => words.test(own)) ?? [];
  const isOfField = classification === 'DataFetchingException' || unresolved.test(said);
  const isTelling = status !== undefined;
  return { status: status ?? 500, said, isTelling, isOfField: !isTelling && isOfField };
}

/** What may be the user's own text: an apostrophe within a word quotes nothing. */
const quotation = /(?<!\w)'[^']*'(?!\w)|`[^`]*`/gu;

/** Its class and codes, as far as its message lacks them, and its message; and all of it that New Relic says itself. */
function wordsOf(error: unknown): { readonly said: string; readonly own: string } {
  if (!isJsonObject(error)) return { said: textOf(error), own: textOf(error) };
  const { errorClass, error_code: older, errorCode, code } = objectOf(error['extensions']);
  const message = textOf(error['title'] ?? error['message']);
  const codes = [errorClass, older, errorCode, code].map(textOf);
  const lacking = codes.filter((one, at) => codes.indexOf(one) === at && !message.includes(one));
  const said = [...lacking, message].filter((text) => text !== '').join(': ');
  return { said, own: [...codes, message.replaceAll(quotation, '')].join(' ') };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A million would block the whole process for seconds. */
const mostErrors = 100;

/** It only announces that a field will go some day. */
function isNotice(error: unknown): boolean {
  return textOf(objectOf(error)['message']).startsWith('This field is deprecated!');
}

/** New Relic's notices among the errors of an answer of NerdGraph. */
export function noticesIn(document: unknown): readonly string[] {
  const { errors } = objectOf(document);
  const all = Array.isArray(errors) ? errors.filter(isJsonObject).filter(isNotice) : [];
  return all.slice(0, mostErrors).map(({ message }) => textOf(message));
}

/** Whether a status says no more than that something failed: words say more. REST has no 500 for plain refusals. */
function isVague(status: number, document: unknown): boolean {
  const isOfNerdGraph = objectOf(document)['errors'] !== undefined;
  return status === 200 || status === 400 || (status === 500 && isOfNerdGraph);
}

/** @param document `undefined` if the answer has none */
export function verdictIn(status: number, document: unknown): Verdict | undefined {
  // REST has one error, an object with a title or a text, and NerdGraph a list of them. Whatever else there is, is one.
  const { error, errors } = objectOf(document);
  const all = [error, errors].flat().filter((one) => Boolean(one) && !isNotice(one));
  const verdicts = all.slice(0, mostErrors).map(errorVerdict);
  const rankOf = (verdict: Verdict): number => precedence.indexOf(verdict.status);
  const [deciding] = verdicts.toSorted((left, right) => rankOf(left) - rankOf(right));
  if (deciding !== undefined && isVague(status, document)) {
    if (deciding.isTelling || status === 200) return deciding;
    return { ...deciding, status, isTelling: status === 400 };
  }
  if (statusReason(status) !== undefined) {
    const said = deciding?.said ?? '';
    // What refuses a request without a word of New Relic may be something on the way to it.
    const isTelling = deciding !== undefined || status === 402 || statusReason(status) !== 'client';
    return { status, said, isTelling, isOfField: false };
  }
  // Without an error the account of NerdGraph is not visible to the key.
  const isHidden = actorIn(document)['account'] === null;
  return isHidden ? { status: 403, said: '', isTelling: true, isOfField: false } : undefined;
}

function actorIn(document: unknown): JsonObject {
  return objectOf(objectOf(objectOf(document)['data'])['actor']);
}

/**
 * What NerdGraph was asked for: the value of `nrql`, `entitySearch` or `accounts`; `undefined` if it is null or
 * absent, or if its results are null: the field of the results may fail on its own.
 */
export function answeredPartOf(document: unknown): unknown {
  const { account, entitySearch, accounts } = actorIn(document);
  const part = isJsonObject(account) ? account['nrql'] : (entitySearch ?? accounts);
  return objectOf(part)['results'] === null ? undefined : (part ?? undefined);
}

/**
 * The status that an answer of NerdGraph should have had: errors come under 200, and with a part of what was asked
 * for. A query that takes too long, or returns too much, is 413: the same query in smaller parts may succeed.
 */
export function statusOf({ status, body }: Pick<ApiResponse, 'status' | 'body'>): number {
  // Large answers are good ones: this spares parsing them twice.
  const mayHaveFailed = body.includes('"errors"') || /"account"\s*:\s*null/.test(body);
  if (!mayHaveFailed) return status;
  return verdictIn(status, jsonIn(body))?.status ?? status;
}

/** Whether an answer is an error that New Relic gives to a key without rights, and when a field fails for a while. */
export function mayLackRights({ status, body }: ApiResponse): boolean {
  return status === 500 && verdictIn(status, jsonIn(body))?.isOfField === true;
}

/**
 * The document of an answer. Throws an `ApiError` if the answer is a failure, by its status or by what New Relic
 * says in it, or is no JSON.
 */
export function documentIn(
  { status, body }: ApiResponse,
  purpose: CallPurpose,
  parse: (body: string) => unknown,
): unknown {
  const isFailure = statusReason(status) !== undefined;
  const document = isFailure ? jsonIn(body) : parsedBody(body, status, purpose, parse);
  const verdict = verdictIn(status, document);
  if (verdict === undefined) return document;
  const { said, isTelling } = verdict;
  const quoted = said === '' ? '' : `, "${excerptOf(said)}"`;
  const detail = `status ${status}${isFailure || said === '' ? '' : ', but an error'}${quoted}`;
  // What fails in NerdGraph itself fails in one query. A status of HTTP is one of all of them.
  const isOfQuery = verdict.status === 500 && Array.isArray(objectOf(document)['errors']);
  throw failureOf(purpose, statusReason(verdict.status) ?? 'server', detail, {
    ...(isOfQuery ? {} : { status: verdict.status }),
    ...(isTelling ? {} : { remedy: 'It does not say whose fault that is; it may pass by itself' }),
  });
}

function parsedBody(
  body: string,
  status: number,
  purpose: CallPurpose,
  parse: (body: string) => unknown,
): unknown {
  try {
    return parse(body);
  } catch (cause) {
    const start = excerptOf(body);
    const detail = start === '' ? 'the answer is empty' : `the answer is not JSON: "${start}"`;
    // The parser's own message quotes the body uncleaned, so it does not become the cause.
    const options = cause instanceof SyntaxError ? { status } : { status, cause };
    throw failureOf(purpose, 'not_json', detail, options);
  }
}

interface FailureOptions extends ApiErrorOptions {
  /** What to do about it, without a full stop, if the usual remedy for the reason is wrong. */
  readonly remedy?: string | undefined;
}

/** The failure with its remedy. `detail` is a clause without a full stop, and holds no secret. */
export function failureOf(
  purpose: CallPurpose,
  reason: FailureReason,
  detail: string,
  { remedy, ...options }: FailureOptions = {},
): ApiError {
  const usual = (): string => remedy ?? remedyOfCall(purpose, { reason, status: options.status });
  const help = otherRegion.test(detail) ? otherRegionRemedy : usual();
  const title = `${operationTitle(purpose.operation)}${subjectText(purpose)}`;
  return new ApiError(reason, `${title}: ${detail}. ${help}.`, options);
}

/** The failure of an answer that is not what was asked for, or not all of it. */
export function notWhole(purpose: CallPurpose, detail: string, remedy?: string): ApiError {
  return failureOf(purpose, 'schema', detail, { remedy });
}

function subjectText(purpose: CallPurpose): string {
  if ('accountId' in purpose) {
    const count = purpose.applications ?? 0;
    return count === 0 ? '' : ` of ${countOf(count, 'application')}`;
  }
  const { applicationId, hostId } = purpose;
  const application = applicationId === undefined ? '' : ` of application ${applicationId}`;
  return `${application}${hostId === undefined ? '' : `, host ${hostId}`}`;
}

type ErrorTraits = Pick<ApiError, 'reason' | 'status'>;
type Remedies = Readonly<Partial<Record<FailureReason, string>>>;

function remedyOfCall(purpose: CallPurpose, failure: ErrorTraits): string {
  const own =
    'accountId' in purpose ? nerdGraphRemedyFor(purpose, failure) : restRemedyFor(purpose, failure);
  const remedies = 'accountId' in purpose ? nerdGraphRemedies : restRemedies;
  return own ?? remedyOf(failure, remedies);
}

function restRemedyFor(
  { applicationId }: RestPurpose,
  { reason, status }: ErrorTraits,
): string | undefined {
  if (applicationId === undefined) return undefined;
  if (reason === 'not_found') {
    return 'New Relic no longer has it, or it belongs to another account than the API key';
  }
  // With a refused key the list of applications would have failed, long before this call.
  return status === 403
    ? "New Relic forbids this application to the API key's user: give that user access to it, or take it out of the configuration"
    : undefined;
}

function nerdGraphRemedyFor(
  { operation, accountId }: NerdGraphPurpose,
  { reason, status }: ErrorTraits,
): string | undefined {
  if (status === 403) {
    const account = accountId === undefined ? 'the account' : `the account ${accountId}`;
    return `The user of the API key has no access to ${account}: check account_id ("newrelic-exporter check-config --online" names the accounts that the key sees), the region (${anyRegion}) and the rights of that user`;
  }
  // Neither a command that asks once nor a query of the configuration is divided.
  const isWhole = operation === 'list_metrics' || operation === 'query';
  if (isWhole && reason === 'too_large') return askForLess;
  // A limit of the account is no fault of its queries.
  return operation === 'query' && status !== 402 ? queryRemedies[reason] : undefined;
}

/** What mends a query that is asked as a whole. */
export const askForLess =
  'The query takes too long or returns too much: ask for less, with a smaller LIMIT, fewer functions or shorter facets';

const queryRemedies: Remedies = { client: 'New Relic refuses the NRQL: correct it in "queries"' };

const restRemedies: Remedies = {
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

const nerdGraphRemedies: Remedies = {
  auth: `Check the API key of the account: it must be a user key (NRAK-…) of an active user, and the region (${anyRegion}) must be the one of the account`,
  not_found: 'Check base_url: there is no NerdGraph at this address (/graphql)',
  throttled:
    'A limit of NerdGraph is reached (3000 NRQL queries a minute for an account, 25 requests in flight for a user): lower requests_per_minute or concurrency, or find who else asks as the same user',
  schema: 'If that lasts, report it as a fault of the exporter, with this message',
  client: 'New Relic refuses this query: report it as a fault of the exporter, with this message',
  too_large:
    'The query takes too long or returns too much; it is asked in smaller parts where that is possible',
};
