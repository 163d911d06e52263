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
  return { fromMs: toMs - wholeMinutes(lengthMs), toMs };
}

/** The length that is asked for. */
export function wholeMinutes(lengthMs: number): number {
  return Math.max(1, Math.ceil(lengthMs / minuteMs)) * minuteMs;
}

/** New Relic's own window in the REST API; NRQL would take an hour. */
const usualLengthMs = 30 * minuteMs;

/** The window of a poll that asks now, for an API without a window of its own. */
export function pollWindow(
  poll: { readonly window: WindowSetting; readonly delayMs: number } | undefined,
  wallMs: number,
): TimeWindow {
  return rangeAt(wallMs, windowLength(poll?.window), poll?.delayMs ?? 0);
}

export function windowLength(window: WindowSetting | undefined): number {
  return window?.kind === 'range' ? window.lengthMs : usualLengthMs;
}

/** How an answer may differ from what was asked. */
export interface WindowTolerance {
  /** How far each end may have been moved. */
  readonly mostMovedMs: number;
  /** Whether something in the answer grows with its window, such as a count: then it must be as long. */
  readonly needsLength: boolean;
}

/** Whether an answer is about the window that was asked for. An end that it does not state says nothing. */
export function isAboutWindow(
  stated: { readonly [End in keyof TimeWindow]: number | undefined },
  asked: TimeWindow,
  { mostMovedMs, needsLength }: WindowTolerance,
): boolean {
  const fromByMs = (stated.fromMs ?? asked.fromMs) - asked.fromMs;
  const toByMs = (stated.toMs ?? asked.toMs) - asked.toMs;
  const isNear = Math.max(Math.abs(fromByMs), Math.abs(toByMs)) <= mostMovedMs;
  // The seconds of an end depend on how New Relic writes it.
  return isNear && (!needsLength || Math.abs(toByMs - fromByMs) < minuteMs);
}
