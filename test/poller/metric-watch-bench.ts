import type { ApplicationSummary } from '../../src/model/application.ts';
import type { AppEntry } from '../../src/model/config.ts';
import type { MissingMetric } from '../../src/model/missing-metric.ts';
import type { CustomMetric, MetricChoice, Values } from '../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import { type AppState, newAppState } from '../../src/poller/app-state.ts';
import { createMetricWatch, type MetricWatch } from '../../src/poller/metric-watch.ts';
import { anApplication, anEntry } from '../support/builders.ts';

const minuteMs = 60_000;

export function aMetric(overrides: Partial<CustomMetric> = {}): CustomMetric {
  return {
    metric: 'Custom/Queue/Depth',
    value: 'average_value',
    as: 'queue_depth',
    scale: 1,
    help: undefined,
    labels: {},
    scope: 'both',
    ...overrides,
  };
}

/** An entry for all applications that asks for these metrics. */
export function asking(metrics: readonly MetricChoice[], rest: Partial<AppEntry> = {}): AppEntry {
  const { poll, ...others } = anEntry();
  return anEntry({
    ...others,
    ...rest,
    poll: { ...poll, metrics },
    series: anEntry({ poll: { metrics } }).series,
  });
}

interface PollOptions {
  readonly hosts?: ReadonlyMap<string, Values>;
  readonly failed?: boolean;
}

export interface WatchBench {
  readonly watch: MetricWatch;
  readonly states: Map<string, AppState>;
  /** What was told, such as `- queue_depth` for a metric that is missing and `+` for one that came. */
  readonly told: string[];
  /** Adds an application, or gives it another entry. */
  select(
    id: string,
    entry: AppEntry,
    application?: Partial<SelectedApplication['application']>,
  ): void;
  /** A minute passes, and a poll of the application ends with these values. */
  poll(id: string, values: Values | undefined, options?: PollOptions): void;
  names(): readonly string[];
}

export function aWatch(entry?: AppEntry): WatchBench {
  const states = new Map<string, AppState>();
  const told: string[] = [];
  let nowMs = 0;
  const watch = createMetricWatch({
    clock: { monotonicMs: () => nowMs },
    states: { all: states },
    log: {
      metrics: (metrics: readonly MissingMetric[], isMissing) => {
        for (const { name } of metrics) told.push(`${isMissing ? '-' : '+'} ${name}`);
      },
    },
  });
  const bench: WatchBench = {
    watch,
    states,
    told,
    select: (id, chosen, application = {}) => {
      const selected = {
        application: anApplication({ id, hostIds: ['1', '2'], ...application }),
        entry: chosen,
      };
      states.set(id, { ...(states.get(id) ?? newAppState(selected, 0, 0)), selected });
      watch.followStates();
    },
    poll: (id, values, { hosts = new Map(), failed = false } = {}) => {
      nowMs += minuteMs;
      const before = states.get(id);
      if (before === undefined) throw new Error(`no application ${id}`);
      const { series } = before.selected.entry;
      const after = { ...before, pollSucceeded: !failed };
      states.set(id, after);
      watch.polled(after, values && { windowEndMs: nowMs, series, application: values, hosts });
    },
    names: () => watch.missing.map(({ name }) => name),
  };
  if (entry !== undefined) bench.select('1', entry);
  return bench;
}

/** Requests of web transactions, then of others. */
export const busy: Values = [120, undefined];

/** Of an application of which the list says nothing more. */
export const noSummary: ApplicationSummary = {
  requestsPerMinute: undefined,
  responseTimeSeconds: undefined,
  errorRatio: undefined,
  apdexScore: undefined,
  apdexTargetSeconds: undefined,
};
