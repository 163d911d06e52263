import type { ApiError } from '../model/api-error.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallSubject, failureOf } from '../newrelic/answer.ts';
import { epochMsOf, type JsonObject } from '../newrelic/json.ts';

// The vendor writes the end of a summarized range as `:00` or as the second before, and the range
// of the document with the seconds of the request. No real answer is off by a whole minute.
const toleranceMs = 60_000;

// With its own window the vendor answers for the last half hour. How late that may be is not known,
// so only what cannot be true is rejected.
const dayMs = 24 * 3_600_000;

/** What to compare the window of an answer with. */
export interface WindowQuestion {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly wallMs: number;
}

/**
 * The error if a document, or a slice of it, states another range with `from` and `to` than was
 * asked for, or one that cannot be read; else `undefined`. A member that is absent says nothing.
 */
export function wrongWindow(
  stated: JsonObject,
  { window, wallMs }: WindowQuestion,
  subject: CallSubject,
): ApiError | undefined {
  const unreadable = ['from', 'to'].find((name) => isUnreadable(stated[name]));
  if (unreadable !== undefined) {
    const detail = `the answer does not say which window it is for: "${unreadable}" is no timestamp with a time zone`;
    return failureOf(subject, 'schema', detail, { remedy: staleCache });
  }
  const fromMs = epochMsOf(stated['from']);
  const toMs = epochMsOf(stated['to']);
  if (window === undefined) {
    if (!isOff(toMs, wallMs, dayMs)) return undefined;
    const detail = `the answer is for a window that ends ${textOf(toMs)}, more than a day from now`;
    return failureOf(subject, 'schema', detail, { remedy: `${staleCache}, and the clock` });
  }
  if (!isOff(fromMs, window.fromMs, toleranceMs) && !isOff(toMs, window.toMs, toleranceMs)) {
    return undefined;
  }
  const asked = `${textOf(window.fromMs)} to ${textOf(window.toMs)}`;
  const answered = `${textOf(fromMs)} to ${textOf(toMs)}`;
  const detail = `the answer is for another window: asked for ${asked}, answered for ${answered}`;
  return failureOf(subject, 'schema', detail, { remedy: staleCache });
}

const staleCache =
  'Look for a cache or a proxy between here and New Relic that answers without regard to the query';

function isUnreadable(stated: JsonObject[string]): boolean {
  return stated !== undefined && stated !== null && epochMsOf(stated) === undefined;
}

function isOff(statedMs: number | undefined, rightMs: number, toleratedMs: number): boolean {
  return statedMs !== undefined && Math.abs(statedMs - rightMs) > toleratedMs;
}

function textOf(epochMs: number | undefined): string {
  return epochMs === undefined ? 'unknown' : new Date(epochMs).toISOString();
}
