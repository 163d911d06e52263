import { dayMs, hourMs, minuteMs } from '../model/time.ts';

/** The range of a metric data request: as the answer repeats it, and as the data covers it. */
export interface TimeRange {
  readonly requestedFromMs: number;
  readonly requestedToMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether the request states it. */
  readonly explicit: boolean;
}

/** `undefined` is a range that the vendor rejects with 422. */
export type ParsedTimeRange = TimeRange | undefined;

const defaultRangeMs = 30 * minuteMs;
/** How much earlier the data of the default range starts. Observed: 1.5 to 4 minutes. */
const defaultShiftMs = 3 * minuteMs;

const isoTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?<offset>Z|[+-]\d\d:?\d\d)?$/;

/** Parses ISO 8601 with an optional offset; without one it is UTC. */
function parseTimestamp(text: string): number | undefined {
  const match = isoTimestamp.exec(text);
  if (match === null) return undefined;
  const timeMs = Date.parse(match.groups?.['offset'] === undefined ? `${text}Z` : text);
  return Number.isFinite(timeMs) ? timeMs : undefined;
}

function explicitRange(fromMs: number | undefined, toMs: number | undefined): ParsedTimeRange {
  if (fromMs === undefined || toMs === undefined || toMs - fromMs < minuteMs) return undefined;
  return { requestedFromMs: fromMs, requestedToMs: toMs, fromMs, toMs, explicit: true };
}

/**
 * The range that `from` and `to` mean at `nowMs`. Without both it is the last 30 minutes, with data
 * from some minutes earlier; without `to` it ends now.
 */
export function parseTimeRange(
  from: string | undefined,
  to: string | undefined,
  nowMs: number,
): ParsedTimeRange {
  if (from === undefined && to === undefined) {
    const fromMs = Math.floor((nowMs - defaultRangeMs - defaultShiftMs) / minuteMs) * minuteMs;
    return {
      requestedFromMs: nowMs - defaultRangeMs,
      requestedToMs: nowMs,
      fromMs,
      toMs: fromMs + defaultRangeMs,
      explicit: false,
    };
  }
  const toMs = to === undefined ? nowMs : parseTimestamp(to);
  if (from === undefined) {
    return explicitRange(toMs === undefined ? undefined : toMs - defaultRangeMs, toMs);
  }
  return explicitRange(parseTimestamp(from), toMs);
}

/** Whole seconds, with the offset that the vendor always writes. */
export function formatTimestamp(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}+00:00`;
}

export interface Slice {
  readonly fromMs: number;
  readonly toMs: number;
}

const retentionMs = 8 * dayMs;

/** The documented length of a slice, by the length of the range. */
const granularities: readonly { readonly upToMs: number; readonly sliceMs: number }[] = [
  { upToMs: 3 * hourMs, sliceMs: minuteMs },
  { upToMs: 6 * hourMs, sliceMs: 2 * minuteMs },
  { upToMs: 14 * hourMs, sliceMs: 5 * minuteMs },
  { upToMs: dayMs, sliceMs: 10 * minuteMs },
  { upToMs: 4 * dayMs, sliceMs: 30 * minuteMs },
  { upToMs: 7 * dayMs, sliceMs: hourMs },
  { upToMs: 21 * dayMs, sliceMs: 3 * hourMs },
  { upToMs: 42 * dayMs, sliceMs: 6 * hourMs },
  { upToMs: 63 * dayMs, sliceMs: 12 * hourMs },
];
const longestSliceMs = 3 * dayMs;

/** A short range whose one-minute data is gone has this many even slices. */
const oldRangeSlices = 10;

function sliceLengthMs(range: TimeRange, nowMs: number): number {
  const lengthMs = range.toMs - range.fromMs;
  if (nowMs - range.fromMs > retentionMs && lengthMs < 4 * dayMs) return lengthMs / oldRangeSlices;
  return granularities.find(({ upToMs }) => lengthMs <= upToMs)?.sliceMs ?? longestSliceMs;
}

/** Divides a range like the vendor without a summary. The last slice may be shorter. */
export function slicesOf(range: TimeRange, nowMs: number): readonly Slice[] {
  const stepMs = sliceLengthMs(range, nowMs);
  const count = Math.ceil((range.toMs - range.fromMs) / stepMs);
  return Array.from({ length: count }, (_, index) => ({
    fromMs: range.fromMs + index * stepMs,
    toMs: Math.min(range.fromMs + (index + 1) * stepMs, range.toMs),
  }));
}
