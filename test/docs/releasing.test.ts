import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { repositoryUrl } from '../../src/model/shown-text.ts';
import { projectFolder, readDocument } from './documents.ts';
import { codeBlocksIn, codeWordsIn, rowsWith, sectionOf } from './markdown.ts';

/** As much of a glob as is needed here; unlike that of Node, folders that begin with a dot count too. */
function matchesGlob(path: string, glob: string): boolean {
  const meanings = new Map([
    ['**/', '(?:.*/)?'],
    ['**', '.*'],
    ['*', '[^/]*'],
  ]);
  const parts = glob.split(/(\*\*\/|\*\*|\*)/u);
  const pattern = parts.map((part) => meanings.get(part) ?? part.replaceAll('.', '\\.')).join('');
  return new RegExp(`^${pattern}$`, 'u').test(path);
}

const { text } = readDocument('docs/dev/releasing.md');
const { repository } = z
  .object({ repository: z.object({ url: z.string() }) })
  .parse(JSON.parse(readDocument('package.json').text));
const { $id } = z
  .object({ $id: z.string() })
  .parse(JSON.parse(readDocument('config.schema.json').text));

describe('where the owner is named', () => {
  const section = sectionOf(text, 'Publishing elsewhere');
  const [command] = codeBlocksIn(section);
  const pattern = new RegExp(/ '(.+)'/u.exec(command?.text ?? '')?.[1] ?? '', 'u');
  const listed = rowsWith(section, ['files']).flatMap(({ files }) => codeWordsIn(files));
  const known = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: projectFolder, encoding: 'utf8', maxBuffer: 2 ** 24 },
  );
  // Git also knows files that were removed a moment ago, and links to folders.
  const isFile = (path: string): boolean =>
    statSync(join(projectFolder, path), { throwIfNoEntry: false })?.isFile() === true;
  const naming = known
    .split('\0')
    .filter((path) => isFile(path) && pattern.test(readDocument(path).text));

  it('is found by the command of the document', () => {
    const found = [
      'https://github.com/newrelic-exporter/other',
      'git+https://github.com/newrelic-exporter/newrelic-exporter.git',
      'repository: newrelic-exporter/newrelic-exporter',
      'ghcr.io/newrelic-exporter/newrelic-exporter:1.2.3',
      '* @newrelic-exporter/maintainers',
    ];
    const others = [
      '/usr/local/lib/newrelic-exporter/newrelic-exporter.mjs',
      'helm/newrelic-exporter/values.yaml',
      'newrelic-exporter@1.2.3',
    ];

    expect(found.filter((line) => !pattern.test(line))).toEqual([]);
    expect(others.filter((line) => pattern.test(line))).toEqual([]);
  });

  it('stands in the table, and in nothing else of it', () => {
    expect(naming.filter((path) => !listed.some((glob) => matchesGlob(path, glob)))).toEqual([]);
    expect(listed.filter((glob) => !naming.some((path) => matchesGlob(path, glob)))).toEqual([]);
  });

  it('is one in the source: that of package.json', () => {
    expect(naming.filter((path) => path.startsWith('src/'))).toEqual(['src/model/shown-text.ts']);
    expect(repository.url).toBe(`git+${repositoryUrl}.git`);
  });
});

/** What the catalogue's own schema, and the checks of its repository, ask of an entry. */
const catalogueEntry = z.strictObject({
  name: z.string().regex(/^(?!.*schema)[^\n]*[^,. \t-]$/iu),
  description: z.string().regex(/^(?!.*schema)[^\n]*[^,. \t-]$/iu),
  fileMatch: z
    .array(z.string().regex(/^(?:\*\*\/)?[^/]+(?:(?<=^\*\*\/[^/]+)\/[^/]+)*$/u))
    .refine((all) => new Set(all).size === all.length),
  url: z.httpUrl().startsWith('https://'),
});

describe('the entry for the catalogue of schemas', () => {
  const [block] = codeBlocksIn(sectionOf(text, 'The JSON schema'));
  const entry = catalogueEntry.parse(JSON.parse(block?.text ?? ''));

  it('names the schema by its own address, which a release has', () => {
    const release = readDocument('.github/workflows/release.yaml').text;

    expect(entry.url).toBe($id);
    expect($id).toBe(`${repositoryUrl}/releases/latest/download/config.schema.json`);
    expect(release).toMatch(/gh release create (?:.*\\\n)+ +config\.schema\.json$/mu);
  });

  it('matches the file as the documents call it, and no file of another program', () => {
    const matches = (path: string): boolean =>
      entry.fileMatch.some((glob) => matchesGlob(path, glob));

    expect(
      ['/etc/newrelic-exporter/config.yaml', 'home/.config/newrelic-exporter/config.yaml'].map(
        matches,
      ),
    ).toEqual([true, true]);
    expect(['config.yaml', 'helm/newrelic-exporter/values.yaml'].map(matches)).toEqual([
      false,
      false,
    ]);
  });

  it.each([
    { change: { name: 'newrelic-exporter schema' } },
    { change: { description: 'Configuration.' } },
    { change: { fileMatch: ['newrelic-exporter/config.yaml'] } },
    { change: { fileMatch: ['a.yaml', 'a.yaml'] } },
    { change: { url: 'http://example.com/a.json' } },
    { change: { schema: 'a' } },
  ])('would be refused with $change', ({ change }) => {
    expect(catalogueEntry.safeParse({ ...entry, ...change }).success).toBe(false);
  });
});
