import type { ThrottleCause } from '../../model/permit.ts';
import { dayMs, minuteMs } from '../../model/time.ts';
import type { ApiResponse } from './transport.ts';
import { dateOf, headerText, parseHttpDate } from './vendor-clock.ts';

/** The pause after a 429 that names no usable time. */
const defaultPauseMs = minuteMs;
/** Never hammer, even when the named time has passed already. */
const minPauseMs = 1000;
/** A longer pause would only hide the vendor's recovery. */
const maxPauseMs = 5 * minuteMs;
/** The headers count in whole seconds: the named second may have begun up to one second ago. */
const marginMs = 500;
/** A time this far from the answer's own clock is a mistake, such as a wrong unit. */
const plausibleMs = dayMs;

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
