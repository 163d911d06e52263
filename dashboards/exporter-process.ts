import type { Row } from './dashboard.ts';
import { graph } from './graph.ts';
import { ofAccount, ofProcess } from './selectors.ts';

const width = 8;
const legend = '{{instance}}';

/** Metrics of a process, and only of processes that are exporters. */
function ours(expression: string): string {
  return `${expression} and on (cluster, job, instance) ${ofProcess('newrelic_exporter_build_info')}`;
}

function rateOf(metric: string): string {
  return `rate(${ofProcess(metric)}[$__rate_interval])`;
}

export const exporterProcess: Row = {
  title: 'Series and process',
  panels: [
    graph({
      title: 'Series',
      description: "Series of New Relic's data, and all samples of a scrape.",
      unit: 'short',
      width,
      queries: [
        {
          expr: `sum by (account) (${ofAccount('newrelic_exporter_series')})`,
          legend: '{{account}}',
        },
        { expr: ours(ofProcess('scrape_samples_scraped')), legend: '{{instance}}, scrape' },
      ],
    }),
    graph({
      title: 'Left out',
      description:
        'Series with the labels of another one, values that cannot be used, and answers of NerdGraph that are not as documented.',
      unit: 'short',
      width,
      queries: [
        {
          expr: `sum by (reason) (increase(${ofAccount('newrelic_exporter_series_dropped_total')}[$__rate_interval]))`,
          legend: 'series: {{reason}}',
        },
        {
          expr: `sum by (reason) (increase(${ofAccount('newrelic_exporter_invalid_samples_total')}[$__rate_interval]))`,
          legend: 'values: {{reason}}',
        },
        {
          expr: `sum by (kind) (increase(${ofAccount('newrelic_exporter_unexpected_answers_total')}[$__rate_interval]))`,
          legend: 'unexpected: {{kind}}',
        },
      ],
    }),
    graph({
      title: 'Duration of scrapes',
      description: 'How long Prometheus takes to scrape an exporter. It never waits for New Relic.',
      unit: 's',
      width,
      queries: [{ expr: ours(ofProcess('scrape_duration_seconds')), legend }],
    }),
    graph({
      title: 'Memory',
      description: 'Resident memory, the used part of the JavaScript heap, and buffers.',
      unit: 'bytes',
      width,
      queries: [
        {
          expr: ours(ofProcess('process_resident_memory_bytes')),
          legend: '{{instance}}, resident',
        },
        { expr: ours(ofProcess('nodejs_heap_size_used_bytes')), legend: '{{instance}}, heap' },
        { expr: ours(ofProcess('nodejs_external_memory_bytes')), legend: '{{instance}}, buffers' },
      ],
    }),
    graph({
      title: 'CPU',
      description: 'Seconds of CPU time each second, and the part that garbage collection takes.',
      unit: 'percentunit',
      width,
      queries: [
        { expr: ours(rateOf('process_cpu_seconds_total')), legend },
        {
          expr: ours(
            `sum by (cluster, job, instance) (${rateOf('nodejs_gc_duration_seconds_sum')})`,
          ),
          legend: '{{instance}}, garbage collection',
        },
      ],
    }),
    graph({
      title: 'Delay of the event loop',
      description:
        'Longest delay in the last minute, looked at once a second. Scrapes and polls are as late as that: check the CPU limit.',
      unit: 's',
      width,
      queries: [{ expr: ours(ofProcess('nodejs_eventloop_lag_max_seconds')), legend }],
    }),
    graph({
      title: 'Scrapes refused or failed',
      description: 'Requests for the metrics that were not answered with 200, a minute.',
      unit: 'cpm',
      width,
      queries: [
        {
          expr: `60 * sum by (cluster, job, instance, code) (rate(${ofProcess('newrelic_exporter_scrape_requests_total', 'code!="200"')}[$__rate_interval]))`,
          legend: '{{instance}}, {{code}}',
        },
      ],
    }),
    graph({
      title: 'Open files',
      description: 'Open file descriptors, connections included, and the limit.',
      unit: 'short',
      width,
      queries: [
        { expr: ours(ofProcess('process_open_fds')), legend },
        { expr: ours(ofProcess('process_max_fds')), legend: '{{instance}}, limit' },
      ],
    }),
  ],
};
