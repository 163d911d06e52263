import type { InvalidSampleReason } from '../model/telemetry.ts';

/** Told of every value of the vendor that was left out. */
export type InvalidSampleListener = (reason: InvalidSampleReason) => void;

/**
 * A value of the vendor that may be published: a finite number that is not negative. `undefined`
 * when the member is absent, which is not the same as 0, or when it is anything else, of which the
 * listener is told: a number in a string is not guessed at.
 */
export function sampleOf(value: unknown, onInvalid: InvalidSampleListener): number | undefined {
  if (value === undefined) return undefined;
  const reason = invalidityOf(value);
  if (reason === undefined && typeof value === 'number') return value;
  if (reason !== undefined) onInvalid(reason);
  return undefined;
}

function invalidityOf(value: unknown): InvalidSampleReason | undefined {
  if (typeof value !== 'number') return 'not_a_number';
  // `1e999` is valid JSON and is parsed as Infinity.
  if (!Number.isFinite(value)) return 'not_finite';
  return value < 0 ? 'negative' : undefined;
}
