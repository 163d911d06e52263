import { describe, expect, it } from 'vitest';
import { metricConflicts } from '../../src/config/metric-rules.ts';
import { readYaml } from '../../src/config/yaml-document.ts';
import { findingsIn, placesOf, type Row, wordsOf } from './config-failure.ts';

/** A metric in the file, with these keys beside or instead of those that it needs. */
function metric(keys = ''): string {
  const needed = ['metric: M', 'value: count', 'as: x'].filter(
    (pair) => !new RegExp(`(?:^|, )${pair.split(':')[0]}:`, 'u').test(keys),
  );
  return `{${[...needed, ...(keys === '' ? [] : [keys])].join(', ')}}`;
}

/** The text of one entry of `apps` with these metrics, the first of which begins at column 26. */
function metrics(...list: readonly string[]): string {
  return `apps: [{id: 1, metrics: [${list.join(', ')}]}]`;
}

/** Where the value of the last key of `metric` begins. */
function at(keys: string): string {
  return `1:${metrics(metric(keys)).lastIndexOf(`${keys.split(': ')[1] ?? ''}}`) + 1}`;
}

function one(keys: string, ...facts: readonly string[]): Row {
  return [metrics(metric(keys)), at(keys), ...facts];
}

const shapes: readonly Row[] = [
  [metrics(), '1:25', 'must not be empty'],
  ['apps: [{id: 1, metrics: throughput}]', '1:25', 'must be a list'],
  [metrics('troughput'), '1:26', 'must be a preset (throughput, ', 'not "troughput"'],
  [metrics('apdex', 'errors', 'apdex'), '1:41', 'only once'],
  [metrics('{metrik: M, value: count, as: x}'), '1:27', 'did you mean "metric"?'],
  [metrics('{metric: M, value: count, as: x, unit: s}'), '1:59', 'unknown key "unit"'],
  one('metric: ""', 'must not be empty'),
  one('metric: "a\\tb"', 'control characters'),
  one(`metric: ${'x'.repeat(256)}`, 'at most 255 characters'),
  one('value: avg_response_time', 'docs/metrics.md', 'did you mean "average_response_time"?'),
  one('value: p95', 'docs/metrics.md'),
  [metrics(metric('value: score')), '1:52', 'only Apdex has a "score", not "M"'],
  ...[
    ['latency', 'response_time'],
    ['error_rate', 'errors'],
    ['errors_per_minute', 'errors'],
    ['rpm', 'throughput'],
    ['cpu_usage', 'cpu'],
    ['duration', 'response_time'],
    ['rt', 'response_time'],
    ['requests', 'throughput'],
    ['mem', 'memory'],
    ['db', 'database'],
  ].map(([word, preset]): Row => [metrics(`${word}`), '1:26', `did you mean "${preset}"?`]),
  one('as: ""', 'must not be empty'),
  one('as: 5', 'must be a string'),
  one('as: queue-time.seconds', 'letters, digits', 'did you mean "queue_time_seconds"?'),
  one('as: "1x"', 'did you mean "_1x"?'),
  one('as: __x', 'begin with "__"'),
  ...['calls_total', 'n_count', 'time_sum', 'x_bucket', 'x_info', 'x_created'].map((name) =>
    one(`as: ${name}`, 'which metrics of other types end in', 'leave out the ending'),
  ),
  ...[
    'newrelic_up',
    'newrelic_exporter_x',
    'process_x',
    'newrelic_application_apdex_score',
    'newrelic_application_host_apdex_score',
    'newrelic_application_hosts',
  ].map((name) => one(`as: ${name}`, 'that the exporter has itself')),
  ...['up', 'scrape_duration_seconds', 'ALERTS', 'go_goroutines'].map((name) =>
    one(`as: ${name}`, 'other programs', `app_${name}`),
  ),
  ...['0', '-1', '.inf', '"1"'].map((scale) => one(`scale: ${scale}`, 'a number above 0')),
  one('labels: [x]', 'must be a map'),
  [metrics(metric('labels: {job: x, a-b: x}')), '1:68 1:76', '"job"', '"a-b"'],
  one('for: host', 'applications, hosts or both'),
];

