import { readDocument } from '../docs/documents.ts';
import { documentedMetrics, type MetricFacts } from '../docs/metric-rule.ts';

/** Every metric of the exporter, as the documents describe it; they are tested against the code. */
export const exportedMetrics: readonly MetricFacts[] = documentedMetrics(
  readDocument('docs/metrics.md').text,
);

/** Labels that scraping or federation adds, not the exporter. */
export const targetLabels: readonly string[] = ['cluster', 'namespace', 'job', 'instance'];

/** Series that Prometheus itself makes for each target. */
export const scrapeMetrics: readonly string[] = [
  'up',
  'scrape_duration_seconds',
  'scrape_samples_scraped',
];

export function seriesNamesOf({ name, type }: MetricFacts): readonly string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

/** Every name of a series that the exporter serves. */
export const exportedSeries: ReadonlySet<string> = new Set(exportedMetrics.flatMap(seriesNamesOf));

/** Every label that the exporter serves. Account, id and name stand in the head of the table. */
export const exportedLabels: ReadonlySet<string> = new Set([
  'account',
  'app_id',
  'app_name',
  'le',
  ...exportedMetrics.flatMap(({ labels }) => labels ?? []),
]);
