import { describe, expect, it } from 'vitest';
import type {
  AccountComparison,
  ComparedAccount,
  OneSidedApplication,
} from '../../../src/tools/compare/compare-account.ts';
import { type Judgement, judgementOf } from '../../../src/tools/compare/compare-text.ts';
import type { ComparedValue, Verdict } from '../../../src/tools/compare/compare-values.ts';
import { aComparison, aValue } from './compare-bench.ts';

function valuesOf(counts: Partial<Record<Verdict, number>>): AccountComparison {
  const verdicts: readonly Verdict[] = [
    'equal',
    'idle',
    'differs',
    'only REST',
    'only NerdGraph',
    'not read',
  ];
  return aComparison(
    verdicts.flatMap((verdict) =>
      Array.from({ length: counts[verdict] ?? 0 }, () => aValue(verdict)),
    ),
  );
}

/** One value of the application and one of its host, both busy unless they are replaced. */
function ofHosts(
  overrides: Partial<ComparedAccount>,
  application: ComparedValue = aValue('equal'),
  host: Partial<ComparedValue> = {},
): AccountComparison {
  const ofHost = aValue('equal', { host: 'web-1', ...host });
  return aComparison([application, ofHost], { hosts: { rest: 1, nerdgraph: 1 }, ...overrides });
}

const zero = { rest: 0, nerdgraph: 0 };

function listing(...oneSided: readonly Partial<OneSidedApplication>[]): AccountComparison {
  return aComparison([aValue('equal')], {
    oneSided: oneSided.map((one) => ({
      id: '9',
      name: 'old',
      reporting: true,
      onlyIn: 'rest',
      ...one,
    })),
  });
}

const uncompared: AccountComparison = { kind: 'not compared', account: 'other', reason: 'no id' };

describe('the last sentence', () => {
  const good = valuesOf({ equal: 1 });
  const quiet = aComparison(
    [aValue('idle'), aValue('equal', zero), aValue('equal', { rest: 0.005, nerdgraph: 0 })],
    { account: 'quiet' },
  );
  const onlyIdleHosts = aComparison([aValue('idle', { host: 'web-1' })], {
    asksForApplications: false,
  });
  const fewHosts = ofHosts({ shortOfHosts: [{ id: '1', name: 'shop', rest: 6, nerdgraph: 2 }] });
  const twoMore: readonly Partial<OneSidedApplication>[] = [
    {},
    { onlyIn: 'nerdgraph' },
    { onlyIn: 'nerdgraph', reporting: undefined },
  ];

  /** The accounts, the verdict, and the facts that its sentence has. */
  const cases: readonly (readonly [readonly AccountComparison[], string, readonly string[]])[] = [
    [[valuesOf({ equal: 1204 })], 'yes', ['1,204 of 1,204 values']],
    [[valuesOf({ equal: 2, idle: 2 }), good], 'yes', ['5 of 5 values', '2 of them are 0 on one']],
    [[valuesOf({ equal: 1, idle: 1 })], 'yes', ['2 of 2 values', '1 of them is 0 on one']],
    [[ofHosts({})], 'yes', ['2 of 2 values']],
    [[ofHosts({ asksForApplications: false }, aValue('idle'))], 'yes', ['1 of them is 0']],
    [[listing({ reporting: false })], 'yes', ['1 of 1 value agrees']],
    [[valuesOf({ equal: 1201, differs: 3 })], 'no', ['3 of 1,204 values differ', 'by 12 %']],
    [[valuesOf({ differs: 1 })], 'no', ['1 of 1 value differs (by 12 %)', 'marked differs']],
    [
      [valuesOf({ differs: 2, 'only REST': 1, 'only NerdGraph': 2, 'not read': 1 }), uncompared],
      'no',
      ['2 of 6', '1 is only in REST', '2 are only in NerdGraph', 'differs, only REST, only NerdG'],
    ],
    [[valuesOf({ equal: 1, 'only REST': 1 })], 'no', ['1 of 2 values is only in REST']],
    [
      [listing(...twoMore)],
      'no',
      ['1 reporting application is', 'REST', '2 reporting applications are', 'NerdGraph'],
    ],
    [[valuesOf({ equal: 3, 'not read': 2 })], 'unknown', ['2 of 5 values could not be read']],
    [[valuesOf({ equal: 3 }), uncompared], 'unknown', ['1 of 2 accounts']],
    [[listing({ onlyIn: 'unclear' })], 'unknown', ['1 application of one list']],
    [[valuesOf({}), good], 'unknown', ['neither REST nor NerdGraph', 'account main']],
    [[good, quiet], 'unknown', ['nothing was busy in account quiet', 'again']],
    [[onlyIdleHosts], 'unknown', ['nothing was busy in account main']],
    [[ofHosts({}, aValue('equal'), zero)], 'unknown', ['no host was busy in account main']],
    [[ofHosts({}, aValue('idle'))], 'unknown', ['no application was busy in account main']],
    [
      [fewHosts, valuesOf({ idle: 1 })],
      'unknown',
      ['fewer than half of the hosts of 1 application', 'nothing was busy'],
    ],
  ];

  it.each(cases.map(([accounts, safe, facts]) => ({ accounts, safe, facts })))(
    'is $safe and says $facts',
    ({ accounts, safe, facts }) => {
      const judgement = judgementOf(accounts);

      expect(judgement.safe).toBe(safe);
      for (const fact of facts) expect(judgement.sentence).toContain(fact);
    },
  );
});
