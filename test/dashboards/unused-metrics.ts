const reasons: Readonly<Record<string, readonly string[]>> = {
  'an alert watches newrelic_query_success': ['newrelic_query_last_success_timestamp_seconds'],
  'what runs the process shows it': [
    'process_cpu_seconds_total',
    'process_cpu_user_seconds_total',
    'process_cpu_system_seconds_total',
    'process_resident_memory_bytes',
    'process_virtual_memory_bytes',
    'process_heap_bytes',
    'process_open_fds',
    'process_max_fds',
  ],
  'for debugging the process': [
    'nodejs_eventloop_lag_seconds',
    'nodejs_eventloop_lag_p50_seconds',
    'nodejs_eventloop_lag_p90_seconds',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_eventloop_lag_max_seconds',
    'nodejs_active_resources',
    'nodejs_active_handles',
    'nodejs_active_requests',
    'nodejs_heap_size_total_bytes',
    'nodejs_heap_size_used_bytes',
    'nodejs_heap_space_size_total_bytes',
    'nodejs_heap_space_size_used_bytes',
    'nodejs_heap_space_size_available_bytes',
    'nodejs_external_memory_bytes',
    'nodejs_gc_duration_seconds',
  ],
  'newrelic_exporter_build_info has the version too': ['nodejs_version_info'],
  'failed calls are shown by reason, polls left out are shown': [
    'newrelic_exporter_api_requests_in_flight',
    'newrelic_exporter_api_request_retries_total',
    'newrelic_exporter_api_request_duration_seconds',
    'newrelic_exporter_poll_duration_seconds',
  ],
  'newrelic_up and up are shown': [
    'newrelic_exporter_discovery_last_success_timestamp_seconds',
    'newrelic_exporter_scrape_requests_total',
  ],
  'for capacity and for changes, not for the night': [
    'newrelic_exporter_series',
    'newrelic_exporter_applications',
    'newrelic_exporter_api_key_last_change_timestamp_seconds',
    'newrelic_application_summary_apdex_target_seconds',
  ],
  'the polled throughput is shown': ['newrelic_application_summary_requests_per_minute'],
  'newrelic_application_reporting is shown': [
    'newrelic_application_last_reported_timestamp_seconds',
  ],
};

/** Metrics that no dashboard shows and no rule watches. */
export const unusedMetrics: ReadonlySet<string> = new Set(Object.values(reasons).flat());
