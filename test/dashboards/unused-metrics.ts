/** Metrics that no dashboard shows and no rule watches, and why. */
export const unusedMetrics: ReadonlyMap<string, string> = new Map([
  ['process_cpu_user_seconds_total', 'the sum with the kernel is shown'],
  ['process_cpu_system_seconds_total', 'the sum with user mode is shown'],
  ['process_virtual_memory_bytes', 'says nothing about Node.js, which reserves more than it uses'],
  ['process_heap_bytes', 'the heap of JavaScript is shown'],
  ['nodejs_eventloop_lag_seconds', 'the longest since the scrape before is shown'],
  ['nodejs_eventloop_lag_p50_seconds', 'the longest is shown'],
  ['nodejs_eventloop_lag_p90_seconds', 'the longest is shown'],
  ['nodejs_eventloop_lag_p99_seconds', 'the longest is shown'],
  ['nodejs_active_resources', 'for debugging; open files show a leak'],
  ['nodejs_active_handles', 'for debugging; open files show a leak'],
  ['nodejs_active_requests', 'for debugging; calls in flight are shown'],
  ['nodejs_heap_size_total_bytes', 'the used part is shown, and resident memory'],
  ['nodejs_heap_space_size_total_bytes', 'for debugging a leak of memory'],
  ['nodejs_heap_space_size_used_bytes', 'for debugging a leak of memory'],
  ['nodejs_heap_space_size_available_bytes', 'for debugging a leak of memory'],
  ['nodejs_version_info', 'newrelic_exporter_build_info has the version too'],
]);
