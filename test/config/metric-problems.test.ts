import { describe, expect, it } from 'vitest';
import { metricProblems } from '../../src/config/metric-problems.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { readYaml } from '../../src/config/read-yaml.ts';
import { headlinesOf } from './config-failure.ts';

const source = { fileName: 'config.yaml', directory: '/' };

function metric(keys = ''): string {
  return `{metric: M, value: score, as: x, ${keys}}`;
}

describe('parseConfig, with metrics that the file names', () => {
  it.each([
    {
      what: 'of one name, if their labels differ',
      text: `apps: [{id: 1, metrics: [${metric('labels: {a: "1"}')}, {metric: N, value: score, as: x, help: H, labels: {a: "2"}}]}]`,
    },
    {
      what: 'of one name, if the help is the same',
      text: `apps: [{id: 1, metrics: [${metric('help: H, labels: {a: "1"}')}, {metric: N, value: score, as: x, help: H, labels: {a: "2"}}]}]`,
    },
    {
      what: 'of one name, if one is of applications and the other of hosts',
      text: `apps: [{id: 1, metrics: [${metric('for: hosts')}, ${metric('for: applications')}]}]`,
    },
    {
      what: 'of one name in several entries, if they are the same',
      text: `apps: [{id: 1, metrics: [${metric()}]}, {id: 2, metrics: [${metric('labels: {a: b}')}]}]`,
    },
    {
      what: 'of two values of the same unit under one name',
      text: 'apps: [{id: 1, metrics: [{metric: M, value: count, as: x, help: H}]}, {id: 2, metrics: [{metric: M, value: call_count, as: x, help: H}]}]',
    },
    {
      what: 'with a label that only other entries have',
      text: `poll: {metrics: [${metric('labels: {team: b}')}]}\napps: [{id: 1, labels: {tier: a}}, {id: 2, labels: {team: a}, metrics: [apdex]}]`,
    },
    {
      what: 'of hosts and of applications in an entry that has both',
      text: `apps: [{id: 1, metrics: [${metric('for: hosts')}]}, {id: 2, metrics: [${metric('for: hosts')}], application: false}, {id: 3, metrics: [${metric('for: applications')}]}]`,
    },
    {
      what: 'without throughput',
      text: 'apps: [{id: 1, metrics: [apdex], hosts: false}]',
    },
    {
      what: 'with names that only begin or end like those that are refused',
      text: 'apps: [{id: 1, metrics: [{metric: M, value: s, as: upper}, {metric: M, value: s, as: newrelic_application_hostsum}, {metric: M, value: s, as: _total_}, {metric: M, value: s, as: gopher}]}]',
    },
  ])('allows metrics $what', async ({ text }) => {
    expect((await parseConfig(text, source)).warnings).toEqual([]);
  });

  it('checks metrics in a file that the schema rejects, except those that it rejects', async () => {
    const text = [
      'sink: 1',
      'poll: {metrics: {a: b}}',
      'apps:',
      '  - 5',
      `  - {id: 1, metrics: [${metric()}, ${metric('unit: s')}, ${metric()}]}`,
      '  - {id: 2, metrics: [{metric: M, value: count, as: x}]}',
    ].join('\n');

    expect(await headlinesOf(text)).toEqual([
      'config.yaml:1:1: unknown key "sink"',
      'config.yaml:2:17: "metrics" must be a list, not a map',
      'config.yaml:4:5: each entry of "apps" must be a map, not 5',
      'config.yaml:5:92: unknown key "unit"',
      'config.yaml:5:132: an earlier metric of the list has the name "x" and the same labels',
      'config.yaml:6:53: the gauge "x" has two units: ratios before, numbers here',
    ]);
  });

  it('reads a list once that thousands of entries have', () => {
    const metrics = Array.from({ length: 8 }, (_, index) => `{metric: M, value: s, as: x${index}}`);
    const apps = Array.from({ length: 2000 }, (_, index) => `  - {id: ${index + 1}, metrics: *m}`);
    const { root } = readYaml(
      ['poll:', `  metrics: &m [${metrics.join(', ')}, ${metrics[0]}]`, 'apps:', ...apps].join(
        '\n',
      ),
      'apps',
    );

    expect(root === undefined ? undefined : metricProblems(root)).toHaveLength(1);
  });
});
