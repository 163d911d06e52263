import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../architecture/source-files.ts';
import { toolOrSkip } from '../support/tools.ts';
import { projectFolder, readDocument } from './documents.ts';
import { relativeLinksIn } from './link-rule.ts';
import { codeWordsIn, headingsIn, rowsWith, sectionOf } from './markdown.ts';
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

  it('leads from no symptom to a dead end', () => {
    const symptoms = headingsIn(sectionOf(text, 'By symptom')).map(({ title }) => title);

    expect(symptoms.length).toBeGreaterThan(15);
    expect(symptoms.filter((title) => sectionOf(text, title).trim() === '')).toEqual([]);
  });

  it.each(['README.md', 'docs/runbook.md', 'docs/operations.md', 'docs/getting-started.md'])(
    'is linked from %s',
    (path) => {
      const links = relativeLinksIn(readDocument(path).text);

      expect(links.filter((link) => link.includes('troubleshooting.md'))).not.toEqual([]);
    },
  );
});

describe.skipIf(promtool.skip)(`promtool${promtool.note}`, () => {
  it('accepts the query of every metric', () => {
    const queries = rows.flatMap(({ PromQL: query }) => codeWordsIn(query));

    expect(queries.length).toBeGreaterThan(20);
    expect(promtoolComplaint(promtool.path, 'rules', rulesOf(queries))).toBe('');
  });
});

describe('messagesQuotedIn', () => {
  it('takes sentences, and neither settings, commands, names nor queries', () => {
    const document =
      '`poll failed`, `hosts: self`, `newrelic-exporter plan`, `a_total > 0`, `ca_file`, `budget: it\nis small`';

    expect(messagesQuotedIn(document)).toEqual(['poll failed']);
    expect(messagesQuotedIn('`the budget is small: wait`')).toEqual(['the budget is small: wait']);
  });
});
