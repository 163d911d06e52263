import { describe, expect, it } from 'vitest';
import { areaOf, importsOf } from './imports-of.ts';
import { cycles, fileProblems, importProblems } from './layer-rules.ts';
import { readSourceFiles, type SourceFile } from './source-files.ts';

const files = readSourceFiles();

function aFile(path: string, text: string): SourceFile {
  return { path, text };
}

describe('this test', () => {
  it('sees the files of every area', () => {
    expect(files.length).toBeGreaterThan(20);
    expect([...new Set(files.map(({ path }) => areaOf(path)))]).toEqual(
      expect.arrayContaining(['model', 'config', 'newrelic/calls', 'poll', 'publish', 'cli']),
    );
  });

  it('sees imports of files and of packages', () => {
    const selfMetrics = files.filter(({ path }) => path === 'publish/self-metrics.ts');

    expect(selfMetrics.flatMap(importsOf)).toEqual(
      expect.arrayContaining(['prom-client', '../model/telemetry.ts', './observer-metrics.ts']),
    );
    expect(files.flatMap(importsOf).length).toBeGreaterThan(100);
  });

  it('sees the import of every line that looks like one', () => {
    const lines = files.flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => /^(?:import|export)\b.* from '|^\} from '/.test(line))
        .map((line) => ({ path, target: /'([^']+)'/.exec(line)?.[1] ?? '' })),
    );

    const unseen = lines.filter(
      ({ path, target }) =>
        !files.some((file) => file.path === path && importsOf(file).includes(target)),
    );

    expect(lines.length).toBeGreaterThan(100);
    expect(unseen).toEqual([]);
  });
});

describe('importsOf', () => {
  it.each([
    { text: "import { a } from './a.ts';", imports: ['./a.ts'] },
    { text: 'import { a } from "./a.ts";', imports: ['./a.ts'] },
    { text: "import a, * as b from 'b';", imports: ['b'] },
    { text: "import type { A } from './a.ts';", imports: ['./a.ts'] },
    { text: "import {\n  type A,\n  b,\n} from './a.ts';", imports: ['./a.ts'] },
    { text: "import './effect.ts';", imports: ['./effect.ts'] },
    { text: "export { a } from './a.ts';", imports: ['./a.ts'] },
    { text: "export * from './a.ts';", imports: ['./a.ts'] },
    { text: "export type { A } from './a.ts';", imports: ['./a.ts'] },
    { text: "const a = await import('a');", imports: ['a'] },
    { text: 'const a = await import(`a`);', imports: ['a'] },
    { text: "type A = import('./a.ts').A;", imports: ['./a.ts'] },
    { text: "const a = require('a');", imports: ['a'] },
    { text: 'const a = await import(name);', imports: ['<computed>'] },
    { text: 'const a = await import(`./${name}.ts`);', imports: ['<computed>'] },
    { text: "import a from 'a';\nimport b from 'b';", imports: ['a', 'b'] },
    { text: "export const a = 'b';", imports: [] },
    { text: "export function a(b = 'c') {}", imports: [] },
    { text: "export type A = 'a' | 'b';", imports: [] },
    { text: "// import a from 'a';\n/* import b\n from 'b'; */", imports: [] },
    { text: "/** Like `import('a')`. */", imports: [] },
    { text: "const path = import.meta.url + 'a';", imports: [] },
  ])('finds $imports in: $text', ({ text, imports }) => {
    expect(importsOf({ text })).toEqual(imports);
  });
});

