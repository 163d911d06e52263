import { ApiError } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { ApiKeyHeader } from '../model/config.ts';
import type { ThrottleCause, Throttled, Turn } from '../model/permit.ts';
import type { ApiResponse, PermittedRequest, RawTransport, Send, Transport } from './transport.ts';
import { dateOf, headerText, parseHttpDate, type VendorClock } from './vendor-clock.ts';

export interface TakeTurnDependencies {
  /** The turn of requests that name none: they go before all others. */
  readonly first: Turn;
  readonly clock: Clock;
  readonly vendorClock: VendorClock;
  /** Told of every 429, after the limiter of the key. */
  readonly throttled: (answer: Throttled) => void;
}

/**
 * Lets every request take its turn: it waits for a permit, and releases it when it has ended. Tells the
 * limiter of the key when the vendor answers 429; it is the one place that notices a 429, beside the
 * counters.
 *
 * The pause counts from when the vendor gave the answer, not from when it arrived: a late answer
 * about the vendor's last minute must not delay the next minute.
 */
export function takeTurn(
  dependencies: TakeTurnDependencies,
): (next: Send<PermittedRequest>) => Transport {
  const { first, clock, vendorClock, throttled } = dependencies;

  return (next) => async (request, signal) => {
    const permit = await (request.turn ?? first).next(request.delayMs ?? 0, signal);
    const sentMs = clock.monotonicMs();
    let isAnswered = true;
    try {
      const response = await next({ ...request, permit }, signal);
      const { status, headers } = response;
      vendorClock.answered(headers);
      if (status === 429) {
        const { ms, cause } = pauseOf(headers, clock.wallMs());
        const answer = { sentMs, untilMs: vendorClock.answeredAtMs(headers, sentMs) + ms, cause };
        permit.throttled(answer);
        throttled(answer);
      }
      return response;
    } catch (error) {
      isAnswered = error instanceof ApiError && error.status !== undefined;
      throw error;
    } finally {
      permit.release(isAnswered);
    }
  };
}

/** Adds the key that the permit of the request is for; the key goes nowhere else. */
export function authorize(
  { apiKeyHeader }: { readonly apiKeyHeader: ApiKeyHeader },
  { send }: Pick<RawTransport, 'send'>,
): Send<PermittedRequest> {
  return async (request, signal) =>
    send(request, { [apiKeyHeader]: request.permit.apiKey }, signal);
}

/** The pause after a 429 that names no usable time. */
const defaultPauseMs = 60_000;
/** Never hammer, even when the named time has passed already. */
const minPauseMs = 1000;
/** A longer pause would only hide the vendor's recovery. */
const maxPauseMs = 300_000;
/** The headers count in whole seconds: the named second may have begun up to one second ago. */
const marginMs = 500;
/** A time this far from the answer's own clock is a mistake, such as a wrong unit. */
const plausibleMs = 24 * 3_600_000;

const number = /^[+-]?\d+(\.\d+)?$/;

type Headers = ApiResponse['headers'];

/** What a 429 says. */
export interface Pause {
  /** How long to stay away, in milliseconds from when the vendor gave the answer. */
  readonly ms: number;
  readonly cause: ThrottleCause;
}

/**
 * How long to stay away after a 429: what `X-RateLimit-Reset` says, else `Retry-After`, else
 * `NewRelic-OverloadProtection-Reset`, else a minute. Times are compared with the answer's own
 * `Date`; `wallNowMs` is used only when there is none, because this machine's clock may be wrong.
 * Always between 1 second and 5 minutes.
 */
export function pauseOf(headers: Headers, wallNowMs: number): Pause {
  const answeredAtMs = dateOf(headers) ?? wallNowMs;
  const namedMs =
    untilEpochSeconds(headerText(headers, 'x-ratelimit-reset'), answeredAtMs) ??
    retryAfterMs(headers, wallNowMs) ??
    untilEpochSeconds(headerText(headers, overloadReset), answeredAtMs);
  return {
    ms:
      namedMs === undefined
        ? defaultPauseMs
        : Math.min(maxPauseMs, Math.max(minPauseMs, namedMs + marginMs)),
    cause: causeOf(headers),
  };
}

const overloadReset = 'newrelic-overloadprotection-reset';

/** The vendor documents the `X-RateLimit` headers for the limit of a key, and for nothing else. */
function causeOf(headers: Headers): ThrottleCause {
  if (Object.keys(headers).some((name) => name.startsWith('x-ratelimit-'))) return 'key_limit';
  return headers['retry-after'] === undefined && headers[overloadReset] === undefined
    ? 'unknown'
    : 'overload';
}

/** How long `Retry-After` asks to wait from when the answer was given; it may be negative. */
export function retryAfterMs(headers: Headers, wallNowMs: number): number | undefined {
  const text = headerText(headers, 'retry-after');
  if (number.test(text)) return Number(text) * 1000;
  const timeMs = parseHttpDate(text);
  return timeMs === undefined ? undefined : plausible(timeMs - (dateOf(headers) ?? wallNowMs));
}

function untilEpochSeconds(text: string, answeredAtMs: number): number | undefined {
  return number.test(text) ? plausible(Number(text) * 1000 - answeredAtMs) : undefined;
}

function plausible(differenceMs: number): number | undefined {
  return Math.abs(differenceMs) <= plausibleMs ? differenceMs : undefined;
}
