import { Registry } from 'prom-client';
import type { BuildInfo } from '../model/status.ts';
import type { ApiObserver, PollObserver } from '../model/telemetry.ts';
import {
  type AccountSeries,
  createAccountSeries,
  createApiMetrics,
  createPollMetrics,
} from './observer-metrics.ts';
import {
  createProgramMetrics,
  type ProgramMetrics,
  registerProcessMetrics,
} from './process-metrics.ts';
import { type AccountSource, createStatusMetrics } from './status-metrics.ts';

/** The exporter's metrics of itself: `newrelic_exporter_*`, `process_*` and `nodejs_*`. */
export interface SelfMetrics extends ProgramMetrics {
  /** The account's observer. The first one of an account creates its series at 0. */
  apiObserver(account: string): ApiObserver;
  /** Like `apiObserver`. */
  pollObserver(account: string): PollObserver;
  /** Closes the account's observers, so that a late call does not bring its series back. */
  removeAccount(account: string): void;
  /** All metrics in Prometheus' text format 0.0.4, without blank lines. */
  text(): Promise<string>;
  /** Names of the families, to compare them with the documentation. */
  readonly metricNames: readonly string[];
}

interface Observers {
  readonly series: AccountSeries;
  readonly api: ApiObserver;
  readonly poll: PollObserver;
}

/** The bounds of buckets that prom-client writes as no float, but OpenMetrics asks for one: `le="1.0"`. */
const wholeBound = /\{le="(\d+)"/g;

/** In characters, some milliseconds of work: the families of 300 accounts have 40,000 series. */
const largeFamily = 256 * 1024;

export interface SelfMetricsDependencies extends AccountSource {
  /** Resolves after other work of the process has run, as `setImmediate` does. */
  readonly nextTurn: () => Promise<void>;
}

export function createSelfMetrics(
  options: BuildInfo,
  dependencies: SelfMetricsDependencies,
): SelfMetrics {
  const registry = new Registry();
  const createApiObserver = createApiMetrics(registry);
  const createPollObserver = createPollMetrics(registry);
  const refreshStatus = createStatusMetrics(registry, dependencies);
  const program = createProgramMetrics(registry, options);
  registerProcessMetrics(registry);

  const byAccount = new Map<string, Observers>();
  const observersOf = (account: string): Observers => {
    const known = byAccount.get(account);
    if (known !== undefined) return known;
    const series = createAccountSeries();
    const api = createApiObserver(account, series);
    const created = { series, api, poll: createPollObserver(account, series) };
    byAccount.set(account, created);
    return created;
  };

  return {
    apiObserver: (account) => observersOf(account).api,
    pollObserver: (account) => observersOf(account).poll,
    removeAccount: (account) => {
      byAccount.get(account)?.series.close();
      byAccount.delete(account);
    },
    ...program,
    text: async () => {
      refreshStatus();
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