describe('the layers', () => {
  it('are kept by every file', () => {
    expect(importProblems(files)).toEqual([]);
  });

  it.each([
    {
      file: aFile('model/a.ts', "import { b } from '../config/b.ts';"),
      problem: 'model/a.ts imports ../config/b.ts: model must not import config',
    },
    {
      file: aFile('web/a.ts', "import type { B } from '../newrelic/b.ts';"),
      problem: 'web/a.ts imports ../newrelic/b.ts: web must not import newrelic',
    },
    {
      file: aFile('poll/a.ts', "export { b } from '../cli/b.ts';"),
      problem: 'poll/a.ts imports ../cli/b.ts: poll must not import cli',
    },
    {
      file: aFile('tools/a.ts', "import { b } from '../simulator/b.ts';"),
      problem: 'tools/a.ts imports ../simulator/b.ts: tools must not import simulator',
    },
    {
      file: aFile('cli/a.ts', "import '../main.ts';"),
      problem: 'cli/a.ts imports ../main.ts: cli must not import main.ts',
    },
    {
      file: aFile('main.ts', "import { b } from './poll/b.ts';"),
      problem: 'main.ts imports ./poll/b.ts: main.ts must not import poll',
    },
    {
      file: aFile('cli/a.ts', "const b = await import('../../test/b.ts');"),
      problem: 'cli/a.ts imports ../../test/b.ts: cli must not import ..',
    },
    {
      file: aFile('poll/a.ts', "import { b } from './b';"),
      problem: 'poll/a.ts imports ./b without .ts',
    },
    {
      file: aFile('poll/a.ts', "import { b } from './b.js';"),
      problem: 'poll/a.ts imports ./b.js without .ts',
    },
    {
      file: aFile('web/status/a.ts', "import { request } from 'undici';"),
      problem: 'web/status/a.ts imports undici: only for newrelic/calls',
    },
    {
      file: aFile('cli/a.ts', "const { pino } = await import('pino');"),
      problem: 'cli/a.ts imports pino: only for publish',
    },
    {
      file: aFile('web/a.ts', "import Gauge from 'prom-client/lib/gauge.js';"),
      problem: 'web/a.ts imports prom-client: only for publish',
    },
    {
      file: aFile('poll/a.ts', "import { readFile } from 'node:fs/promises';"),
      problem: 'poll/a.ts imports node:fs: only for daemon, config, tools',
    },
    {
      file: aFile('newrelic/calls/a.ts', "import { request } from 'node:http';"),
      problem: 'newrelic/calls/a.ts imports node:http: only for web, simulator',
    },
    {
      file: aFile('poll/a.ts', "import { x } from '@scope/x/y';"),
      problem: 'poll/a.ts imports @scope/x, which no area is given',
    },
    {
      file: aFile('poll/a.ts', "import fs from 'fs';"),
      problem: 'poll/a.ts imports fs, which no area is given',
    },
    {
      file: aFile('poll/a.ts', 'await import(name);'),
      problem: 'poll/a.ts has an import whose target is computed',
    },
    {
      file: aFile('attic/a.ts', ''),
      problem: 'attic/a.ts is in an area without a rule',
    },
  ])('would not be kept if $problem', ({ file, problem }) => {
    expect(importProblems([file])).toEqual([problem]);
  });

  it('let each area import the model and itself', () => {
    const file = aFile(
      'poll/a.ts',
      "import { b } from './b.ts';\nimport { c } from '../model/c.ts';\nimport { d } from 'node:util';",
    );

    expect(importProblems([file])).toEqual([]);
  });
});

describe('cycles', () => {
  it('are not there', () => {
    expect(cycles(files)).toEqual([]);
  });

  it('would be found, however long', () => {
    const chain = [
      aFile('model/a.ts', "import { b } from './b.ts';"),
      aFile('model/b.ts', "import type { C } from './c.ts';"),
      aFile('model/c.ts', "export { a } from './a.ts';"),
      aFile('model/d.ts', "import { a } from './a.ts';\nimport { b } from './b.ts';"),
    ];

    expect(cycles(chain)).toEqual(['model/a.ts -> model/b.ts -> model/c.ts -> model/a.ts']);
  });

  it('are not mistaken for two ways to the same file', () => {
    const diamond = [
      aFile('model/a.ts', "import { b } from './b.ts';\nimport { c } from './c.ts';"),
      aFile('model/b.ts', "import { d } from './d.ts';"),
      aFile('model/c.ts', "import { d } from './d.ts';"),
      aFile('model/d.ts', ''),
    ];

    expect(cycles(diamond)).toEqual([]);
  });
});

describe('the files', () => {
  it('have names that say something, a readable length and no default export', () => {
    expect(fileProblems(files)).toEqual([]);
  });

  it.each([
    { file: aFile('model/index.ts', ''), problem: 'model/index.ts has a name that says nothing' },
    { file: aFile('utils.ts', ''), problem: 'utils.ts has a name that says nothing' },
    {
      file: aFile('model/a.ts', '\n'.repeat(401)),
      problem: 'model/a.ts has 401 lines, more than 400',
    },
    {
      file: aFile('model/a.ts', 'export default 1;'),
      problem: 'model/a.ts has a default export',
    },
    {
      file: aFile('model/a.ts', 'const a = 1;\nexport { a as default };'),
      problem: 'model/a.ts has a default export',
    },
  ])('would be at fault if $problem', ({ file, problem }) => {
    expect(fileProblems([file])).toEqual([problem]);
  });

  it('may have 400 lines', () => {
    expect(fileProblems([aFile('model/a.ts', '\n'.repeat(400))])).toEqual([]);
  });
});
