import { type Answer, documentAnswer } from './answer.ts';
import type { FirstMetricFault } from './fault.ts';
import type { MetricDataDocument } from './metric-data.ts';

type Metric = MetricDataDocument['metric_data']['metrics'][number];

function isMetricData(document: unknown): document is MetricDataDocument {
  return (
    typeof document === 'object' && document !== null && Object.hasOwn(document, 'metric_data')
  );
}

function hasAll({ timeslices }: Metric, values: readonly string[]): boolean {
  return timeslices.every((slice) => values.every((name) => Object.hasOwn(slice.values, name)));
}

function withoutValues({ name, timeslices }: Metric): Metric {
  return { name, timeslices: timeslices.map((slice) => ({ ...slice, values: {} })) };
}

/**
 * Takes the values of all metrics but the first away, if there is a metric that lacks one of the values
 * that were asked for. Other answers stay as they are.
 */
export function withFirstMetricOnly(
  { others }: FirstMetricFault,
  values: readonly string[],
  answer: Answer,
): Answer {
  if (answer.status !== 200 || answer.body === '') return answer;
  const document: unknown = JSON.parse(answer.body);
  if (!isMetricData(document)) return answer;
  const { metric_data: data } = document;
  const [first, ...rest] = data.metrics;
  if (first === undefined || data.metrics.every((metric) => hasAll(metric, values))) return answer;
  return documentAnswer({
    metric_data:
      others === 'without_values'
        ? { ...data, metrics: [first, ...rest.map(withoutValues)] }
        : { ...data, metrics_found: [first.name], metrics: [first] },
  });
}
