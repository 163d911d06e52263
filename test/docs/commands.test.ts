import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { complaintAbout, flagValueComplaints, runsIn, variableComplaints } from './command-rule.ts';
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
