import type { ValueName } from '../model/vendor-value.ts';

const milliseconds = 1000;
const percents = 100;
// A power of two: nothing is rounded.
const perMebibyte = 1 / (1024 * 1024);

/**
 * What a value of the REST API is to be divided by for the unit that `vendorValues` says. The
 * quotient of whole milliseconds has no odd last digits, unlike a product with 0.001.
 */
const divisors: Readonly<Record<ValueName, number>> = {
  requests_per_minute: 1,
  calls_per_minute: 1,
  errors_per_minute: 1,
  throughput: 1,
  call_count: 1,
  count: 1,
  error_count: 1,
  launch_count: 1,
  average_response_time: milliseconds,
  average_call_time: milliseconds,
  average_time: milliseconds,
  min_response_time: milliseconds,
  max_response_time: milliseconds,
  standard_deviation: milliseconds,
  average_exclusive_time: milliseconds,
  total_time: milliseconds,
  total_call_time_per_minute: 1,
  average_value: 1,
  min_value: 1,
  max_value: 1,
  total_value: 1,
  rate: 1,
  as_percentage: percents,
  percent: percents,
  time_percentage: percents,
  utilization: percents,
  used_bytes_by_host: 1,
  used_mb_by_host: perMebibyte,
  total_used_mb: perMebibyte,
  sessions_active: 1,
  score: 1,
  s: 1,
  t: 1,
  f: 1,
  threshold: 1,
  threshold_min: 1,
};

/** A value of the REST API in the unit that `vendorValues` says. */
export function inBaseUnit(name: ValueName, value: number): number {
  return value / divisors[name];
}
