import type { ValueName } from '../model/vendor-value.ts';

const perMillisecond = 0.001;
const perMebibyte = 1024 * 1024;
const perPercent = 0.01;

/** What makes of a value of the REST API the unit that `vendorValues` says. */
export const baseFactors: Readonly<Record<ValueName, number>> = {
  requests_per_minute: 1,
  calls_per_minute: 1,
  errors_per_minute: 1,
  throughput: 1,
  call_count: 1,
  count: 1,
  error_count: 1,
  launch_count: 1,
  average_response_time: perMillisecond,
  average_call_time: perMillisecond,
  average_time: perMillisecond,
  min_response_time: perMillisecond,
  max_response_time: perMillisecond,
  standard_deviation: perMillisecond,
  average_exclusive_time: perMillisecond,
  total_time: perMillisecond,
  total_call_time_per_minute: 1,
  average_value: 1,
  min_value: 1,
  max_value: 1,
  total_value: 1,
  rate: 1,
  as_percentage: perPercent,
  percent: perPercent,
  time_percentage: perPercent,
  utilization: perPercent,
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
