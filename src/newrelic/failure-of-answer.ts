import { ApiError, type FailureReason } from '../model/api-error.ts';
import type { Operation } from '../model/operation.ts';

/** What a call was for: the beginning of every message about it. */
export interface CallSubject {
  readonly operation: Operation;
  readonly applicationId: string | undefined;
  readonly hostId: string | undefined;
}

interface FailureOptions {
  readonly status?: number;
  readonly cause?: unknown;
  /** What to do about it, without a full stop, where the usual remedy of the reason is wrong. */
  readonly remedy?: string;
}

/** The failure with its remedy. `detail` is a clause without a full stop and holds no secret. */
export function failureOf(
  subject: CallSubject,
  reason: FailureReason,
  detail: string,
  options: FailureOptions = {},
): ApiError {
  const { operation, applicationId, hostId } = subject;
  const application = applicationId === undefined ? '' : ` of application ${applicationId}`;
  const host = hostId === undefined ? '' : `, host ${hostId}`;
  const remedy = options.remedy ?? remedyOf(subject, reason, options.status);
  return new ApiError(reason, `${operation}${application}${host}: ${detail}. ${remedy}.`, options);
}

function remedyOf(
  { applicationId }: CallSubject,
  reason: FailureReason,
  status: number | undefined,
): string {
  if (status === 402) return paymentRequired;
  if (applicationId === undefined) return remedies[reason];
  if (reason === 'not_found') return notFoundApplication;
  // A refused key would not have come as far as to one application: its list would have failed.
  return status === 403 ? forbiddenApplication : remedies[reason];
}

const notFoundApplication =
  'The vendor no longer has it, or it belongs to another account than the API key';

const forbiddenApplication =
  "The vendor forbids this application to the API key's user: give that user access to it, or " +
  'take it out of the configuration';

const paymentRequired =
  'The vendor asks for payment, or a limit of the account is reached: check the plan and the usage ' +
  'of the account';

const failedOnTheWay =
  'The vendor, or something on the way to it, failed; it is asked again at the next poll';

const remedies: Readonly<Record<FailureReason, string>> = {
  auth:
    'Check the API key of the account: it must be a user key (NRAK-…; REST API keys ended in ' +
    '2025) of an active user, created in this account and in the configured region (us or eu), ' +
    'and sent in the configured header',
  not_found: 'Check base_url: there is no New Relic REST API v2 at this address',
  throttled:
    "The vendor's quota of the API key is used up: lower requests_per_minute, or find who else " +
    'uses the key',
  redirect: 'Redirects are not followed with a key: check base_url and its scheme (https)',
  not_json: 'Check base_url, proxy_url and what stands between here and the vendor',
  schema: 'Check that base_url is the address of the New Relic REST API v2',
  client: 'The vendor refuses this request: check base_url and the window of the application',
  server: failedOnTheWay,
  dns: failedOnTheWay,
  connect: failedOnTheWay,
  tls: failedOnTheWay,
  reset: failedOnTheWay,
  timeout: failedOnTheWay,
  too_large: failedOnTheWay,
};
