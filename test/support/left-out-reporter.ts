import type { Reporter, TestCase, Vitest } from 'vitest/node';
import { type TestGroup, testGroups } from './test-groups.ts';
import { noteIn } from './tools.ts';

/** Tests that did not run, for one reason. */
export interface LeftOut {
  readonly tests: string;
  readonly why: string;
  /** The command that makes them run. */
  readonly how: string;
}

/** A skipped test, as far as it matters here. */
export interface Skipped {
  readonly fullName: string;
  /** What the test itself said when it skipped. */
  readonly note: string | undefined;
}

const unknown = { why: 'they do not say why', how: '' };

/** One row for each group that was not asked for, then one for each reason to skip. */
export function leftOutOf(
  groups: readonly TestGroup[],
  skipped: readonly Skipped[],
): readonly LeftOut[] {
  const counts = new Map<string, number>();
  for (const { fullName, note } of skipped) {
    const { why, how } =
      noteIn(fullName) ?? (note === undefined ? unknown : { why: note, how: '' });
    const key = JSON.stringify([why, how]);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [
    ...groups.map(({ name, what }) => ({
      tests: `group "${name}"`,
      why: what,
      how: 'npm run test:all',
    })),
    ...[...counts].map(([key, count]) => {
      const [why, how] = JSON.parse(key) as readonly [string, string];
      return { tests: count === 1 ? '1 skipped test' : `${count} skipped tests`, why, how };
    }),
  ];
}

/** The rows in columns, under a heading; nothing for nothing. */
export function tableOf(rows: readonly LeftOut[]): string {
  if (rows.length === 0) return '';
  const all = [{ tests: 'did not run', why: 'why', how: 'how to run them' }, ...rows];
  const testsWidth = Math.max(...all.map(({ tests }) => tests.length));
  const whyWidth = Math.max(...all.map(({ why }) => why.length));
  const lines = all.map(({ tests, why, how }) =>
    ` ${tests.padEnd(testsWidth)}  ${why.padEnd(whyWidth)}  ${how}`.trimEnd(),
  );
  return `\n${lines.join('\n')}\n`;
}

function skippedOf(test: TestCase): Skipped {
  const result = test.result();
  return {
    fullName: test.fullName,
    note: result.state === 'skipped' ? result.note : undefined,
  };
}

/** Says at the end of a run which tests did not run, why, and what to do about it. */
export function createLeftOutReporter(): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit: (started) => {
      vitest = started;
    },
    onTestRunEnd: (modules) => {
      if (vitest === undefined) return;
      const names = new Set(vitest.projects.map(({ name }) => name));
      // With -t all other tests count as skipped.
      const isByName = vitest.config.testNamePattern !== undefined;
      const skipped = isByName
        ? []
        : modules.flatMap(({ children }) => [...children.allTests('skipped')].map(skippedOf));
      const table = tableOf(
        leftOutOf(
          testGroups.filter(({ name }) => !names.has(name)),
          skipped,
        ),
      );
      if (table !== '') vitest.logger.log(table);
    },
  };
}
