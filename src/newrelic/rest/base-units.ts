import type { ValueName } from '../../model/vendor-value.ts';

const milliseconds = 1000;
const percents = 100;
// A power of two: nothing is rounded.
const perMebibyte = 1 / (1024 * 1024);

/**
 * What a value of the REST API is to be divided by for the unit that `vendorValues` says, where it
 * comes in another one. The quotient of whole milliseconds has no odd last digits, unlike a product
 * with 0.001.
 */
const divisors: Readonly<Partial<Record<ValueName, number>>> = {
  average_response_time: milliseconds,
  average_call_time: milliseconds,
  average_time: milliseconds,
  min_response_time: milliseconds,
  max_response_time: milliseconds,
  standard_deviation: milliseconds,
  average_exclusive_time: milliseconds,
  total_time: milliseconds,
  as_percentage: percents,
  percent: percents,
  time_percentage: percents,
  utilization: percents,
  used_mb_by_host: perMebibyte,
  total_used_mb: perMebibyte,
};

/** A value of the REST API in the unit that `vendorValues` says. */
export function inBaseUnit(name: ValueName, value: number): number {
  return value / (divisors[name] ?? 1);
}
