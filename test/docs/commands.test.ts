import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import {
  complaintAbout,
  flagValueComplaints,
  runsIn,
  shellWordsIn,
  variableComplaints,
} from './command-rule.ts';
import { projectFolder, readDocument, readProductDocuments } from './documents.ts';

const documents = readProductDocuments().filter(({ path }) => path !== 'CHANGELOG.md');
const runs = documents.flatMap(({ path, text }) => runsIn(text).map((run) => ({ path, ...run })));

describe('the commands of the documents', () => {
  it('are found, and every command of the exporter is among them', () => {
    const shown = new Set(runs.map(({ arguments: [first] }) => first));

    expect(runs.length).toBeGreaterThan(30);
    expect(commands.filter((command) => !shown.has(command))).toEqual([]);
  });

  it.each(runs)('$path: $written', (run) => {
    expect(complaintAbout(run)).toBeUndefined();
  });

  it.each(documents)('$path: every flag and variable with a value is accepted', ({ text }) => {
    expect(flagValueComplaints(text)).toEqual([]);
    expect(variableComplaints(text)).toEqual([]);
  });

  it.each(documents)('$path: names only folders of tests that exist', ({ text }) => {
    const named = [...text.matchAll(/vitest run (?:--\w+ \w+ )?(test\/[\w/.-]+)/g)].map(
      ([, path = '']) => path,
    );

    expect(named.filter((path) => !existsSync(join(projectFolder, path)))).toEqual([]);
  });

  it.each(documents)('$path: names only scripts that the package has', ({ text }) => {
    const { scripts } = JSON.parse(readDocument('package.json').text) as { scripts: object };
    const named = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);

    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('runsIn', () => {
  it.each([
    {
      what: 'a block of shell',
      text: '```sh\nnpm ci && node dist/main.js once | grep x # --not\n```\n',
      found: [['once']],
    },
    {
      what: 'a line that continues, of a container',
      text: '```sh\ndocker run --rm \\\n  newrelic-exporter demo\n```\n',
      found: [['demo']],
    },
    {
      what: 'a transcript, but not what it prints',
      text: '```console\n$ newrelic-exporter plan\nnewrelic-exporter wrote this\n```\n',
      found: [['plan']],
    },
    {
      what: 'prose, over the end of a line',
      text: 'Run `newrelic-exporter\ncheck-config --online`, not `docker build newrelic-exporter`.\n',
      found: [['check-config', '--online']],
    },
    {
      what: 'variables and sudo before the program',
      text: '```sh\nA=1 node --enable-source-maps dist/main.js serve\nsudo node /x/newrelic-exporter.mjs once\n```\n',
      found: [['serve'], ['once']],
    },
    {
      what: 'the demo by npm, with and without flags',
      text: '```sh\nnpm ci && npm run demo\nnpm run demo -- --shard=1\n```\n',
      found: [['demo'], ['demo', '--shard=1']],
    },
    { what: 'nothing', text: '```yaml\nnewrelic-exporter: x\n```\n', found: [] },
  ])('finds $what', ({ text, found }) => {
    expect(runsIn(text).map((run) => run.arguments)).toEqual(found);
  });

  it('keeps quoted words together', () => {
    expect(shellWordsIn(`a "b c" 'd|e' --f="g h"; i`)).toEqual([
      'a',
      'b c',
      'd|e',
      '--f=g h',
      ';',
      'i',
    ]);
  });
});

describe('the rules for commands', () => {
  it.each([
    { words: ['check-config', '[FILE]', '--online'], complaint: undefined },
    { words: ['COMMAND', '--help'], complaint: undefined },
    { words: ['chek-config'], complaint: expect.stringContaining('Did you mean check-config') },
    { words: ['plan', '--replicas=many'], complaint: expect.stringContaining('not valid') },
    { words: ['once', '--online'], complaint: expect.stringContaining('no meaning for once') },
  ])('ask the real parser: $words', ({ words, complaint }) => {
    expect(complaintAbout({ written: '', arguments: words })).toEqual(complaint);
  });

  it('try the values of flags in prose', () => {
    expect(flagValueComplaints('`--shard=0` and `--max-old-space-size=96`')).toEqual([]);
    expect(flagValueComplaints('`--shard=first`')).toEqual([
      expect.stringContaining('"first" is not valid'),
    ]);
  });

  it('try the values of variables', () => {
    expect(variableComplaints('export NEWRELIC_EXPORTER_SHARD=0')).toEqual([]);
    expect(variableComplaints('`NEWRELIC_EXPORTER_SHARD=first`')).toEqual([
      expect.stringContaining('"first" is not valid'),
    ]);
  });
});
