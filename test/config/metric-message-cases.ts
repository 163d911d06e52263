interface Case {
  readonly text: string;
}

function rows(...lines: readonly string[]): string {
  return lines.join('\n');
}

function app(keys: string): Case {
  return { text: `apps: [{${keys}}]` };
}

/** A metric in the file, with these keys beside or instead of those that it needs. */
function metric(keys = ''): string {
  const needed = ['metric: M', 'value: score', 'as: x'].filter(
    (pair) => !new RegExp(`(?:^|, )${pair.split(':')[0]}:`, 'u').test(keys),
  );
  return `{${[...needed, ...(keys === '' ? [] : [keys])].join(', ')}}`;
}

/** The text of one entry of `apps` with these metrics. */
function metrics(...list: readonly string[]): Case {
  return app(`id: 1, metrics: [${list.join(', ')}]`);
}

/** A metric whose name takes two thirds of a URL. */
function longMetric(index: number, keys = ''): string {
  return metric(`metric: "${'あ'.repeat(250)}${index}", as: long_${index}${keys}`);
}

const shapes: readonly Case[] = [
  app('id: 1, metrics: []'),
  app('id: 1, metrics: throughput'),
  { text: `poll: {metrics: [[throughput]]}\napps: [{id: 1}]` },
  metrics('troughput'),
  metrics('response'),
  metrics('latency'),
  metrics('5'),
  metrics('apdex', 'errors', 'apdex'),
  metrics('{value: scroe, as: x-y}'),
  metrics('{metrik: M, value: score, as: x}'),
  metrics('{metric: M, value: score, as: x, unit: s}'),
  metrics(metric('metric: ""')),
  metrics(metric('metric: 5')),
  metrics(metric('metric: "a\\tb"')),
  metrics(metric(`metric: ${'x'.repeat(256)}`)),
  metrics(metric('value: response_time')),
  metrics(metric('value: avg_response_time')),
  metrics(metric('value: apdex_score')),
  metrics(metric('value: p95')),
  metrics(metric('value: 5')),
  metrics(metric('as: ""')),
  metrics(metric('as: 5')),
  metrics(metric('as: queue-time.seconds')),
  metrics(metric('as: "1x"')),
  metrics(metric('as: "job:x:rate5m"')),
  metrics(metric('as: __x')),
  metrics(metric('as: calls_total')),
  metrics(metric('as: time_sum')),
  metrics(metric('as: newrelic_up')),
  metrics(metric('as: newrelic_exporter_x')),
  metrics(metric('as: process_x')),
  metrics(metric('as: newrelic_application_apdex_score')),
  metrics(metric('as: newrelic_application_host_apdex_score')),
  metrics(metric('as: newrelic_application_hosts')),
  metrics(metric('as: up')),
  metrics(metric('as: scrape_duration_seconds')),
  metrics(metric('as: ALERTS')),
  metrics(metric('as: go_goroutines')),
  metrics(metric('scale: 0')),
  metrics(metric('scale: -1')),
  metrics(metric('scale: .inf')),
  metrics(metric('scale: "1"')),
  metrics(metric('help: ""')),
  metrics(metric('labels: [x]')),
  metrics(metric('labels: {job: x, a-b: x, c: 1}')),
  metrics(metric('for: host')),
];

const conflicts: readonly Case[] = [
  metrics(metric('labels: {a: "1", b: "2"}'), metric('labels: {b: "2", a: "1"}')),
  metrics(metric('for: hosts'), metric('for: both')),
  metrics(metric('value: count'), metric('value: score, labels: {a: b}')),
  metrics(
    metric('value: average_time'),
    metric('value: average_time, labels: {a: b}, scale: 1000'),
  ),
  {
    text: rows(
      'poll:',
      '  metrics: [{metric: M, value: used_bytes_by_host, as: x}]',
      'apps:',
      '  - id: 1',
      '    metrics: [{metric: M, value: total_call_time_per_minute, as: x}]',
      '  - id: 2',
    ),
  },
  {
    text: rows(
      'apps:',
      ...['errors_per_minute', 'throughput', 'rate', 'total_value'].map(
        (value, index) => `  - {id: ${index}, metrics: [${metric(`value: ${value}`)}]}`,
      ),
    ),
  },
  {
    text: rows(
      'apps:',
      `  - {id: 1, metrics: [${metric('help: A.')}]}`,
      `  - {id: 2, metrics: [${metric('help: B.')}]}`,
    ),
  },
  metrics(metric('as: host_x'), metric()),
  metrics(metric('as: newrelic_application_x'), metric('as: newrelic_application_host_x')),
  app(`id: 1, labels: {team: a}, metrics: [${metric('labels: {team: b}')}]`),
  { text: `poll: {metrics: [${metric('labels: {team: b}')}]}\napps: [{id: 1, labels: {team: a}}]` },
  app(`id: 1, hosts: false, metrics: [${metric('for: hosts')}]`),
  {
    text: rows(
      `poll: {metrics: [${metric('for: applications')}]}`,
      'apps: [{id: 1, hosts: self, application: false}]',
    ),
  },
  { text: `sink: 1\napps: [{id: 1, metrics: [${metric()}, ${metric()}, x]}]` },
];

/** A value, a name that states another unit, and a scale. */
const units: readonly Case[] = [
  'value: average_time, as: x_ms',
  'value: average_time, as: x_bytes, scale: 0.125',
  'value: score, as: x_percent',
  'value: score, as: x_ratio, scale: 100',
  'value: used_bytes_by_host, as: x_ratio',
  'value: errors_per_minute, as: x_per_second',
  'value: total_call_time_per_minute, as: x_seconds',
].map((keys) => metrics(metric(keys)));

const warnings: readonly Case[] = [
  metrics(longMetric(1), longMetric(2)),
  app(`match: "^a", hosts: false, metrics: [${longMetric(1)}, ${longMetric(2)}]`),
  app(`id: 1, application: false, metrics: [${longMetric(1)}, ${longMetric(2)}]`),
  {
    text: rows(
      `poll: {metrics: [${longMetric(1)}, ${longMetric(2)}, ${longMetric(3, ', for: hosts')}]}`,
      'apps: [{id: 1}, {id: 2}, {id: 3, hosts: false}]',
    ),
  },
  metrics(metric('value: average_response_time, as: x_ms')),
  metrics(metric('value: average_response_time, as: x_seconds, scale: 1000')),
  metrics(metric('value: percent, as: x_percent')),
  metrics(metric('value: call_count, as: x_per_minute')),
  metrics(metric('value: throughput, as: x_per_minute')),
  metrics(metric('value: total_used_mb, as: x_seconds')),
  metrics(metric('value: count, as: _ms')),
  app(`id: 1, hosts: false, metrics: [apdex, ${metric('for: hosts')}]`),
  app(`id: 1, application: false, metrics: [apdex, ${metric('for: applications')}]`),
  { text: 'poll: {metrics: [apdex]}\napps: [{id: 1, metrics: [errors]}]' },
  metrics(metric('metric: " M"')),
];

/** A configuration for every message about metrics. */
export const metricMessageCases: readonly Case[] = [...shapes, ...conflicts, ...units, ...warnings];
