import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, type Registry } from 'prom-client';

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
 * a second, 0.8 % of a core. Node counts the time that the loop is busy anyway, see below.
 */
const expensivePrefix = 'nodejs_eventloop_lag_';

/** The longest delay that a timer takes: the one behind the removed metrics never fires. */
const neverMs = 2 ** 31 - 1;

/**
 * Whether the event loop is blocked, which the CPU time does not tell: a process that is throttled by
 * its CPU limit is busy all the time and uses little.
 */
function registerBusyTime(registry: Registry): void {
  const busy = new Counter({
    name: 'nodejs_eventloop_active_seconds_total',
    help: 'Time that the event loop was busy instead of waiting for events; its rate nears 1 when it is blocked.',
    registers: [registry],
    collect: () => {
      busy.reset();
      busy.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
}

/** Registers the `process_*` and `nodejs_*` metrics of prom-client, but for those named above, and the busy time. */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs });
  for (const { name } of registry.getMetricsAsArray()) {
    if (misnamed.has(name) || name.startsWith(expensivePrefix)) {
      registry.removeSingleMetric(name);
    }
  }
  registerBusyTime(registry);
}
