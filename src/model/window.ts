import { minuteMs } from './time.ts';

/** A closed range of whole minutes, both ends in milliseconds since the epoch (UTC). */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** `vendor_default` omits `from` and `to`: the vendor then answers for its own last 30 minutes. */
export type WindowSetting =
  | { readonly kind: 'vendor_default' }
  | { readonly kind: 'range'; readonly lengthMs: number };

/**
 * The window to ask for at `nowMs` (wall time). It ends on the last whole minute that is at least
 * `delayMs` old, because the vendor's newest minutes are incomplete.
 *
 * `undefined` for the vendor's own window. The length is rounded up to whole minutes: the vendor
 * answers 422 for a range under 60 seconds.
 */
export function windowAt(
  nowMs: number,
  setting: WindowSetting,
  delayMs: number,
): TimeWindow | undefined {
  return setting.kind === 'vendor_default' ? undefined : rangeAt(nowMs, setting.lengthMs, delayMs);
}

/** The same for an API without a window of its own. */
export function rangeAt(nowMs: number, lengthMs: number, delayMs: number): TimeWindow {
  const toMs = Math.floor((nowMs - delayMs) / minuteMs) * minuteMs;
  return { fromMs: toMs - Math.max(1, Math.ceil(lengthMs / minuteMs)) * minuteMs, toMs };
}
