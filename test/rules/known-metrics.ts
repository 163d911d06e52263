import { readDocument } from '../docs/documents.ts';
import { documentedMetrics, type MetricFacts } from '../docs/metric-rule.ts';

/** Every metric of the exporter, as the documents describe it; they are tested against the code. */
export const exportedMetrics: readonly MetricFacts[] = documentedMetrics(
  readDocument('docs/metrics.md').text,
);

export function seriesNamesOf({ name, type }: MetricFacts): readonly string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** Every name of a series that the exporter serves. */
export const exportedSeries: ReadonlySet<string> = new Set(exportedMetrics.flatMap(seriesNamesOf));
