import type { Sample } from './situation-samples.ts';

const minute = 60;
const hour = 3600;
const day = 24 * hour;

/** A week, and a day more: then a day can be compared with that of the week before. */
export const longHistorySeconds: number = 8 * day;
/** Enough for the range that is shown most closely. */
export const shortHistorySeconds: number = 30 * minute;
/** When the exporters were restarted. */
const restartSeconds = 3 * hour;

/** How far samples are apart: as close as the ranges need, since each sample takes time. */
function spacingAt(ageSeconds: number): number {
  return ageSeconds <= day ? minute : 4 * minute;
}

function isCounter({ name }: Sample): boolean {
  return /_(?:total|bucket|sum|count)$/u.test(name);
}

/** Most series count what has never happened, and most others are parts of histograms. */
function lengthOf(sample: Sample, lengthSeconds: number): number {
  if (!Number.isFinite(sample.value)) return 0;
  if (sample.name.endsWith('_bucket')) return Math.min(lengthSeconds, day);
  return isCounter(sample) && sample.value === 0 ? 0 : lengthSeconds;
}

/** From the oldest. */
function agesOf(lengthSeconds: number): readonly number[] {
  const ages: number[] = [];
  for (let age = minute; age <= lengthSeconds; age += spacingAt(age)) ages.push(age);
  return ages.toReversed();
}

/** A day's rise and fall. Two moments a day or a week apart are alike. */
function waveAt(ageSeconds: number): number {
  return 1 + 0.3 * Math.sin((2 * Math.PI * ageSeconds) / day);
}

/** What a series was `ageSeconds` ago, if it had gone on as it does now. */
function pastValue(sample: Sample, ageSeconds: number): number {
  const { name, value } = sample;
  const startedAge = ageSeconds < restartSeconds ? restartSeconds : longHistorySeconds;
  const isStart = /^process_start_time_|_reload_success_timestamp_/u.test(name);
  if (isStart) return value - startedAge;
  if (name.endsWith('_timestamp_seconds')) return value - ageSeconds;
  // Slower than it counts now, so that what happens now outweighs the past.
  if (isCounter(sample)) return (value * (startedAge - ageSeconds)) / hour;
  return /^newrelic_application_.*requests_per_minute$/u.test(name)
    ? value * waveAt(ageSeconds)
    : value;
}

/** Lines of an exposition: what a series was before `endSeconds`. */
export function historyOf(
  sample: Sample,
  { endSeconds, lengthSeconds }: { readonly endSeconds: number; readonly lengthSeconds: number },
): readonly string[] {
  return agesOf(lengthOf(sample, lengthSeconds)).map(
    (age) => `${sample.series} ${pastValue(sample, age)} ${endSeconds - age}\n`,
  );
}
