import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf, type Flag } from '../../src/cli/flags.ts';
import { readDocument, readProductDocuments } from './documents.ts';
import { flagProblems, flagsNamedIn, variablesNamedIn } from './flag-rule.ts';

const flags: readonly Flag<unknown>[] = Object.values(flagTable);
const names = flags.flatMap(({ name, alias }) => (alias === undefined ? name : [name, alias]));
const known = new Set([...names, 'help', 'version']);
/** Options of Node.js and npm, and of the benches, and of nothing that is shipped. */
const foreign = new Set([
  'beside',
  'enable-source-maps',
  'ignore-scripts',
  'max-old-space-size',
  'max-semi-space-size',
]);
const variables = new Set([...flags.map(environmentVariableOf), 'NEWRELIC_EXPORTER_REVISION']);

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

describe('flagProblems', () => {
  const flag = { name: 'web.port', defaultText: '1', commands: ['serve', 'demo'] as const };
  const tableOf = (...rows: readonly string[]): string =>
    [
      '| flag | default | environment variable | commands |',
      '| --- | --- | --- | --- |',
      ...rows,
      '',
    ].join('\n');

  it.each([
    {
      what: 'nothing is wrong',
      rows: ['| `--web.port` | `1` | `NEWRELIC_EXPORTER_WEB_PORT` | serve, demo |'],
      problems: [],
    },
    { what: 'a flag is missing', rows: [], problems: ['--web.port is not documented'] },
    {
      what: 'default, variable and commands differ, and a flag does not exist',
      rows: ['| `--web.port` | `2` | `PORT` | serve |', '| `--web.prot` | `1` | `X` | serve |'],
      problems: [
        '--web.port: wrong default',
        '--web.port: wrong variable',
        '--web.port: wrong commands',
        '--web.prot does not exist',
      ],
    },
  ])('says when $what', ({ rows, problems }) => {
    expect(flagProblems(tableOf(...rows), [flag])).toEqual(problems);
  });
});

describe('flagsNamedIn and variablesNamedIn', () => {
  it('find names in prose and in code, and no dashes of tables', () => {
    const text = '`--web.max-requests=40`, serve --shard.\n| --- |\n$NEWRELIC_EXPORTER_X=1';

    expect(flagsNamedIn(text)).toEqual(['web.max-requests', 'shard']);
    expect(variablesNamedIn(text)).toEqual(['NEWRELIC_EXPORTER_X']);
  });

  it('leave out the flags of other programs', () => {
    const text =
      'docker run --rm \\\n  --name x\nserve --shard\nor `helm install --wait x --y`, --zone.';

    expect(flagsNamedIn(text)).toEqual(['shard', 'zone']);
  });
});
