import type { ValueName } from '../model/vendor-value.ts';
import type { ListedMetric } from './metric-list.ts';

const kindNames = ['apdex', 'timing', 'memory', 'errors', 'share', 'value', 'count'] as const;

export type MetricKind = (typeof kindNames)[number];

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
  const shownAs = (kind: MetricKind): readonly ValueName[] =>
    kinds[kind].flatMap((group) => {
      const first = group.find((value) => values.includes(value));
      return first === undefined ? [] : [first];
    });
  const order = ofAnything.test(name) ? (['value', ...kindNames] as const) : kindNames;
  const kind = order.find((one) => kinds[one][0]?.some((value) => values.includes(value)) === true);
  return kind === undefined ? undefined : { kind, shown: shownAs(kind) };
}
