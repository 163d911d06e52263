import type { AppEntry } from '../../src/model/config.ts';
import type { CustomMetric, MetricChoice, Values } from '../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../src/model/selected-application.ts';
import { type AppState, newAppState } from '../../src/poll/app-state.ts';
import { MetricWatch } from '../../src/poll/metric-watch.ts';
import { anApplication, anEntry } from '../support/builders.ts';

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

type AddApplication = (
  id: string,
  entry: AppEntry,
  application?: Partial<SelectedApplication['application']>,
) => void;
type Poll = (id: string, values: Values | undefined, options?: PollOptions) => void;

export interface WatchBench {
  readonly watch: MetricWatch;
  readonly states: Map<string, AppState>;
  /** The metrics that turned out to be missing, in their order. */
  readonly told: string[];
  /** As a discovery does. */
  readonly judge: () => void;
  readonly add: AddApplication;
  /** Adds an application, or gives it another entry, as a reload or a discovery does. */
  readonly select: AddApplication;
  readonly pollAlone: Poll;
  /** A poll of the application ends with these values, and then a discovery. */
  readonly poll: Poll;
  names(): readonly string[];
}

export function aWatch(entry?: AppEntry): WatchBench {
  const states = new Map<string, AppState>();
  const told: string[] = [];
  const watch = new MetricWatch();
  const judge = (): void => {
    const before = new Set(watch.missing);
    watch.judge(states);
    for (const one of watch.missing) if (!before.has(one)) told.push(one.name);
  };
  const add: AddApplication = (id, chosen, application = {}) => {
    const selected = {
      application: anApplication({ id, hostIds: ['1', '2'], ...application }),
      entry: chosen,
    };
    states.set(id, { ...(states.get(id) ?? newAppState(selected, 0, 0)), selected });
  };
  const pollAlone: Poll = (id, values, { hosts = new Map(), failed = false } = {}) => {
    const before = states.get(id);
    if (before === undefined) throw new Error(`no application ${id}`);
    const { series } = before.selected.entry;
    const after = { ...before, pollSucceeded: !failed };
    states.set(id, after);
    watch.polled(after, values && { windowEndMs: 1, series, application: values, hosts });
  };
  const bench: WatchBench = {
    watch,
    states,
    told,
    judge,
    add,
    select: (...choice) => {
      add(...choice);
      judge();
    },
    pollAlone,
    poll: (...poll) => {
      pollAlone(...poll);
      judge();
    },
    names: () => watch.missing.map(({ name }) => name),
  };
  if (entry !== undefined) bench.select('1', entry);
  return bench;
}

/** Requests of web transactions, then of others. */
export const busy: Values = [120, undefined];
