import { ApiError, failures } from '../model/api-error.ts';
import { retryAfterMs } from './throttle-pause.ts';
import type { Transport, TransportParts } from './transport.ts';
import { statusReason } from './transport-errors.ts';

/** More retries would only take permits from calls that can still succeed. */
const maxRetries = 2;
const baseDelayMs = 1000;
const maxDelayMs = 10_000;
/** No retry starts later than this after the call began, the wait for a permit included. */
const giveUpAfterMs = 120_000;

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
  return (next) => async (first, signal) => {
    const giveUpAtMs = clock.monotonicMs() + giveUpAfterMs;
    let request = first;
    for (let retries = 0; ; retries += 1) {
      const answer = await next(request, signal).catch(apiErrorOnly);
      const [reason, headers] =
        answer instanceof ApiError
          ? [answer.reason, {}]
          : [statusReason(answer.status), answer.headers];
      const mayPass = reason !== undefined && failures[reason].isRetryable;
      if (mayPass && request.isOptional !== true && retries < maxRetries) {
        const nowMs = clock.monotonicMs();
        const jitterMs = random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retries);
        const askedMs = Math.max(0, retryAfterMs(headers, clock.wallMs()) ?? 0);
        const delayMs = reason === 'throttled' ? 0 : askedMs + jitterMs;
        request = { ...first, attempt: retries + 2, retriedFor: reason, delayMs };
        const earliestMs = Math.max(nowMs + delayMs, membership.pausedUntilMs() ?? nowMs);
        if (earliestMs < giveUpAtMs) continue;
      }
      if (answer instanceof ApiError) throw answer;
      return answer;
    }
  };
}

function apiErrorOnly(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
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

  // Calls in flight fail together when a key is revoked: they share one reload.
  const reloadOnce = async (status: number): Promise<boolean> => {
    const nowMs = clock.monotonicMs();
    if (reloading === undefined && status === 403 && nowMs < reloadedMs + forbiddenGapMs) {
      return false;
    }
    reloading ??= keyProvider
      .reload()
      // The 401 or 403 in hand tells more than a key that cannot be read at this moment.
      .catch(() => false)
      .finally(() => {
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
