import type { AppEntry } from '../../model/config.ts';
import { type PolledSeries, seriesOf } from '../../model/polled-series.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import type { ValueName } from '../../model/vendor-value.ts';
import { valueKeyOf } from '../../newrelic/nerdgraph/column-sets.ts';
import { sampleOf } from '../survey/discovered-account.ts';
import type { ListedMetric } from '../survey/metric-lists.ts';
import type { Target } from '../survey/metrics-target.ts';

const kindNames = ['apdex', 'timing', 'memory', 'errors', 'share', 'value', 'count'] as const;

type MetricKind = (typeof kindNames)[number];

/** The values that tell each kind: of each list the first that a metric has is shown. */
const kinds: Readonly<Record<MetricKind, readonly (readonly ValueName[])[]>> = {
  apdex: [['score']],
  timing: [
    ['average_response_time', 'average_call_time'],
    ['requests_per_minute', 'calls_per_minute', 'call_count'],
  ],
  memory: [['used_bytes_by_host', 'used_mb_by_host', 'total_used_mb']],
  errors: [['errors_per_minute', 'error_count']],
  share: [['percent', 'utilization', 'as_percentage', 'time_percentage']],
  value: [['average_value', 'rate', 'total_value']],
  count: [['requests_per_minute', 'calls_per_minute', 'throughput', 'call_count', 'count']],
};

/** New Relic gives these the values of timings, too, but agents and users record anything in them. */
const ofAnything = /^(?:Agent|Custom|Supportability)\//u;

/** What a metric is, and which of its values say most; `undefined` if New Relic does not tell. */
export function kindOf({
  name,
  values = [],
}: ListedMetric): { readonly kind: MetricKind; readonly shown: readonly ValueName[] } | undefined {
  const order = ofAnything.test(name) ? (['value', ...kindNames] as const) : kindNames;
  const kind = order.find((one) => kinds[one][0]?.some((value) => values.includes(value)) === true);
  if (kind === undefined) return undefined;
  const first = kinds[kind].map((group) => group.find((value) => values.includes(value)));
  return { kind, shown: first.filter((value) => value !== undefined) };
}

/** What metrics are at the moment, by `valueKeyOf`. */
export type ValuesNow = ReadonlyMap<string, number | undefined>;

/** Values are read of so many metrics at most, by some ten calls. */
const mostMetrics = 600;

/**
 * Reads the values that say most about each metric, those of one kind together: New Relic may answer only
 * for metrics that all have the same values. After a stop there is what had arrived.
 *
 * @returns `error`: why some could not be read; it may hold a secret
 */
export async function valuesNow(
  metrics: readonly ListedMetric[],
  target: Target,
  usual: AppEntry,
): Promise<{ readonly values: ValuesNow; readonly error: string | undefined }> {
  const values = new Map<string, number | undefined>();
  let error =
    metrics.length > mostMetrics
      ? `those of the first ${mostMetrics} metrics only: list fewer with --like=TEXT`
      : undefined;
  const { open, host } = target;
  const { application, entry } = selectedOf(target, usual);
  try {
    for (const series of seriesByKind(metrics.slice(0, mostMetrics))) {
      const sample = await sampleOf(open, { application, entry: { ...entry, series } });
      const { reading, error: failure } = sample.outcome;
      const read = host === undefined ? reading?.application : reading?.hosts.get(host.id);
      for (const [index, one] of series.entries()) values.set(valueKeyOf(one), read?.[index]);
      error ??= failure?.message;
    }
  } catch (thrown) {
    if (!open.platform.stopSignal.aborted) throw thrown;
  }
  return { values, error };
}

function selectedOf({ application, host }: Target, usual: AppEntry): SelectedApplication {
  const isHost = host !== undefined;
  const hostIds = isHost && application.hostIds !== undefined ? [host.id] : application.hostIds;
  const poll = { ...usual.poll, hostNames: false };
  const entry = { ...usual, exclude: false, application: !isHost, hosts: isHost, poll };
  return { application: { ...application, hostIds }, entry };
}

function seriesByKind(metrics: readonly ListedMetric[]): Iterable<readonly PolledSeries[]> {
  const byKind = new Map<string, PolledSeries[]>();
  for (const metric of metrics) {
    const { shown = [] } = kindOf(metric) ?? {};
    const key = shown.join(' ');
    for (const value of shown) {
      const choice = { metric: metric.name, value, as: 'now', scale: 1, help: undefined };
      const series = seriesOf([{ ...choice, labels: {}, scope: 'both' }], []);
      byKind.set(key, [...(byKind.get(key) ?? []), ...series]);
    }
  }
  return byKind.values();
}
