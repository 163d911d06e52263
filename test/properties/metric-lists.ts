import type { CustomMetric, MetricChoice } from '../../src/model/polled-series.ts';

/** A list of metrics that an account may have. */
interface ReadMetrics {
  readonly metrics: readonly MetricChoice[];
  /** How many calls it takes for an application, and for a host. */
  readonly calls: number;
  /** The same if New Relic answers for one kind of metric at a time. */
  readonly apart: { readonly application: number; readonly host: number };
}

function custom(as: string, of: Partial<CustomMetric> = {}): CustomMetric {
  return {
    metric: 'Custom/Queue/Depth',
    value: 'average_value',
    as,
    scale: 1,
    help: undefined,
    labels: {},
    scope: 'both',
    ...of,
  };
}

const depth = custom('depth');
const most = custom('depth_most', { value: 'max_value' });
const entries = custom('entries', { metric: 'Custom/Cache/Entries' });
const time = custom('time', { metric: 'HttpDispatcher', value: 'average_response_time' });
/** New Relic has none of these. */
const longNames = Array.from({ length: 16 }, (_, at) =>
  custom(`unknown_${at}`, { metric: `Custom/${at}/${'x'.repeat(230)}` }),
);

export const metricListNames = ['usual', 'presets', 'own', 'swapped', 'labelled', 'long'] as const;

export type MetricList = (typeof metricListNames)[number];

/** They have metrics and names in common, at other places and of other meaning. */
export const metricLists: Readonly<Record<MetricList, ReadMetrics>> = {
  usual: { metrics: ['throughput'], calls: 1, apart: { application: 1, host: 1 } },
  presets: {
    metrics: ['memory', 'errors', 'apdex', 'throughput', 'response_time'],
    calls: 1,
    apart: { application: 4, host: 4 },
  },
  own: {
    metrics: [depth, most, entries, time],
    calls: 1,
    apart: { application: 3, host: 3 },
  },
  /** The same metrics under the names of others. */
  swapped: {
    metrics: [
      { ...time, as: 'depth' },
      { ...depth, as: 'entries', scale: 0.5 },
      { ...entries, as: 'depth_most', scope: 'hosts' },
      'throughput',
    ],
    calls: 1,
    apart: { application: 3, host: 3 },
  },
  labelled: {
    metrics: [
      { ...depth, labels: { level: 'a "b"' } },
      { ...depth, value: 'max_value', labels: { level: 'c\\d\n' } },
      { ...entries, scale: 10, scope: 'applications' },
      'response_time',
    ],
    calls: 1,
    apart: { application: 3, host: 2 },
  },
  long: {
    metrics: [...longNames.slice(0, 8), depth, ...longNames.slice(8), 'cpu', time],
    calls: 2,
    apart: { application: 4, host: 4 },
  },
};
