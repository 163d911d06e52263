import fc from 'fast-check';
import { type Beginning, createAccountBench } from './account-bench.ts';
import { type AccountSetup, accountNames, keyFiles, keyValues } from './account-setup.ts';
import { courses, coursesOfShards, coursesOfSources, type Step, textOf } from './account-steps.ts';
import { traps } from './lone-answers.ts';
import { metricListNames } from './metric-lists.ts';

/** `FC_SEED` and `FC_PATH` for the run that a failure names; `FC_SHRINK=no` to be told of it at once. */
const { FC_SEED, FC_PATH, FC_SHRINK } = process.env;

const setups: fc.Arbitrary<AccountSetup> = fc.record({
  name: fc.constant(accountNames[0]),
  keyFile: fc.constantFrom(...keyFiles),
  requestsPerMinute: fc.constantFrom(20, 40, 60, 120, 300),
  concurrency: fc.constantFrom(1, 2, 4, 8),
  wants: fc.constantFrom('all', 'all', 'even', 'odd', 'ids'),
  label: fc.constant('x'),
  hosts: fc.constantFrom('all', 'all', 'all', 'none', 'self', 'self', 'match', 'match'),
  application: fc.constantFrom(true, true, false),
  hostNames: fc.boolean(),
  intervalMs: fc.constantFrom(30_000, 60_000, 60_000, 120_000),
  windowMs: fc.constant(300_000),
  staleAfterMs: fc.constantFrom(300_000, 900_000),
  metrics: fc.constantFrom(...metricListNames),
});
function named(all: readonly AccountSetup[]): readonly AccountSetup[] {
  return all.map((setup, at) => ({ ...setup, name: accountNames[at] ?? 'more' }));
}

const beginnings: fc.Arbitrary<Beginning> = fc.record({
  accounts: fc.array(setups, { minLength: 1, maxLength: 2 }).map(named),
  keys: fc.constantFrom<[string, string][]>(
    [keyValues[0], keyValues[1]],
    [keyValues[0], keyValues[0]],
  ),
  pageSize: fc.constantFrom(3, 200),
  removedHost: fc.constantFrom('not_found', 'empty'),
  trap: fc.constantFrom(...traps),
});

/** Each part of a budget is enough for what a discovery takes. */
const budgetsOfShards = [60, 120, 300] as const;
const beginningsOfShards = fc
  .record({
    beginning: beginnings,
    budgets: fc.tuple(fc.constantFrom(...budgetsOfShards), fc.constantFrom(...budgetsOfShards)),
    oddMetrics: fc.constantFrom(undefined, 'usual' as const),
    shards: fc.constantFrom(2, 2, 3),
  })
  .map(
    ({ beginning, budgets, oddMetrics, shards }): Beginning => ({
      ...beginning,
      shards,
      accounts: beginning.accounts.map((setup, at) => ({
        ...setup,
        requestsPerMinute: budgets[at] ?? 60,
        ...(oddMetrics && { oddMetrics }),
      })),
    }),
  );

/** Both sources have what is read, and say the same of it. */
const beginningsOfSources = beginnings.map(
  (beginning): Beginning => ({
    ...beginning,
    trap: 'none',
    accounts: beginning.accounts.map((setup) => ({
      ...setup,
      metrics: 'usual',
      application: true,
      wants: setup.wants === 'ids' ? 'all' : setup.wants,
      hosts: setup.hosts === 'none' ? 'none' : 'all',
    })),
  }),
);

/** Performs the steps; the problem, with the steps that led to it, if there is one. */
export async function problemOf(
  beginning: Beginning,
  course: readonly Step[],
): Promise<string | undefined> {
  const bench = await createAccountBench(beginning);
  const lines: string[] = [];
  for (const step of course) {
    lines.push(`${(bench.nowMs() / 1000).toFixed(0).padStart(7)} s  ${textOf(step)}`);
    await bench.perform(step);
    if (bench.problems.length > 0) break;
  }
  if (bench.problems.length === 0) {
    lines.push(`${(bench.nowMs() / 1000).toFixed(0).padStart(7)} s  (calm, to the end)`);
    await bench.finish();
  }
  const atSeconds = bench.nowMs() / 1000;
  await bench.stop();
  if (bench.problems.length === 0) return undefined;
  return ['', ...lines, `${atSeconds.toFixed(0).padStart(7)} s  problems:`, ...bench.problems].join(
    '\n',
  );
}

/** What may happen, from the beginning on. */
export interface Situations {
  readonly beginnings: fc.Arbitrary<Beginning>;
  readonly courses: fc.Arbitrary<readonly Step[]>;
}

const oneDaemon: Situations = { beginnings, courses };
export const shards: Situations = { beginnings: beginningsOfShards, courses: coursesOfShards };
export const switchedSources: Situations = {
  beginnings: beginningsOfSources,
  courses: coursesOfSources,
};

/** Tries this many courses of events: the report on the shortest one that breaks a rule, if any does. */
export async function reportOfModel(
  runs: number,
  situations: Situations = oneDaemon,
): Promise<string | undefined> {
  const details = await fc.check(
    fc.asyncProperty(situations.beginnings, situations.courses, async (beginning, course) => {
      const problem = await problemOf(beginning, course);
      if (problem !== undefined) throw new Error(problem);
    }),
    {
      numRuns: runs,
      seed: Number(FC_SEED ?? 8),
      path: FC_PATH ?? '',
      includeErrorInReport: true,
      endOnFailure: FC_SHRINK === 'no',
    },
  );
  return fc.defaultReportMessage(details);
}
