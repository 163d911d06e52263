import type { ApiError } from '../model/api-error.ts';
import type { TimeWindow } from '../model/window.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import { epochMsOf } from './iso-time.ts';
import type { JsonObject } from './json.ts';

// The end of a summarized range is written as `:00` or as the second before it, and the range of the
// document with the seconds of the question: a whole minute is more than any real answer is off.
const toleranceMs = 60_000;

// With its own window the vendor answers for the last half hour. Nothing else is known of how late
// it may be, so that only what cannot be true is refused.
const dayMs = 24 * 3_600_000;

/** What the window of an answer is compared with. */
export interface WindowQuestion {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly wallMs: number;
}

/**
 * Why the range that a document or a slice of it states with `from` and `to` is not the one that was
 * asked for; `undefined` when it is. A member that is absent or no timestamp says nothing.
 */
export function wrongWindow(
  stated: JsonObject,
  { window, wallMs }: WindowQuestion,
  subject: CallSubject,
): ApiError | undefined {
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
  'Look for a cache or a proxy between here and the vendor that answers without regard to the query';

function isOff(statedMs: number | undefined, rightMs: number, toleratedMs: number): boolean {
  return statedMs !== undefined && Math.abs(statedMs - rightMs) > toleratedMs;
}

function textOf(epochMs: number | undefined): string {
  return epochMs === undefined ? 'unknown' : new Date(epochMs).toISOString();
}
