import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder } from '../docs/documents.ts';
import { goToolOrSkip } from '../support/go-tool.ts';
import { dockerfileProblems } from './dockerfile-rules.ts';

const file = join(projectFolder, 'Dockerfile');
const linter = goToolOrSkip('dockerfile-utils');

const good = [
  'ARG BASE=example.org/base:1.2',
  'FROM ${BASE}',
  'LABEL a=b',
  'USER 65532:65532',
  'EXPOSE 9126',
  'HEALTHCHECK --interval=30s CMD ["/node"]',
  'ENTRYPOINT ["/node"]',
  '',
].join('\n');

describe('the Dockerfile', () => {
  it('keeps our rules', () => {
    expect(dockerfileProblems(readFileSync(file, 'utf8'))).toStrictEqual([]);
  });

  it.each([
    { from: 'USER 65532:65532', to: 'USER nonroot', problem: 'USER nonroot: not numeric, or root' },
    { from: 'USER 65532:65532', to: 'USER 0:0', problem: 'USER 0:0: not numeric, or root' },
    { from: 'base:1.2', to: 'base', problem: 'ARG BASE: no fixed tag' },
    { from: 'base:1.2', to: 'base:latest', problem: 'ARG BASE: no fixed tag' },
    { from: '${BASE}', to: 'alpine:3', problem: 'FROM alpine:3: the base is no build argument' },
    {
      from: 'ENTRYPOINT ["/node"]',
      to: 'ENTRYPOINT /node',
      problem: 'ENTRYPOINT: not the exec form',
    },
    { from: 'CMD ["/node"]', to: 'CMD /node', problem: 'HEALTHCHECK: not the exec form' },
    { from: 'LABEL a=b', to: 'RUN true', problem: 'RUN: the final image has no shell' },
    { from: 'LABEL a=b', to: 'ADD a b', problem: 'ADD: COPY says what it does' },
    {
      from: 'LABEL a=b',
      to: 'ENV API_KEY=x',
      problem: 'ENV API_KEY=: a secret stays in the image',
    },
    { from: 'EXPOSE 9126', to: '', problem: 'no EXPOSE' },
  ])('would not pass with "$to"', ({ from, to, problem }) => {
    expect(dockerfileProblems(good)).toStrictEqual([]);
    expect(dockerfileProblems(good.replace(from, to))).toContain(problem);
  });

  it.skipIf(linter.skip)(`has nothing for dockerfile-utils to find${linter.note}`, () => {
    expect(execFileSync(linter.path, ['lint', file], { encoding: 'utf8' })).toBe('');
  });
});
