import { describe, expect, it } from 'vitest';
import {
  findingDocument,
  findingOf,
  findingsText,
  marksFor,
} from '../../src/tools/check-finding.ts';

const place = {
  fileName: 'c.yaml',
  line: 12,
  column: 5,
  length: 3,
  sourceLine: '    abc: 1',
};
const findings = [
  findingOf('key', 'ok', 'accepted', { account: 'main' }),
  findingOf('entry', 'error', 'wrong', { place, remedy: 'do this:\n  that' }),
];

const noColor = { NO_COLOR: '1' };

describe('marksFor', () => {
  it.each([
    { isTTY: true, env: { LANG: 'en_US.UTF-8' }, mark: '✔' },
    { isTTY: true, env: { LC_ALL: 'C.utf8', LANG: 'C' }, mark: '✔' },
    { isTTY: true, env: { LC_ALL: '', LANG: 'de_DE.utf-8' }, mark: '✔' },
    { isTTY: true, env: { LC_ALL: 'C', LANG: 'en_US.UTF-8' }, mark: 'ok     ' },
    { isTTY: true, env: {}, mark: 'ok     ' },
    { isTTY: false, env: { LANG: 'en_US.UTF-8' }, mark: 'ok     ' },
    { isTTY: undefined, env: { LANG: 'en_US.UTF-8' }, mark: 'ok     ' },
  ])('marks success with $mark if it is a terminal ($isTTY) with $env', ({ isTTY, env, mark }) => {
    expect(marksFor({ isTTY }, { ...env, ...noColor }).ok).toBe(mark);
  });
});

describe('marksFor, in colour', () => {
  it.each([
    { isTTY: true, env: { LANG: 'C.UTF-8' }, mark: '\u001B[31m✖\u001B[39m' },
    { isTTY: true, env: { LANG: 'C' }, mark: '\u001B[31merror  \u001B[39m' },
    { isTTY: false, env: { FORCE_COLOR: '1' }, mark: '\u001B[31merror  \u001B[39m' },
    { isTTY: true, env: { NO_COLOR: '1' }, mark: 'error  ' },
    { isTTY: true, env: { TERM: 'dumb' }, mark: 'error  ' },
  ])('marks an error with $mark: $isTTY, $env', ({ isTTY, env, mark }) => {
    expect(marksFor({ isTTY }, env).error).toBe(mark);
  });
});

describe('findingsText', () => {
  it('numbers the findings, each with its place and its remedy below it', () => {
    expect(findingsText(findings, marksFor({ isTTY: true }, { LANG: 'UTF-8', ...noColor }))).toBe(
      [
        '1 ✔ account main: accepted',
        '2 ✖ c.yaml:12:5: wrong',
        '    12 |     abc: 1',
        '       |     ^^^',
        '    = help: do this:',
        '        that',
        '',
      ].join('\n'),
    );
  });

  it('aligns the numbers', () => {
    const many = Array.from({ length: 10 }, () => findingOf('key', 'note', 'x'));

    const lines = findingsText(many, marksFor({}, {})).split('\n');

    expect([lines[0], lines[9]]).toEqual([' 1 note    x', '10 note    x']);
  });
});

describe('findingDocument', () => {
  it('has null for what a finding does not have', () => {
    expect(findings.map(findingDocument)).toEqual([
      {
        check: 'key',
        severity: 'ok',
        account: 'main',
        file: null,
        line: null,
        column: null,
        message: 'accepted',
        remedy: null,
      },
      {
        check: 'entry',
        severity: 'error',
        account: null,
        file: 'c.yaml',
        line: 12,
        column: 5,
        message: 'wrong',
        remedy: 'do this:\n  that',
      },
    ]);
  });

  it('has no line for a finding about the file as a whole', () => {
    const whole = { ...place, line: 0, column: 0, sourceLine: undefined };

    expect(findingDocument(findingOf('file', 'error', 'empty', { place: whole }))).toMatchObject({
      line: null,
      column: null,
    });
  });
});
