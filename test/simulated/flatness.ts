import type { Measurement } from './soak.ts';

export interface Growth {
  /** From the end of the first quarter to the end, by the line that fits best. */
  readonly heapBytes: number;
  readonly heapBytesPerMeasurement: number;
}

/** More than the noise between two measurements, less than any leak of ten thousand cycles. */
const tolerableHeapBytes = 1024 * 1024;
/** Counts follow the size of the account, which changes a little, and what is under way. */
const tolerableRatio = 1.25;
const tolerableCount = 5;

/** The slope of the line that fits best, after the first quarter, in which caches fill. */
export function growthOf(measurements: readonly Measurement[]): Growth {
  const later = settled(measurements).map(({ heapBytes }) => heapBytes);
  const middle = (later.length - 1) / 2;
  const mean = later.reduce((sum, value) => sum + value, 0) / later.length;
  let covariance = 0;
  let variance = 0;
  for (const [index, value] of later.entries()) {
    covariance += (index - middle) * (value - mean);
    variance += (index - middle) ** 2;
  }
  const perMeasurement = variance === 0 ? 0 : covariance / variance;
  return {
    heapBytes: perMeasurement * (later.length - 1),
    heapBytesPerMeasurement: perMeasurement,
  };
}

/** What grew and must not. */
export function problemsOf(measurements: readonly Measurement[]): readonly string[] {
  const { heapBytes } = growthOf(measurements);
  const heap =
    heapBytes > tolerableHeapBytes ? [`the heap grew by ${Math.round(heapBytes / 1024)} KiB`] : [];
  const counts = (['resources', 'timers', 'listeners', 'series', 'selfSeries'] as const).flatMap(
    (name) => {
      const values = measurements.map((one) => one[name]);
      const cut = measurements.length - settled(measurements).length;
      const before = Math.max(...values.slice(0, cut));
      const after = Math.max(...values.slice(cut));
      return after > before * tolerableRatio + tolerableCount
        ? [`${name} went from ${before} to ${after}`]
        : [];
    },
  );
  return [...heap, ...counts];
}

function settled(measurements: readonly Measurement[]): readonly Measurement[] {
  return measurements.slice(Math.ceil(measurements.length / 4));
}
