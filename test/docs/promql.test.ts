import { describe, expect, it } from 'vitest';
import { toolOrSkip } from '../support/tools.ts';
import { readProductDocuments } from './documents.ts';
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

  it.each(filesThatBegin('# prometheus.yml'))('accepts the scrape configuration %#', (config) => {
    expect(promtoolComplaint(promtool.path, 'config', config)).toBe('');
  });
});
