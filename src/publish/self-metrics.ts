import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Shard } from '../model/shard.ts';
import type { BuildInfo } from '../model/status.ts';
import type { ApiObserver, DaemonOperation, PollObserver } from '../model/telemetry.ts';
import { createObserverMetrics } from './observer-metrics.ts';
import { createStatusMetrics, type StatusReader } from './status-metrics.ts';

/** The exporter's metrics of itself: `newrelic_exporter_*`, `process_*` and `nodejs_*`. */
export interface SelfMetrics extends ProgramMetrics {
  /** Begins the counters of an account that these operations can have at 0. Again, for further ones. */
  beginAccount(account: string, operations: readonly DaemonOperation[]): void;
  apiObserver(account: string): ApiObserver;
  pollObserver(account: string): PollObserver;
  /** From now on no text has series of the account; a call that ends late does not bring them back. */
  removeAccount(account: string): void;
  /** All metrics in Prometheus' text format 0.0.4, without blank lines. */
  text(): Promise<string>;
  /** Names of the families, to compare them with the documentation. */
  readonly metricNames: readonly string[];
}

interface ProgramMetrics {
  /**
   * Records that the configuration was read, for the first time or again. `wallMs` is the time.
   *
   * @param brokenFiles included files that are broken from now on. Default: those that were before
   */
  configReloaded(succeeded: boolean, wallMs: number, brokenFiles?: readonly string[]): void;
  /** Counts a request for the metrics, by the HTTP status of its answer. */
  scraped(code: number): void;
  /** Records which part of the work this process has from now on. */
  sharded(shard: Shard): void;
}

/** The bounds of buckets that prom-client writes as no float, but OpenMetrics asks for one: `le="1.0"`. */
const wholeBound = /\{le="(\d+)"/g;

/** In characters, some milliseconds of work: those of 300 accounts have 17,000 lines. */
const largeFamily = 256 * 1024;

export interface SelfMetricsDependencies extends StatusReader {
  /** Resolves after other work of the process has run, as `setImmediate` does. */
  readonly nextTurn: () => Promise<void>;
}

export function createSelfMetrics(
  build: BuildInfo,
  dependencies: SelfMetricsDependencies,
): SelfMetrics {
  const registry = new Registry();
  const observers = createObserverMetrics(registry);
  const refreshStatus = createStatusMetrics(registry, dependencies);
  const program = createProgramMetrics(registry, build);
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopLookMs });
  for (const name of leftOut) registry.removeSingleMetric(name);

  const removed = new Set<string>();

  return {
    beginAccount: (account, operations) => {
      removed.delete(account);
      observers.begin(account, operations);
    },
    apiObserver: observers.apiObserverOf,
    pollObserver: observers.pollObserverOf,
    removeAccount: (account) => removed.add(account),
    ...program,
    text: async () => {
      refreshStatus();
      await observers.remove(removed);
      let text = '';
      for (const { name } of registry.getMetricsAsArray()) {
        const family = await registry.getSingleMetricAsString(name);
        text += `${family.replaceAll(wholeBound, '{le="$1.0"')}\n`;
        if (family.length > largeFamily) await dependencies.nextTurn();
      }
      return text;
    },
    metricNames: registry.getMetricsAsArray().map(({ name }) => name),
  };
}

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

/** Served; no right password; too many passwords at a time; failed; too many scrapes at a time. */
const scrapeCodes = ['200', '401', '429', '500', '503'];

/** Registers the metrics of the program and its configuration, and gives what changes them. */
function createProgramMetrics(
  registry: Registry,
  { version, revision, nodeVersion }: BuildInfo,
): ProgramMetrics {
  const registers = [registry];
  const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers });
  new Gauge({
    name: 'newrelic_exporter_build_info',
    help: 'A constant 1; the labels name the program and the Node.js it runs on.',
    labelNames: ['version', 'revision', 'node_version'],
    registers,
  }).set({ version, revision, node_version: nodeVersion }, 1);
  const successful = gauge(
    'newrelic_exporter_config_last_reload_successful',
    '1 if the configuration was accepted when it was last read, 0 if it, or a file that it includes, was refused.',
  );
  const broken = new Gauge({
    name: 'newrelic_exporter_config_file_broken',
    help: '1 for an included file that is broken: what it last said is in force.',
    labelNames: ['file'],
    registers,
  });
  const successTime = gauge(
    'newrelic_exporter_config_last_reload_success_timestamp_seconds',
    'Unix time at which a configuration was last accepted.',
  );
  // Another exporter has the name newrelic_exporter_scrapes_total for what it asks New Relic.
  const scrapes = new Counter({
    name: 'newrelic_exporter_scrape_requests_total',
    help: 'Requests for the metrics of the exporter, by the HTTP status of the answer; 503 is one above --web.max-requests.',
    labelNames: ['code'],
    registers,
  });
  for (const code of scrapeCodes) scrapes.inc({ code }, 0);
  const shard = gauge(
    'newrelic_exporter_shard',
    'Which part of the applications this process polls, counted from 0.',
  );
  const shards = gauge(
    'newrelic_exporter_total_shards',
    'Number of processes that share the applications.',
  );
  shards.set(1);
  return {
    configReloaded: (succeeded, wallMs, brokenFiles) => {
      if (brokenFiles !== undefined) broken.reset();
      for (const file of brokenFiles ?? []) broken.set({ file }, 1);
      successful.set(succeeded ? 1 : 0);
      if (succeeded) successTime.set(wallMs / 1000);
    },
    scraped: (code) => scrapes.inc({ code: String(code) }),
    sharded: ({ ordinal, total }) => {
      shard.set(ordinal);
      shards.set(total);
    },
  };
}
