import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeVersionProblem } from '../../src/cli/node-version.ts';
import { projectFolder } from '../docs/documents.ts';

describe('nodeVersionProblem', () => {
  it.each(['v20.18.1', 'v20.18.2', 'v20.19.0', 'v21.0.0', 'v22.1.0', 'v24.4.1', 'v100.0.0'])(
    'finds none in %s',
    (version) => {
      expect(nodeVersionProblem(version, '/usr/bin/node')).toBe('');
    },
  );

  it.each(['v20.18.0', 'v20.9.5', 'v19.9.9', 'v18.20.8', 'v12.22.9', 'v9.19.2'])(
    'says on one line what %s lacks',
    (version) => {
      const problem = nodeVersionProblem(version, '/usr/bin/node');

      expect(problem).toBe(
        `newrelic-exporter needs Node.js 20.18.1 or newer, but /usr/bin/node is ${version}: ` +
          'install a newer one (https://nodejs.org/en/download), or use the container image',
      );
    },
  );

  it('wants what package.json wants', () => {
    const { engines } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as {
      readonly engines: { readonly node: string };
    };

    const oldest = engines.node.replace(/^>=/u, '');
    expect(nodeVersionProblem(`v${oldest}`, 'node')).toBe('');
    expect(nodeVersionProblem('v1.0.0', 'node')).toContain(`Node.js ${oldest} or newer`);
  });
});

describe('the files that an old Node must be able to read', () => {
  const texts = ['dist/main.js', 'dist/cli/node-version.js'].map((path) =>
    readFileSync(join(projectFolder, path), 'utf8'),
  );

  it('have no syntax after ES2019, and import nothing else before the check', () => {
    const text = texts.join('\n');

    expect(text).not.toMatch(/\?\?|\?\.|#\w+\s*[=(]|^\s*await\b|\|\|=|&&=|\d_\d/mu);
    expect(text.match(/^import .*$/gmu)).toEqual([
      "import { nodeVersionProblem } from './cli/node-version.js';",
    ]);
  });
});
