import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Shard } from '../model/shard.ts';

/** Metrics of prom-client that are left out. */
const leftOut = [
  // Gauges whose names end like those of counters, which `promtool check metrics` rejects. Each is the
  // sum of a family that stays.
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  // 292 years, and no numbers, if it was not looked since the last scrape.
  'nodejs_eventloop_lag_min_seconds',
  'nodejs_eventloop_lag_mean_seconds',
  'nodejs_eventloop_lag_stddev_seconds',
];

/**
 * How often prom-client looks how late the event loop is. At its default of 10 ms this alone would take
 * 0.4 % of a core, a quarter of what the exporter takes at 1000 calls a minute; now it is 0.1 %.
 */
const loopLookMs = 50;

/**
 * Shows whether the event loop is blocked. CPU time does not: a process that is throttled by its CPU
 * limit is busy all the time and uses little.
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

/** Registers the `process_*` and `nodejs_*` metrics of prom-client, and the busy time. */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopLookMs });
  for (const name of leftOut) registry.removeSingleMetric(name);
  registerBusyTime(registry);
}

export interface BuildOptions {
  readonly version: string;
  /** The commit the program was built from. */
  readonly revision: string;
  /** Such as `v24.4.1`. */
  readonly nodeVersion: string;
}

/** Registers the metric that never changes during the life of a process. */
export function registerBuildMetrics(registry: Registry, options: BuildOptions): void {
  const registers = [registry];
  new Gauge({
    name: 'newrelic_exporter_build_info',
    help: 'A constant 1; the labels name the program and the Node.js it runs on.',
    labelNames: ['version', 'revision', 'node_version'],
    registers,
  }).set(
    { version: options.version, revision: options.revision, node_version: options.nodeVersion },
    1,
  );
}

/** Metrics of the configuration file. */
export interface ConfigMetrics {
  /** `wallMs` is the time of the reload, in milliseconds since the epoch. */
  reloaded(succeeded: boolean, wallMs: number): void;
}

export function createConfigMetrics(registry: Registry): ConfigMetrics {
  const successful = new Gauge({
    name: 'newrelic_exporter_config_last_reload_successful',
    help: '1 if the configuration was accepted when it was last read, 0 if it was refused.',
    registers: [registry],
  });
  const successTime = new Gauge({
    name: 'newrelic_exporter_config_last_reload_success_timestamp_seconds',
    help: 'Unix time at which a configuration was last accepted.',
    registers: [registry],
  });
  return {
    reloaded: (succeeded, wallMs) => {
      successful.set(succeeded ? 1 : 0);
      if (succeeded) successTime.set(wallMs / 1000);
    },
  };
}

export interface ScrapeMetrics {
  scraped(code: number): void;
}

/** Served; no right password; too many requests of a client; failed; too many scrapes at a time. */
const scrapeCodes = ['200', '401', '429', '500', '503'];

export function createScrapeMetrics(registry: Registry): ScrapeMetrics {
  // Another exporter has the name newrelic_exporter_scrapes_total for what it asks New Relic.
  const scrapes = new Counter({
    name: 'newrelic_exporter_scrape_requests_total',
    help: 'Requests for the metrics of the exporter, by the HTTP status of the answer; 503 is one above --web.max-requests.',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of scrapeCodes) scrapes.inc({ code }, 0);
  return {
    scraped: (code) => {
      scrapes.inc({ code: String(code) });
    },
  };
}

/** Creates the metrics of the only shard, and gives what changes them. */
export function createShardMetrics(registry: Registry): (shard: Shard) => void {
  const registers = [registry];
  const number = new Gauge({
    name: 'newrelic_exporter_shard',
    help: 'Which part of the applications this process polls, counted from 0.',
    registers,
  });
  const count = new Gauge({
    name: 'newrelic_exporter_total_shards',
    help: 'Number of processes that share the applications.',
    registers,
  });
  const sharded = ({ ordinal, total }: Shard): void => {
    number.set(ordinal);
    count.set(total);
  };
  sharded({ ordinal: 0, total: 1 });
  return sharded;
}
