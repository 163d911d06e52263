import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../architecture/source-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { projectFolder, readDocument } from './documents.ts';
import { codeWordsIn, rowsWith, sectionOf } from './markdown.ts';
import { messagesQuotedIn } from './message-rule.ts';
import { promtoolComplaint, rulesOf } from './promtool-rule.ts';

const exporterRules = 'helm/newrelic-exporter/rules/exporter.yaml';
/** What alerts only compare others with: no value of these is wrong by itself. */
const comparedWith: ReadonlySet<string> = new Set([
  'newrelic_exporter_api_requests_total',
  'newrelic_exporter_build_info',
  'newrelic_exporter_polls_total',
  'newrelic_exporter_shard',
]);

const { text } = readDocument('docs/troubleshooting.md');
const promtool = toolOrSkip('promtool');
const rows = rowsWith(sectionOf(text, 'By metric'), ['metric', 'should be', 'PromQL']);
const source = readSourceFiles()
  .map((file) => file.text)
  .join('\n');

describe('docs/troubleshooting.md', () => {
  it('quotes only messages that the program has', () => {
    const quoted = messagesQuotedIn(text);

    expect(quoted.length).toBeGreaterThan(8);
    expect(quoted.filter((message) => !source.includes(message))).toEqual([]);
  });

  it('says of each metric once what it should be', () => {
    const names = rows.map(({ metric }) => codeWordsIn(metric)[0]);

    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(rows.filter((row) => row['should be'] === '')).toEqual([]);
  });

  it('has a row for every metric that alerts when it is not what it should be', () => {
    const rules = readFileSync(join(projectFolder, exporterRules), 'utf8');
    const alerting = new Set(rules.match(/\bnewrelic_[a-z_]+/g));
    const names = new Set(rows.flatMap(({ metric }) => codeWordsIn(metric).slice(0, 1)));

    expect(alerting.size).toBeGreaterThan(10);
    expect([...alerting].filter((name) => !names.has(name) && !comparedWith.has(name))).toEqual([]);
  });

  it('names in each query the metric of its row', () => {
    const others = rows.filter(({ metric, PromQL: query }) => {
      const [name = ''] = codeWordsIn(metric);
      return codeWordsIn(query).some((expression) => !expression.includes(name));
    });

    expect(others).toEqual([]);
  });
});

describe.skipIf(promtool.skip)(`promtool${promtool.note}`, () => {
  it('accepts the query of every metric', () => {
    const queries = rows.flatMap(({ PromQL: query }) => codeWordsIn(query));

    expect(queries.length).toBeGreaterThan(20);
    expect(promtoolComplaint(promtool.path, 'rules', rulesOf(queries))).toBe('');
  });
});
