/** Metrics that no dashboard shows and no rule watches, or how their names begin, and why. */
export const unusedMetrics: ReadonlyMap<string, string> = new Map([
  ['nodejs_', 'for debugging'],
  ['process_(?!start)', 'what runs the process shows it'],
  ['newrelic_exporter_api_requests_in_flight', 'for debugging'],
  ['newrelic_exporter_api_request_retries_total', 'failed calls are shown by reason'],
  ['newrelic_exporter_api_request_duration_seconds', 'timeouts are shown among failed calls'],
  ['newrelic_exporter_poll_duration_seconds', 'polls left out are shown'],
  ['newrelic_exporter_discovery_last_success_timestamp_seconds', 'newrelic_up is shown'],
  ['newrelic_exporter_scrape_requests_total', 'up shows it'],
  ['newrelic_exporter_series$', 'for capacity, not for the night'],
  ['newrelic_exporter_applications', 'those published are counted'],
  ['newrelic_exporter_api_key_last_change_timestamp_seconds', 'for the day of a rotation'],
  ['newrelic_application_last_reported_timestamp_seconds', 'whether it reports is shown'],
  ['newrelic_application_summary_apdex_target_seconds', 'changes with the settings only'],
]);
