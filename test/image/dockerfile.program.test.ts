import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder } from '../docs/documents.ts';
import { goToolOrSkip } from '../support/go-tool.ts';

const file = join(projectFolder, 'Dockerfile');
const linter = goToolOrSkip('dockerfile-utils');

describe('the Dockerfile', () => {
  it('has bases of fixed tags, and no variable for a secret', () => {
    const text = readFileSync(file, 'utf8');
    const bases = [...text.matchAll(/^ARG \w+_IMAGE=(\S+)$/gmu)].map(([, base]) => base);

    expect(bases).toHaveLength(2);
    expect(bases.filter((base) => !/:(?!latest)[\w.-]+$/u.test(base ?? ''))).toEqual([]);
    expect(text).not.toMatch(/^(?:ARG|ENV) .*(?:KEY|TOKEN|PASSWORD|SECRET)/mu);
  });

  it.skipIf(linter.skip)(`has nothing for dockerfile-utils to find${linter.note}`, () => {
    expect(execFileSync(linter.path, ['lint', file], { encoding: 'utf8' })).toBe('');
  });
});
