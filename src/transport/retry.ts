import { ApiError, type FailureReason, failures } from '../model/api-error.ts';
import { retryAfterMs } from './throttle-pause.ts';
import type { ApiRequest, ApiResponse, Transport, TransportParts } from './transport.ts';
import { statusReason } from './transport-errors.ts';

/** More retries would only take permits from calls that can still succeed. */
const maxRetries = 2;
const baseDelayMs = 1000;
const maxDelayMs = 10_000;
/** No retry starts later than this after the call began, the wait for a permit included. */
const giveUpAfterMs = 120_000;

/** A call under way. */
interface Attempt {
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  /** How many were made so far. */
  readonly retries: number;
  readonly giveUpAtMs: number;
}

/**
 * The only place that retries failures: at most twice, with full jitter. Gives the last answer, or
 * throws the last error. A retry takes its turn again, after the wait that the `Retry-After` of a 5xx
 * asks for; after a 429 the limiter of the key makes it wait.
 */
export function retry({
  clock,
  random,
  membership,
}: Pick<TransportParts, 'clock' | 'random' | 'membership'>): (next: Transport) => Transport {
  /** How long to wait before the next attempt; `undefined` when there must not be one. */
  const delayBefore = (
    { request, retries, giveUpAtMs }: Attempt,
    reason: FailureReason,
    headers: ApiResponse['headers'],
  ): number | undefined => {
    if (request.isOptional === true || !failures[reason].isRetryable) return undefined;
    if (retries >= maxRetries) return undefined;
    const nowMs = clock.monotonicMs();
    const jitterMs = random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retries);
    const askedMs = Math.max(0, retryAfterMs(headers, clock.wallMs()) ?? 0);
    const delayMs = reason === 'throttled' ? 0 : askedMs + jitterMs;
    const earliestMs = Math.max(nowMs + delayMs, membership.pausedUntilMs() ?? nowMs);
    return earliestMs < giveUpAtMs ? delayMs : undefined;
  };

  return (next) => {
    const run = async (attempt: Attempt): Promise<ApiResponse> => {
      const { request, signal } = attempt;
      let reason: FailureReason | undefined;
      let delayMs: number | undefined;
      try {
        const response = await next(request, signal);
        reason = statusReason(response.status);
        if (reason === undefined) return response;
        delayMs = delayBefore(attempt, reason, response.headers);
        if (delayMs === undefined) return response;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        reason = error.reason;
        delayMs = delayBefore(attempt, reason, {});
        if (delayMs === undefined) throw error;
      }
      return run({
        ...attempt,
        request: { ...request, attempt: attempt.retries + 2, retriedFor: reason, delayMs },
        retries: attempt.retries + 1,
      });
    };

    return (request, signal) => {
      const giveUpAtMs = clock.monotonicMs() + giveUpAfterMs;
      return run({ request, signal, retries: 0, giveUpAtMs });
    };
  };
}

/** Some applications are forbidden for good, so not every 403 is worth reading the key again. */
const forbiddenGapMs = 10_000;

/**
 * After a 401 or 403 reads the key again and, if the key has changed, sends the request once more. It
 * is outside pacing and measuring, so that the second request is paced and measured like any other.
 */
export function reloadKey({
  clock,
  keyProvider,
}: Pick<TransportParts, 'clock' | 'keyProvider'>): (next: Transport) => Transport {
  let reloading: Promise<boolean> | undefined;
  let reloadedMs = Number.NEGATIVE_INFINITY;

  const reload = async (): Promise<boolean> => {
    try {
      return await keyProvider.reload();
    } catch {
      // The 401 or 403 in hand tells more than a key that cannot be read at this moment.
      return false;
    }
  };
  // Calls in flight fail together when a key is revoked: they share one reload.
  const reloadOnce = async (status: number): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    if (reloading === undefined && status === 403 && nowMs < reloadedMs + forbiddenGapMs) {
      return false;
    }
    reloading ??= reload().finally(() => {
      reloading = undefined;
      reloadedMs = clock.monotonicMs();
    });
    return reloading;
  };

  return (next) => async (request, signal) => {
    const keyBefore = keyProvider.current();
    const response = await next(request, signal);
    const { status } = response;
    if (status !== 401 && status !== 403) return response;
    const changed = keyProvider.current() !== keyBefore || (await reloadOnce(status));
    if (!changed) return response;
    signal.throwIfAborted();
    const attempt = (request.attempt ?? 1) + 1;
    return next({ ...request, attempt, retriedFor: 'auth', delayMs: 0 }, signal);
  };
}
