import { ApiError, type FailureReason } from '../model/api-error.ts';
import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { Membership } from './rate-limiters.ts';
import { retryAfterMs } from './retry-after.ts';
import { statusReason } from './status-reason.ts';
import type { ApiRequest, ApiResponse, Transport } from './transport.ts';

export interface RetryOptions {
  /** No retry starts later than this after the call began, the wait for a permit included. */
  readonly giveUpAfterMs: number;
}

export interface RetryDependencies {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly membership: Pick<Membership, 'pausedUntilMs'>;
  readonly observer: ApiObserver;
}

/** More would only spend the budget of calls that can still succeed. */
const maxRetries = 2;
const baseDelayMs = 1000;
const maxDelayMs = 10_000;

/** What may pass by itself. The others repeat themselves: a bad certificate, key, id or answer. */
const retryableReasons: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'dns',
  'connect',
  'reset',
  'timeout',
  'throttled',
  'server',
]);

/** Names are asked for again anyway, and nobody waits for them. */
function isWorthRetrying({ operation }: ApiRequest, reason: FailureReason): boolean {
  return operation !== 'list_hosts' && retryableReasons.has(reason);
}

/** A call under way. */
interface Attempt {
  readonly request: ApiRequest;
  readonly signal: AbortSignal;
  /** Retries that were made. */
  readonly retries: number;
  readonly giveUpAtMs: number;
}

/**
 * The only owner of retries: at most two, with full jitter. Gives the last answer, or throws the last
 * error. After a 429 the rate limiter makes the retry wait, not this; what the `Retry-After` of a
 * 5xx asks for is waited for here.
 */
export function retry(
  options: RetryOptions,
  dependencies: RetryDependencies,
): (next: Transport) => Transport {
  const { clock, random, membership, observer } = dependencies;

  /** How long to wait before the next attempt; `undefined` when there must not be one. */
  const delayBefore = (
    { request, retries, giveUpAtMs }: Attempt,
    reason: FailureReason,
    headers: ApiResponse['headers'],
  ): number | undefined => {
    if (!isWorthRetrying(request, reason) || retries >= maxRetries) return undefined;
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
      if (delayMs > 0) await sleep(clock, delayMs, signal);
      signal.throwIfAborted();
      observer.retried(request.operation, reason);
      return run({ ...attempt, retries: attempt.retries + 1 });
    };

    return (request, signal) => {
      const giveUpAtMs = clock.monotonicMs() + options.giveUpAfterMs;
      return run({ request, signal, retries: 0, giveUpAtMs });
    };
  };
}
