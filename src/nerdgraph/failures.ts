import { ApiError, type FailureReason, remedyOf } from '../model/api-error.ts';
import { type Operation, titleOf } from '../model/telemetry.ts';
import { excerptOf } from '../newrelic/answer.ts';
import { parseJson } from '../newrelic/json.ts';
import type { ApiResponse } from '../transport/transport.ts';
import { statusReason } from '../transport/transport-errors.ts';
import { decidingErrorOf, graphqlErrorsOf } from './status-of.ts';

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
      : ` of ${applications} ${applications === 1 ? 'application' : 'applications'}`;
  const remedy = remedyFor({ reason, status }, accountId, operation === 'list_metrics');
  return new ApiError(
    reason,
    `${titleOf(operation)}${subject}: ${detail}. ${remedy}.`,
    status === undefined ? {} : { status },
  );
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
  return failureOf(purpose, reason, detail, status);
}

/**
 * The message of the error in a body that decides; empty if there is none, as in a page of a gateway.
 */
function graphqlMessageOf(body: string): string {
  try {
    const error = decidingErrorOf(graphqlErrorsOf(parseJson(body)));
    if (error === undefined) return '';
    return error.errorClass === '' ? error.message : `${error.errorClass}: ${error.message}`;
  } catch {
    return '';
  }
}

function remedyFor(
  failure: Pick<ApiError, 'reason' | 'status'>,
  accountId: number | undefined,
  isOnce: boolean,
): string {
  if (failure.status === 403) return noAccess(accountId);
  // A command that asks once does not divide the question.
  if (isOnce && failure.reason === 'too_large') {
    return 'The query takes too long or returns too much: ask for less';
  }
  return remedyOf(failure, remedies, isOnce);
}

function noAccess(accountId: number | undefined): string {
  const account = accountId === undefined ? 'the account' : `the account ${accountId}`;
  return `The user of the API key has no access to ${account}: check account_id ("newrelic-exporter check-config --online" names the accounts that the key sees) and the rights of that user`;
}

const remedies: Readonly<Partial<Record<FailureReason, string>>> = {
  auth: 'Check the API key of the account: it must be a user key (NRAK-…) of an active user, and the region (us or eu) must be the one of the account',
  not_found: 'Check base_url: there is no NerdGraph at this address (/graphql)',
  throttled:
    'A limit of NerdGraph is reached (3000 NRQL queries a minute for an account, 25 requests in flight for a user): lower requests_per_minute or concurrency, or find who else asks as the same user',
  schema: 'Check that base_url is the address of New Relic',
  client: 'New Relic refuses this query: report it as a fault of the exporter, with this message',
  too_large:
    'The query takes too long or returns too much; it is asked in smaller parts where that is possible',
};