const conflicts: readonly Row[] = [
  [
    metrics(metric('labels: {a: "1", b: "2"}'), metric('labels: {b: "2", a: "1"}')),
    '1:116',
    'the name "x" and the same labels',
  ],
  [metrics(metric('for: hosts'), metric('for: both')), '1:102', 'the same labels'],
  [
    `${metrics(metric('labels: {a: b}'), metric())}\naccounts: [{name: n, api_key_env: K, labels: {a: b}}]`,
    '1:106',
    'the same labels, with those of the account',
  ],
  [
    metrics(metric('value: percent'), metric('value: count, labels: {a: b}')),
    '1:78',
    'two units: ratios before, numbers here',
  ],
  [
    metrics(
      metric('as: t, value: average_time'),
      metric('as: t, value: average_time, scale: 1000, labels: {a: b}'),
    ),
    '1:83',
    'seconds before, seconds × 1000 here',
  ],
  [
    `poll: {metrics: [${metric()}]}\napps: [{id: 1, metrics: [${metric('value: percent')}]}, {id: 2}]`,
    '2:42',
    'numbers before, ratios here',
  ],
  [
    `apps: [{id: 1, metrics: [${metric('help: A.')}]}, {id: 2, metrics: [${metric('help: B.')}]}]`,
    '1:129',
    'two help texts',
  ],
  [metrics(metric('as: host_x'), metric()), '1:95', '"host_x" is the name of two gauges'],
  [
    metrics(metric('as: newrelic_application_x'), metric('as: newrelic_application_host_x')),
    '1:111',
    'the hosts of "newrelic_application_x" has it, too',
  ],
  [
    `apps: [{id: 1, labels: {team: a}, metrics: [${metric('labels: {team: b}')}]}]`,
    '1:25',
    'the label "team" is also one of the metric "x"',
  ],
  [
    `apps: [{id: 1, hosts: false, metrics: [${metric('for: hosts')}]}]`,
    '1:39',
    'with "hosts: false" nothing is left to read',
  ],
  [
    `poll: {metrics: [${metric('for: applications')}]}\napps: [{id: 1, hosts: self, application: false}]`,
    '2:8',
    'with "application: false" nothing is left to read',
  ],
];

describe('inspectConfig, with metrics that the file names', () => {
  it.each([...shapes, ...conflicts])('refuses %s', async (text, places, ...facts) => {
    const found = await findingsIn(text);

    expect(placesOf(found)).toBe(places);
    for (const fact of facts) expect(wordsOf(found)).toContain(fact);
  });

  it.each([
    {
      what: 'of one name and one help, if their labels differ',
      text: metrics(metric('help: H, labels: {a: "1"}'), metric('help: H, labels: {a: "2"}')),
    },
    {
      what: 'of one name, if one is of applications and the other of hosts',
      text: metrics(metric('for: hosts'), metric('for: applications')),
    },
    {
      what: 'of one name in several entries, if they are the same',
      text: `apps: [{id: 1, metrics: [${metric()}]}, {id: 2, metrics: [${metric('labels: {a: b}')}]}]`,
    },
    {
      what: 'with a label that only other entries have',
      text: `poll: {metrics: [${metric('labels: {team: b}')}]}\napps: [{id: 1}, {id: 2, labels: {team: a}, metrics: [apdex]}]`,
    },
    {
      what: 'of hosts in an entry that has no application',
      text: `apps: [{id: 1, application: false, metrics: [${metric('for: hosts')}]}]`,
    },
    {
      what: 'with names that only begin or end like those that are refused',
      text: metrics(metric('as: upper'), metric('as: _total_'), metric('as: gopher')),
    },
  ])('allows metrics $what', async ({ text }) => {
    expect(await findingsIn(text)).toEqual([]);
  });

  it('checks metrics in a file that the schema rejects, except those that it rejects', async () => {
    const text = [
      'sink: 1',
      'apps:',
      `  - {id: 1, metrics: [${metric()}, ${metric('unit: s')}, ${metric()}]}`,
    ].join('\n');

    const found = await findingsIn(text);
    expect(placesOf(found)).toBe('1:1 3:90 3:130');
    expect(wordsOf(found)).toContain('the same labels');
  });

  it('reads a list once that thousands of entries have', () => {
    const list = Array.from({ length: 8 }, (_, index) => metric(`as: x${index}`));
    const entries = Array.from(
      { length: 2000 },
      (_, index) => `  - {id: ${index + 1}, metrics: *m}`,
    );
    const text = [`x: &m [${list.join(', ')}, ${list[0]}]`, 'apps:', ...entries].join('\n');
    const document = readYaml({ fileName: 'c', text }, 'apps');

    expect('value' in document && [...metricConflicts({ written: document.value })]).toHaveLength(
      1,
    );
  });
});
