import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultUsages } from '../../src/cli/fault-list.ts';
import { failureReasons } from '../../src/model/api-error.ts';
import { projectFolder, readDocument } from './documents.ts';
import { codeWordsIn, rowsWith, sectionOf } from './markdown.ts';

function foldersIn(path: string): readonly string[] {
  return readdirSync(join(projectFolder, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${path}/${entry.name}`)
    .toSorted();
}

/** The first words in backticks of a column. */
function namesIn(text: string, column: string): readonly string[] {
  return rowsWith(text, [column]).flatMap((row) => codeWordsIn(row[column] ?? '').slice(0, 1));
}

describe('docs/operations.md', () => {
  it('says what to do about every failure reason, and no other', () => {
    const section = sectionOf(readDocument('docs/operations.md').text, 'Troubleshooting');

    expect(namesIn(section, 'reason')).toEqual([...failureReasons]);
  });
});

describe('docs/development.md', () => {
  it('has every folder of tests in its map, and no other', () => {
    const section = sectionOf(readDocument('docs/development.md').text, 'Map of the tests');

    expect(namesIn(section, 'folder')).toEqual(foldersIn('test'));
  });
});

describe('docs/architecture.md', () => {
  it('has every folder of the source among its layers, and no other', () => {
    const section = sectionOf(readDocument('docs/architecture.md').text, 'Layers');
    const folders = namesIn(section, 'folder').filter((name) => !name.endsWith('.ts'));

    expect(folders.toSorted()).toEqual(foldersIn('src'));
  });
});

describe('docs/simulator.md', () => {
  it('has every fault that there is, as the help writes it', () => {
    const rows = rowsWith(readDocument('docs/simulator.md').text, ['fault', 'what New Relic does']);

    expect(rows.map(({ fault }) => codeWordsIn(fault)[0])).toEqual(faultUsages().split(', '));
  });
});

describe('namesIn', () => {
  it('sees what a table has, misses what it lacks', () => {
    const table = '| reason | x |\n| --- | --- |\n| `dns`, retried | `no` |\n| none | |\n';

    expect(namesIn(table, 'reason')).toEqual(['dns']);
    expect(namesIn(table, 'folder')).toEqual([]);
  });
});
