import fc from 'fast-check';
import { expect } from 'vitest';
import { type Beginning, createAccountBench } from './account-bench.ts';
import { type AccountSetup, accountNames, keyFiles, keyValues } from './account-setup.ts';
import { courses, type Step, textOf } from './account-steps.ts';
import { traps } from './lone-answers.ts';
import { metricListNames } from './metric-lists.ts';

/** `FC_SEED` and `FC_PATH` for the run that a failure names. */
const { FC_SEED, FC_PATH } = process.env;

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
const beginnings: fc.Arbitrary<Beginning> = fc.record({
  accounts: fc
    .array(setups, { minLength: 1, maxLength: 2 })
    .map((all) => all.map((setup, at) => ({ ...setup, name: accountNames[at] ?? 'more' }))),
  keys: fc.constantFrom<[string, string][]>(
    [keyValues[0], keyValues[1]],
    [keyValues[0], keyValues[0]],
  ),
  pageSize: fc.constantFrom(3, 200),
  removedHost: fc.constantFrom('not_found', 'empty'),
  trap: fc.constantFrom(...traps),
});

/** Performs the steps; the problem, with the steps that led to it, if there is one. */
async function run(beginning: Beginning, course: readonly Step[]): Promise<string | undefined> {
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

/** Tries this many courses of events: the report on the shortest one that breaks a rule, if any does. */
export async function reportOfModel(runs: number): Promise<string | undefined> {
  const details = await fc.check(
    fc.asyncProperty(beginnings, courses, async (beginning, course) => {
      expect(await run(beginning, course)).toBeUndefined();
    }),
    { numRuns: runs, seed: Number(FC_SEED ?? 8), path: FC_PATH ?? '' },
  );
  return fc.defaultReportMessage(details);
}
