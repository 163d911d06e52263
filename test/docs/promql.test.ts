import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { promtoolComplaint as promtoolTestComplaint } from '../rules/promtool-test.ts';
import { toolOrSkip } from '../support/tools.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { codeBlocksIn } from './markdown.ts';
import { expressionsIn, promtoolComplaint, rulesOf } from './promtool-rule.ts';

const promtool = toolOrSkip('promtool');
const documents = readProductDocuments();
const expressions = documents.flatMap(({ text }) => expressionsIn(text));

function filesThatBegin(firstLine: string): readonly string[] {
  return documents
    .flatMap(({ text }) => codeBlocksIn(text))
    .map(({ text }) => text)
    .filter((text) => text.startsWith(`${firstLine}\n`));
}

describe('the PromQL of the documents', () => {
  it('is found', () => {
    expect(expressions.length).toBeGreaterThan(10);
    expect(filesThatBegin('# prometheus.yml').length).toBeGreaterThan(1);
  });

  it('puts no rate around a gauge of New Relic data', () => {
    const wrong = /\b(?:i?rate|increase)\(\s*newrelic_(?:application|up)/;

    expect(expressions.filter((expression) => wrong.test(expression))).toEqual([]);
    expect('rate(newrelic_application_hosts[5m])').toMatch(wrong);
  });
});

describe.skipIf(promtool.skip)(`promtool${promtool.note}`, () => {
  it('accepts every expression', () => {
    expect(promtoolComplaint(promtool.path, 'rules', rulesOf(expressions))).toBe('');
  });

  it('answers every expression about two exporters of one account, as shards are', () => {
    const page = readFileSync('test/golden/metrics-page.txt', 'utf8');
    const inputSeries = [...page.matchAll(/^(?<name>\w+)(?:\{(?<labels>.*)\})? \S+$/gmu)].flatMap(
      ({ groups }) =>
        ['a', 'b'].map((instance) => {
          const labels = [groups?.['labels'], `instance="${instance}",job="newrelic"`];
          const all = labels.filter((one) => one !== undefined).join(',');
          return { series: `${groups?.['name']}{${all}}`, values: '1x10' };
        }),
    );

    const said = promtoolTestComplaint(promtool.path, {
      interval: '1m',
      input_series: inputSeries,
      promql_expr_test: expressions.map((expr) => ({ expr, eval_time: '9m' })),
    });

    expect(inputSeries.length).toBeGreaterThan(400);
    expect(said).toContain('newrelic_application_requests_per_minute');
    expect(said.match(/^.*\berr: .*$/gmu) ?? []).toEqual([]);
  });

  it('says of the gauges of queries what the documents say', () => {
    const page = codeBlocksIn(readDocument('docs/queries.md').text).find(({ text }) =>
      text.includes('quantile="0.95"'),
    );

    const { stdout, stderr } = spawnSync(promtool.path, ['check', 'metrics'], {
      input: `${page?.text}\n`,
      encoding: 'utf8',
    });

    const said = new Set(`${stdout}${stderr}`.trim().replaceAll(/^\w+ /gmu, '').split('\n'));
    expect([...said]).toEqual(['non-summary metrics should not have "quantile" label']);
    const { text } = readDocument('docs/metrics.md');
    expect([...said].filter((one) => !text.includes(one))).toEqual([]);
  });

  it.each(filesThatBegin('# prometheus.yml'))('accepts the scrape configuration %#', (config) => {
    expect(promtoolComplaint(promtool.path, 'config', config)).toBe('');
  });
});
