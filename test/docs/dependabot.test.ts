import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { importedPackages } from '../support/product-packages.ts';
import { projectFolder, readDocument } from './documents.ts';

const exists = (path: string): boolean => existsSync(join(projectFolder, path));
const words = z.string().min(1);
const list = z.array(words).min(1);

/** The keys that are used, of those that GitHub documents. */
const patterns = z.strictObject({
  patterns: list,
  'update-types': z.array(z.enum(['minor', 'patch'])).exactOptional(),
});
const update = z.strictObject({
  'package-ecosystem': z.enum(['npm', 'github-actions', 'docker', 'docker-compose', 'gomod']),
  directory: words.exactOptional(),
  directories: list.exactOptional(),
  schedule: z.strictObject({ interval: z.literal('weekly') }),
  cooldown: z.strictObject({ 'default-days': z.int().min(1).max(90) }),
  groups: z.record(z.string(), patterns),
  ignore: z
    .array(
      z.strictObject({
        'dependency-name': words,
        versions: list.exactOptional(),
        'update-types': list.exactOptional(),
      }),
    )
    .exactOptional(),
});
const dependabot = z.strictObject({ version: z.literal(2), updates: z.array(update) });

describe('dependabot.yml', () => {
  const { updates } = dependabot.parse(parse(readDocument('.github/dependabot.yml').text));
  const npm = updates.find((one) => one['package-ecosystem'] === 'npm');
  const foldersOf = ({ directory, directories }: (typeof updates)[number]): readonly string[] => [
    ...(directory === undefined ? [] : [directory]),
    ...(directories ?? []),
  ];

  it('asks once for each place, in groups', () => {
    const places = updates.flatMap((one) =>
      foldersOf(one).map((path) => `${one['package-ecosystem']} ${path}`),
    );

    expect(new Set(places).size).toBe(places.length);
    expect(updates.filter((one) => Object.keys(one.groups).length === 0)).toEqual([]);
  });

  it('looks into every folder that has a module of Go with requirements', () => {
    const asked = updates
      .filter((one) => one['package-ecosystem'] === 'gomod')
      .flatMap(foldersOf)
      .flatMap((path) => {
        const parent = posix.dirname(path).slice(1);
        if (!path.endsWith('/*')) return [path.slice(1)];
        return readdirSync(join(projectFolder, parent)).map((name) => posix.join(parent, name));
      });
    const modules = ['.ci', 'bench', 'test', 'deploy', 'examples'].flatMap((top) =>
      readdirSync(join(projectFolder, top), { recursive: true, encoding: 'utf8' })
        .filter((path) => /(?:^|\/)go\.mod$/u.test(path))
        .map((path) => `${top}/${path}`)
        .filter((path) => /^require\b/mu.test(readDocument(path).text))
        .map((path) => posix.dirname(path)),
    );

    expect(modules.length).toBeGreaterThan(5);
    expect(asked.toSorted()).toEqual(modules.toSorted());
  });

  it('has a group of what the program contains, and no other package in it', () => {
    expect(npm?.groups['product']?.patterns).toEqual([...importedPackages()]);
  });

  it('leaves out the next major version of what needs a newer Node, and nothing else', () => {
    const decision = readDocument('docs/dev/decisions/0001-dependencies.md').text;
    const needing = [
      ...decision.matchAll(/(?:^\| (\w+) \d+ \|.*|\b(\w+) \d+ \()version (\d+) needs Node 22/gmu),
    ].map(([, inTable, inText, version]) => `${inTable ?? inText} >=${version}`);
    const { engines, devDependencies: packages } = z
      .object({
        engines: z.object({ node: z.string() }),
        devDependencies: z.record(z.string(), z.string()),
      })
      .parse(JSON.parse(readDocument('package.json').text));
    const node = Number(/\d+/u.exec(engines.node)?.[0]);
    const ignored = (npm?.ignore ?? []).map(
      (one) => `${one['dependency-name']} ${one.versions?.join()}`,
    );
    const majorOf = (name: string): number => Number.parseInt(packages[name] ?? '', 10);

    expect(ignored.toSorted()).toEqual(
      [...needing, `@vitest/* >=5`, `@types/node >=${node + 1}`].toSorted(),
    );
    expect(
      needing
        .map((one) => one.split(' >='))
        .filter(([name = '', version]) => majorOf(name) + 1 !== Number(version)),
    ).toEqual([]);
  });

  it('looks for images where there are some', () => {
    expect(exists('Dockerfile') && exists('examples/compose.yaml')).toBe(true);
    expect(
      updates.filter((one) => one['package-ecosystem'].startsWith('docker')).flatMap(foldersOf),
    ).toEqual(['/', '/examples']);
  });
});
