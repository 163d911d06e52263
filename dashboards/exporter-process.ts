import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { ofAccount, ofProcess } from './selectors.ts';
import { highest, lastOf, onlySome } from './series.ts';

const width = 12;
const legend = '{{instance}}';
const sameProcess = 'on (cluster, job, instance)';

const own = ofProcess('newrelic_exporter_build_info');

/** Only of exporters, and of these only the highest, by a value of the whole range. */
function ours(expression: string, last: string): string {
  return highest(
    `${expression} and ${sameProcess} ${own}`,
    `${last} and ${sameProcess} ${lastOf(own)}`,
  );
}

function gauge(metric: string): string {
  return ours(ofProcess(metric), lastOf(ofProcess(metric)));
}

function rateOf(metric: string): string {
  const counter = ofProcess(metric);
  return ours(`rate(${counter}[$__rate_interval])`, `increase(${counter}[$__range] @ end())`);
}

function rates(label: string, metric: string, all?: string): string {
  const perMinute = `60 * sum by (${label}) (rate(${ofAccount(metric)}[$__rate_interval]))`;
  return onlySome(label, perMinute, all);
}

export const exporterProcess: Row = {
  title: 'Series and process',
  isCollapsed: true,
  panels: [
    graph({
      id: 110,
      title: 'Series left out',
      description: 'Series a minute that are left out because another one has the same labels.',
      unit: 'cpm',
      width,
      softMax: 1,
      queries: [
        { expr: rates('reason', 'newrelic_exporter_series_dropped_total'), legend: '{{reason}}' },
      ],
    }),
    graph({
      id: 111,
      title: 'Values left out',
      description:
        'Values of New Relic a minute that cannot be used, and answers of NerdGraph that are not as New Relic documents them.',
      unit: 'cpm',
      width,
      softMax: 1,
      queries: [
        { expr: rates('reason', 'newrelic_exporter_invalid_samples_total'), legend: '{{reason}}' },
        {
          // Only accounts that use NerdGraph count them.
          expr: rates(
            'kind',
            'newrelic_exporter_unexpected_answers_total',
            ofAccount('newrelic_up'),
          ),
          legend: 'unexpected: {{kind}}',
        },
      ],
    }),
    graph({
      title: 'Memory',
      description: 'Resident memory, of the exporters with the most.',
      unit: 'bytes',
      width,
      queries: [{ expr: gauge('process_resident_memory_bytes'), legend }],
    }),
    graph({
      title: 'CPU',
      description: 'Share of the time of one CPU, of the exporters that use the most.',
      unit: 'percentunit',
      width,
      softMax: 0.1,
      queries: [{ expr: rateOf('process_cpu_seconds_total'), legend }],
    }),
  ],
};
