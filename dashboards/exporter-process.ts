import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { ofAccount, ofProcess } from './selectors.ts';
import { highest, lastOf, onlySome } from './series.ts';

const width = 8;
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

export const exporterSeries: Row = {
  title: 'Series',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Series by account',
      description: "Published series of New Relic's data.",
      unit: 'short',
      queries: [
        {
          expr: `sum by (account) (${ofAccount('newrelic_exporter_series')})`,
          legend: '{{account}}',
        },
      ],
    }),
    graph({
      title: 'Samples of a scrape',
      description: 'All samples that Prometheus gets from an exporter, of those with the most.',
      unit: 'short',
      queries: [{ expr: gauge('scrape_samples_scraped'), legend }],
    }),
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
      description: 'Values of New Relic a minute that cannot be used.',
      unit: 'cpm',
      width,
      softMax: 1,
      queries: [
        { expr: rates('reason', 'newrelic_exporter_invalid_samples_total'), legend: '{{reason}}' },
      ],
    }),
    graph({
      title: 'Unexpected answers',
      description: 'Answers of NerdGraph a minute that are not as New Relic documents them.',
      unit: 'cpm',
      width,
      softMax: 1,
      queries: [
        {
          // Only accounts that use NerdGraph count them.
          expr: rates(
            'kind',
            'newrelic_exporter_unexpected_answers_total',
            ofAccount('newrelic_up'),
          ),
          legend: '{{kind}}',
        },
      ],
    }),
  ],
};

const collections = ofProcess('nodejs_gc_duration_seconds_sum');
const files = ofProcess('process_open_fds');
const fileLimit = ofProcess('process_max_fds');

export const exporterProcess: Row = {
  title: 'Process',
  isCollapsed: true,
  panels: [
    graph({
      title: 'Memory',
      description: 'Resident memory, of the exporters with the most.',
      unit: 'bytes',
      width,
      queries: [{ expr: gauge('process_resident_memory_bytes'), legend }],
    }),
    graph({
      title: 'Heap',
      description: 'The used part of the JavaScript heap, of the exporters with the most.',
      unit: 'bytes',
      width,
      queries: [{ expr: gauge('nodejs_heap_size_used_bytes'), legend }],
    }),
    graph({
      title: 'Buffers',
      description: 'Memory outside of the heap, of the exporters with the most.',
      unit: 'bytes',
      width,
      queries: [{ expr: gauge('nodejs_external_memory_bytes'), legend }],
    }),
    graph({
      title: 'CPU',
      description: 'Share of the time of one CPU, of the exporters that use the most.',
      unit: 'percentunit',
      width,
      softMax: 0.1,
      queries: [{ expr: rateOf('process_cpu_seconds_total'), legend }],
    }),
    graph({
      title: 'Garbage collection',
      description: 'Share of the time of one CPU, of the exporters that use the most for it.',
      unit: 'percentunit',
      width,
      softMax: 0.1,
      queries: [
        {
          expr: ours(
            `sum by (cluster, job, instance) (rate(${collections}[$__rate_interval]))`,
            `sum by (cluster, job, instance) (increase(${collections}[$__range] @ end()))`,
          ),
          legend,
        },
      ],
    }),
    graph({
      title: 'Delay of the event loop',
      description:
        'Longest delay since the scrape before; 0.05 s is none. Scrapes and polls are as late as that: check the CPU limit.',
      unit: 's',
      width,
      softMax: 0.1,
      queries: [{ expr: gauge('nodejs_eventloop_lag_max_seconds'), legend }],
    }),
    graph({
      title: 'Duration of scrapes',
      description:
        'How long Prometheus takes to scrape an exporter, of those that take the longest. It never waits for New Relic.',
      unit: 's',
      width,
      queries: [{ expr: gauge('scrape_duration_seconds'), legend }],
    }),
    graph({
      title: 'Scrapes refused or failed',
      description:
        'Requests for the metrics a minute that were not answered with 200, by the status of the answer.',
      unit: 'cpm',
      width,
      softMax: 1,
      queries: [
        {
          expr: onlySome(
            'code',
            `60 * sum by (code) (rate(${ofProcess('newrelic_exporter_scrape_requests_total', 'code!="200"')}[$__rate_interval]))`,
            ofProcess('newrelic_exporter_build_info'),
          ),
          legend: '{{code}}',
        },
      ],
    }),
    graph({
      title: 'Open files',
      description:
        'Open file descriptors, connections included, as a share of the limit, of the exporters with the highest.',
      unit: 'percentunit',
      width,
      softMax: 0.1,
      queries: [
        {
          expr: ours(`${files} / ${fileLimit}`, `${lastOf(files)} / ${lastOf(fileLimit)}`),
          legend,
        },
      ],
    }),
  ],
};
