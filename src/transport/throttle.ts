import { type Clock, sleep } from '../model/clock.ts';
import type { ApiObserver } from '../model/telemetry.ts';
import type { ApiResponse, PermittedRequest, Send } from './transport.ts';
import { dateOf, headerText, parseHttpDate, type VendorClock } from './vendor-clock.ts';

/** A 429, for whoever wants to tell of it. */
export interface ThrottleNotice {
  readonly cause: ThrottleCause;
  /** Until when the key stays away, on the monotonic clock. */
  readonly untilMs: number;
}

export interface ThrottleDependencies {
  readonly clock: Clock;
  readonly observer: ApiObserver;
  readonly vendorClock: VendorClock;
  readonly throttled: (notice: ThrottleNotice) => void;
}

/**
 * Obeys the vendor's 429: pauses the key that was refused, and holds back a request that got its
 * permit before the pause began.
 *
 * A late answer of the vendor's last minute stalls no other minute: its pause counts from when the
 * vendor gave it, not from when it arrived.
 *
 * It stands inside the concurrency limit, so that the pause is in force before the slot of the
 * refused request goes to the next one in the queue.
 */
export function throttle(
  dependencies: ThrottleDependencies,
): (next: Send<PermittedRequest>) => Send<PermittedRequest> {
  const { clock, observer, vendorClock, throttled } = dependencies;

  return (next) => async (request, signal) => {
    const { permit } = request;
    // A pause may have grown while this request waited for its end.
    for (let untilMs = permit.pausedUntilMs(); untilMs !== undefined; ) {
      await sleep(clock, untilMs - clock.monotonicMs(), signal);
      untilMs = permit.pausedUntilMs();
    }
    const sentMs = clock.monotonicMs();
    const response = await next(request, signal);
    vendorClock.answered(response.headers);
    if (response.status === 429) {
      const { ms, cause } = pauseOf(response.headers, clock.wallMs());
      const untilMs = vendorClock.answeredAtMs(response.headers, sentMs) + ms;
      permit.throttled({ sentMs, untilMs, namesKeyLimit: cause === 'key_limit' });
      observer.throttled();
      throttled({ cause, untilMs });
    }
    return response;
  };
}

/** How long to stay away after a 429 that names no usable time. */
const defaultPauseMs = 60_000;
/** Never hammer, even when the named time has passed already. */
const minPauseMs = 1000;
/** A longer pause would only keep the vendor's recovery from being seen. */
const maxPauseMs = 300_000;
/** The headers count in whole seconds: the named second may have begun up to one second ago. */
const marginMs = 500;
/** A time this far from the answer's own clock is a mistake, such as a wrong unit. */
const plausibleMs = 24 * 3_600_000;

const number = /^[+-]?\d+(\.\d+)?$/;

type Headers = ApiResponse['headers'];

/**
 * Why the vendor answered 429: the limit of the key is used up, it has too much to do for everybody,
 * or it does not say.
 */
export type ThrottleCause = 'key_limit' | 'overload' | 'unknown';

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
 * Always within 1 second and 5 minutes.
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
