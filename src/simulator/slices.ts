import type { TimeRange } from './time-range.ts';

export interface Slice {
  readonly fromMs: number;
  readonly toMs: number;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const retentionMs = 8 * dayMs;

/** The documented lengths of a slice by the length of the range. */
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

/** Where one-minute data is gone already, a short range has this many even slices. */
const oldRangeSlices = 10;

function sliceLengthMs(range: TimeRange, nowMs: number): number {
  const lengthMs = range.toMs - range.fromMs;
  if (nowMs - range.fromMs > retentionMs && lengthMs < 4 * dayMs) return lengthMs / oldRangeSlices;
  return granularities.find(({ upToMs }) => lengthMs <= upToMs)?.sliceMs ?? longestSliceMs;
}

/** Divides a range as the vendor does when no summary is asked for. The last slice may be shorter. */
export function slicesOf(range: TimeRange, nowMs: number): readonly Slice[] {
  const stepMs = sliceLengthMs(range, nowMs);
  const count = Math.ceil((range.toMs - range.fromMs) / stepMs);
  return Array.from({ length: count }, (_, index) => ({
    fromMs: range.fromMs + index * stepMs,
    toMs: Math.min(range.fromMs + (index + 1) * stepMs, range.toMs),
  }));
}
