import { ApiError, type FailureReason } from '../model/api-error.ts';
import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { Pacer } from './pacer.ts';
import { statusReason } from './status-reason.ts';
import type { ApiRequest, ApiResponse } from './transport.ts';
import type { TransportDecorator } from './transport-decorator.ts';

export interface RetryOptions {
  /** No retry starts later than this after the call began, the wait for a place included. */
  readonly giveUpAfterMs: number;
}

export interface RetryDependencies {
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly pacer: Pick<Pacer, 'pausedUntilMs'>;
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

/**
 * The only owner of retries: at most two, with full jitter. Gives the last answer, or throws the last
 * error. After a 429 the pacer makes the retry wait, not this.
 */
export function retry(options: RetryOptions, dependencies: RetryDependencies): TransportDecorator {
  const { clock, random, pacer, observer } = dependencies;

  /** How long to wait before the next attempt; `undefined` when there must not be one. */
  const delayBefore = (
    reason: FailureReason | undefined,
    retries: number,
    giveUpAtMs: number,
  ): number | undefined => {
    if (reason === undefined || !retryableReasons.has(reason) || retries >= maxRetries) {
      return undefined;
    }
    const nowMs = clock.monotonicMs();
    const delayMs =
      reason === 'throttled' ? 0 : random() * Math.min(maxDelayMs, baseDelayMs * 2 ** retries);
    const earliestMs = Math.max(nowMs + delayMs, pacer.pausedUntilMs() ?? nowMs);
    return earliestMs < giveUpAtMs ? delayMs : undefined;
  };

  return (next) => {
    const attempt = async (
      request: ApiRequest,
      signal: AbortSignal,
      retries: number,
      giveUpAtMs: number,
    ): Promise<ApiResponse> => {
      let reason: FailureReason | undefined;
      let delayMs: number | undefined;
      try {
        const response = await next(request, signal);
        reason = statusReason(response.status);
        delayMs = delayBefore(reason, retries, giveUpAtMs);
        if (reason === undefined || delayMs === undefined) return response;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        reason = error.reason;
        delayMs = delayBefore(reason, retries, giveUpAtMs);
        if (delayMs === undefined) throw error;
      }
      if (delayMs > 0) await sleep(clock, delayMs, signal);
      signal.throwIfAborted();
      observer.retried(request.operation, reason);
      return attempt(request, signal, retries + 1, giveUpAtMs);
    };

    return (request, signal) =>
      attempt(request, signal, 0, clock.monotonicMs() + options.giveUpAfterMs);
  };
}
