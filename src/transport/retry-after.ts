import { dateOf, headerText, parseHttpDate } from './http-date.ts';
import type { ApiResponse } from './transport.ts';

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

/** What the vendor allows all users of one key together, unless the answer says otherwise. */
const documentedLimit = 1000;
/** The vendor counts in minutes: a longer pause does not tell where they end. */
const longestMinuteMs = 61_000;

const number = /^[+-]?\d+(\.\d+)?$/;

type Headers = ApiResponse['headers'];

/** What a 429 says. */
export interface Pause {
  /** How long to stay away, in milliseconds from when the vendor gave the answer. */
  readonly ms: number;
  /** How long the vendor's minute lasts from then on, if the answer says so. */
  readonly minuteLeftMs: number | undefined;
  /** Calls a minute that the vendor allows all users of the key together. */
  readonly limitPerMinute: number;
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
    retryAfterMs(headerText(headers, 'retry-after'), answeredAtMs) ??
    untilEpochSeconds(headerText(headers, 'newrelic-overloadprotection-reset'), answeredAtMs);
  const isEndOfMinute = namedMs !== undefined && namedMs > 0 && namedMs <= longestMinuteMs;
  return {
    ms:
      namedMs === undefined
        ? defaultPauseMs
        : Math.min(maxPauseMs, Math.max(minPauseMs, namedMs + marginMs)),
    minuteLeftMs: isEndOfMinute ? namedMs : undefined,
    limitPerMinute: limitOf(headerText(headers, 'x-ratelimit-limit')),
  };
}

function limitOf(text: string): number {
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : documentedLimit;
}

function untilEpochSeconds(text: string, answeredAtMs: number): number | undefined {
  return number.test(text) ? plausible(Number(text) * 1000 - answeredAtMs) : undefined;
}

function retryAfterMs(text: string, answeredAtMs: number): number | undefined {
  if (number.test(text)) return Number(text) * 1000;
  const timeMs = parseHttpDate(text);
  return timeMs === undefined ? undefined : plausible(timeMs - answeredAtMs);
}

function plausible(differenceMs: number): number | undefined {
  return Math.abs(differenceMs) <= plausibleMs ? differenceMs : undefined;
}
