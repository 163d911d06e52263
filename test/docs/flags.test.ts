import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf, type Flag } from '../../src/cli/flags.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { flagProblems, flagsNamedIn, variablesNamedIn } from './flag-rule.ts';

const flags: readonly Flag<unknown>[] = Object.values(flagTable);
const names = flags.flatMap(({ name, alias }) => (alias === undefined ? name : [name, alias]));
const known = new Set([...names, 'help', 'version']);
/** Options of Node.js and npm, of the benches, of Prometheus and promtool, and of nothing that is shipped. */
const foreign = new Set([
  'beside',
  'enable-source-maps',
  'ignore-scripts',
  'max-block-duration',
  'max-old-space-size',
  'max-semi-space-size',
  'query.lookback-delta',
  'storage.tsdb.allow-overlapping-blocks',
  'storage.tsdb.path',
  'storage.tsdb.retention.size',
  'storage.tsdb.retention.time',
]);
const variables = new Set([
  ...flags.flatMap((flag) => environmentVariableOf(flag) ?? []),
  'NEWRELIC_EXPORTER_REVISION',
]);

describe('docs/commands.md', () => {
  it('names every flag with its default, variable and commands', () => {
    expect(flagProblems(readDocument('docs/commands.md').text, flags)).toEqual([]);
  });
});

describe('every document', () => {
  it.each(readProductDocuments())('$path names no flag that does not exist', ({ text }) => {
    const named = flagsNamedIn(text);

    expect(named.filter((name) => !known.has(name) && !foreign.has(name))).toEqual([]);
  });

  it.each(readProductDocuments())('$path names no variable that does not exist', ({ text }) => {
    expect(variablesNamedIn(text).filter((name) => !variables.has(name))).toEqual([]);
  });
});
