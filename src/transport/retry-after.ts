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

const number = /^[+-]?\d+(\.\d+)?$/;
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

type Headers = ApiResponse['headers'];

/**
 * How long to stay away after a 429, in milliseconds from the arrival of the answer: what
 * `X-RateLimit-Reset` says, else `Retry-After`, else `NewRelic-OverloadProtection-Reset`, else a
 * minute. Times are compared with the answer's own `Date`; `wallNowMs` is used only when there is
 * none, because this machine's clock may be wrong. Always within 1 second and 5 minutes.
 */
export function pauseMsOf(headers: Headers, wallNowMs: number): number {
  const answeredAtMs = timeOfDate(textOf(headers, 'date')) ?? wallNowMs;
  const namedMs =
    untilEpochSeconds(textOf(headers, 'x-ratelimit-reset'), answeredAtMs) ??
    retryAfterMs(textOf(headers, 'retry-after'), answeredAtMs) ??
    untilEpochSeconds(textOf(headers, 'newrelic-overloadprotection-reset'), answeredAtMs);
  if (namedMs === undefined) return defaultPauseMs;
  return Math.min(maxPauseMs, Math.max(minPauseMs, namedMs + marginMs));
}

function textOf(headers: Headers, name: string): string {
  const value = headers[name];
  return (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
}

function timeOfDate(text: string): number | undefined {
  if (!httpDate.test(text)) return undefined;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function untilEpochSeconds(text: string, answeredAtMs: number): number | undefined {
  return number.test(text) ? plausible(Number(text) * 1000 - answeredAtMs) : undefined;
}

function retryAfterMs(text: string, answeredAtMs: number): number | undefined {
  if (number.test(text)) return Number(text) * 1000;
  const timeMs = timeOfDate(text);
  return timeMs === undefined ? undefined : plausible(timeMs - answeredAtMs);
}

function plausible(differenceMs: number): number | undefined {
  return Math.abs(differenceMs) <= plausibleMs ? differenceMs : undefined;
}
