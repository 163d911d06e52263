import { collectDefaultMetrics, type Registry } from 'prom-client';

/**
 * Gauges whose names end like counters, which `promtool check metrics` refuses. Each is the sum of
 * a family that stays.
 */
const misnamed: ReadonlySet<string> = new Set([
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]);

/**
 * The lag of the event loop costs more than everything else together: 0.5 ms of every scrape (the
 * standard deviation of a histogram with 45,000 buckets) and, for a timer that fires a hundred times
 * a second, 0.8 % of a core.
 */
const expensivePrefix = 'nodejs_eventloop_lag_';

/** The longest delay that a timer takes: the one behind the removed metrics never fires. */
const neverMs = 2 ** 31 - 1;

/** Registers the `process_*` and `nodejs_*` metrics of prom-client, but for those named above. */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (misnamed.has(name) || name.startsWith(expensivePrefix)) {
      registry.removeSingleMetric(name);
    }
  }
}
