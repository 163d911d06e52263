import { describe, expect, it } from 'vitest';
import type { TestModule, Vitest } from 'vitest/node';
import { createLeftOutReporter, leftOutOf, tableOf } from './left-out-reporter.ts';
import { testGroups } from './test-groups.ts';
import { toolOrSkip } from './tools.ts';

const { note } = toolOrSkip('promtool', {});
const notAsked = testGroups.filter(({ name }) => name === 'long');

/** Runs the reporter as Vitest does; what it printed. */
function printed(run: {
  readonly projects: readonly string[];
  readonly skipped?: readonly string[];
  readonly testNamePattern?: RegExp;
}): string {
  const { projects, skipped = [], testNamePattern } = run;
  const lines: string[] = [];
  const vitest = {
    projects: projects.map((name) => ({ name })),
    config: { testNamePattern },
    logger: { log: (line: string) => lines.push(line) },
  };
  const module = {
    children: {
      allTests: () =>
        skipped.map((fullName) => ({ fullName, result: () => ({ state: 'skipped' }) })),
    },
  };
  const reporter = createLeftOutReporter();
  reporter.onInit?.(vitest as unknown as Vitest);
  void reporter.onTestRunEnd?.([module as unknown as TestModule], [], 'passed');
  return lines.join('\n');
}

describe('leftOutOf', () => {
  it('names a group that was not asked for, and the command that runs it', () => {
    expect(leftOutOf(notAsked, [])).toEqual([
      {
        tests: 'group "long"',
        why: expect.stringContaining('*.long.test.ts') as string,
        how: 'npm run test:all',
      },
    ]);
  });

  it('counts the tests that were skipped for one reason', () => {
    const skipped = [
      { fullName: `rules${note} > one`, note: undefined },
      { fullName: 'IPv6 > works', note: 'this machine has no IPv6' },
      { fullName: `rules${note} > two`, note: undefined },
      { fullName: 'something', note: undefined },
    ];

    expect(leftOutOf([], skipped)).toEqual([
      {
        tests: '2 skipped tests',
        why: 'promtool is not in PATH',
        how: 'apt-get install prometheus',
      },
      { tests: '1 skipped test', why: 'this machine has no IPv6', how: '' },
      { tests: '1 skipped test', why: 'they do not say why', how: '' },
    ]);
  });
});

describe('tableOf', () => {
  it('is nothing for nothing', () => {
    expect(tableOf([])).toBe('');
  });

  it('has a heading and columns', () => {
    const rows = [
      { tests: '1 skipped test', why: 'no', how: 'do this' },
      { tests: 'group "long"', why: 'too long', how: '' },
    ];

    expect(tableOf(rows)).toBe(
      [
        '',
        ' did not run     why       how to run them',
        ' 1 skipped test  no        do this',
        ' group "long"    too long',
        '',
      ].join('\n'),
    );
  });
});

describe('the reporter', () => {
  it('says what "npm test" leaves out', () => {
    const text = printed({ projects: ['quick'] });

    expect(text).toContain('group "long"');
    expect(text).toContain('group "programs"');
    expect(text).not.toContain('skipped');
  });

  it('says what was skipped', () => {
    const text = printed({ projects: testGroups.map(({ name }) => name), skipped: [`a${note}`] });

    expect(text).toContain('1 skipped test');
    expect(text).not.toContain('group');
  });

  it('is silent when everything ran', () => {
    expect(printed({ projects: testGroups.map(({ name }) => name) })).toBe('');
  });

  it('does not count the tests that -t leaves out', () => {
    const projects = testGroups.map(({ name }) => name);

    expect(printed({ projects, skipped: ['a', 'b'], testNamePattern: /c/u })).toBe('');
  });
});
