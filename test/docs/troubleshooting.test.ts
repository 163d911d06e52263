import { describe, expect, it } from 'vitest';
import { failureReasons } from '../../src/model/api-error.ts';
import { readSourceFiles } from '../architecture/source-files.ts';
import { alertsOf, readRuleFiles } from '../rules/rule-files.ts';
import { readDocument } from './documents.ts';
import { codeWordsIn, headingsIn, rowsWith, sectionOf } from './markdown.ts';
import { messagesQuotedIn } from './message-rule.ts';
import { alertOfKind, problemTable } from './problem-table.ts';

const { text } = readDocument('docs/troubleshooting.md');
const source = readSourceFiles()
  .map((file) => file.text)
  .join('\n');

describe.each(['docs/troubleshooting.md', 'docs/runbook.md'])('%s', (path) => {
  it('quotes only messages that the program has', () => {
    const quoted = messagesQuotedIn(readDocument(path).text);

    expect(quoted.length).toBeGreaterThan(3);
    expect(quoted.filter((message) => !source.includes(message))).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  it('says what to do about every failure reason, and no other', () => {
    const rows = rowsWith(sectionOf(text, 'Reasons of failures'), ['reason', 'what to do']);

    expect(rows.map(({ reason }) => codeWordsIn(reason)[0])).toEqual([...failureReasons]);
  });

  it('has the table of all that can be wrong, as the program has it (written anew with "-u")', async () => {
    const before = text.slice(0, text.indexOf('| the headline |'));
    const after = text.slice(text.indexOf('\n\n', before.length));

    await expect(`${before}${problemTable()}${after}`).toMatchFileSnapshot(
      '../../docs/troubleshooting.md',
    );
  });

  it('names alerts that there are', () => {
    const alerts = new Set(alertsOf(readRuleFiles()).map(({ alert }) => alert));
    const named = Object.values(alertOfKind).filter((name) => name !== undefined);

    expect(named.filter((name) => !alerts.has(name))).toEqual([]);
  });

  it('leads from no symptom to a dead end', () => {
    const symptoms = headingsIn(sectionOf(text, 'By symptom')).map(({ title }) => title);

    expect(symptoms.length).toBeGreaterThan(10);
    expect(symptoms.filter((title) => sectionOf(text, title).trim() === '')).toEqual([]);
  });
});
