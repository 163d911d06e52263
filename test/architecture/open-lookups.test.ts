import { fileURLToPath } from 'node:url';
import { createVirtualFileSystem } from 'typescript/unstable/fs';
import { API, type APIOptions } from 'typescript/unstable/sync';
import { describe, expect, it } from 'vitest';
import { openLookups } from './open-lookups.ts';
import { readSourceFiles } from './source-files.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));

function lookupsIn(tsconfig: string, paths: readonly string[], options?: APIOptions) {
  const api = new API(options);
  try {
    const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects();
    if (project === undefined) throw new Error(`${tsconfig} is no project`);
    return openLookups(project, paths);
  } finally {
    api.close();
  }
}

describe('a name from outside', () => {
  it('is looked up in a Map or with own, and nowhere else as a member of an object', () => {
    const paths = readSourceFiles().map(({ path }) => `${src}/${path}`);

    expect(paths.length).toBeGreaterThan(230);
    expect(lookupsIn(`${src}/tsconfig.json`, paths)).toEqual([`${src}/model/own.ts: record[name]`]);
  });
});

describe('this test', () => {
  const declared = `
export declare const record: Record<string, number>, list: number[], some: { a: 1; b: 2 };
export declare const name: string, index: number, one: 'a' | 'b';
`;
  const samples: readonly (readonly [code: string, lookup?: string])[] = [
    ['record[name];', 'record[name]'],
    ['record[name] = 1;', 'record[name]'],
    ['record[`${name}_file`];', 'record[`${name}_file`]'],
    ['some[JSON.parse(name)];', 'some[JSON.parse(name)]'],
    ['Object.fromEntries([["a", 1]])[name];', 'Object.fromEntries([["a", 1]])[name]'],
    ['name in record;', 'name in record'],
    ['const { [name]: value } = record;', '[name]: value'],
    ['function f<N extends string>(n: N) { record[n]; }', 'record[n]'],
    ['for (const key in record) record[key];', 'record[key]'],
    ['list[index]; list[list.length - 1]; list[0]; name[index]; list[Symbol.iterator];'],
    ["some[one]; some['a']; record[one]; record[`${one}_file`]; 'code' in some;"],
    ['function f<N extends keyof typeof some>(n: N) { some[n]; }'],
    ['const made = { [name]: 1 };'],
  ];
  const paths = samples.map((_, at) => `/${at}.ts`);
  const found = lookupsIn('/tsconfig.json', paths, {
    fs: createVirtualFileSystem({
      '/tsconfig.json': JSON.stringify({ compilerOptions: { strict: true }, files: paths }),
      ...Object.fromEntries(samples.map(([code], at) => [`/${at}.ts`, `${declared}${code}`])),
    }),
  });

  it.each(samples.map(([code, lookup], at) => ({ code, lookup, path: `/${at}.ts` })))(
    'finds $lookup in $code',
    ({ lookup, path }) => {
      expect(found.filter((text) => text.startsWith(`${path}: `))).toEqual(
        lookup === undefined ? [] : [`${path}: ${lookup}`],
      );
    },
  );
});
