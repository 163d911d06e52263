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
  it.each<Judgement & { accounts: readonly AccountComparison[] }>([
    {
      accounts: [valuesOf({ equal: 1204 })],
      safe: 'yes',
      sentence: "Switching is safe: 1,204 of 1,204 values agree within REST's rounding.",
    },
    {
      accounts: [valuesOf({ equal: 2, idle: 2 }), valuesOf({ equal: 1 })],
      safe: 'yes',
      sentence:
        "Switching is safe: 3 of 5 values agree within REST's rounding; 2 are 0 on one side and absent on the other.",
    },
    {
      accounts: [valuesOf({ equal: 1, idle: 1 })],
      safe: 'yes',
      sentence:
        "Switching is safe: 1 of 2 values agree within REST's rounding; 1 is 0 on one side and absent on the other.",
    },
    {
      accounts: [ofHosts({})],
      safe: 'yes',
      sentence: "Switching is safe: 2 of 2 values agree within REST's rounding.",
    },
    {
      accounts: [ofHosts({ asksForApplications: false }, aValue('idle'))],
      safe: 'yes',
      sentence:
        "Switching is safe: 1 of 2 values agree within REST's rounding; 1 is 0 on one side and absent on the other.",
    },
    {
      accounts: [listing({ reporting: false })],
      safe: 'yes',
      sentence: "Switching is safe: 1 of 1 value agrees within REST's rounding.",
    },
    {
      accounts: [valuesOf({ equal: 1201, differs: 3 })],
      safe: 'no',
      sentence:
        'Do not switch yet: 3 of 1,204 values differ (the largest by 12 %); see the rows marked differs.',
    },
    {
      accounts: [valuesOf({ differs: 1 })],
      safe: 'no',
      sentence: 'Do not switch yet: 1 of 1 value differs (by 12 %); see the rows marked differs.',
    },
    {
      accounts: [
        valuesOf({ differs: 2, 'only REST': 1, 'only NerdGraph': 2, 'not read': 1 }),
        uncompared,
      ],
      safe: 'no',
      sentence:
        'Do not switch yet: 2 of 6 values differ (the largest by 12 %), 1 is only in REST, 2 are only in NerdGraph; see the rows marked differs, only REST, only NerdGraph.',
    },
    {
      accounts: [valuesOf({ equal: 1, 'only REST': 1 })],
      safe: 'no',
      sentence: 'Do not switch yet: 1 of 2 values is only in REST; see the rows marked only REST.',
    },
    {
      accounts: [
        listing({}, { onlyIn: 'nerdgraph' }, { onlyIn: 'nerdgraph', reporting: undefined }),
      ],
      safe: 'no',
      sentence:
        'Do not switch yet: 1 reporting application is only in the list of REST, 2 reporting applications are only in the list of NerdGraph.',
    },
    {
      accounts: [valuesOf({ equal: 3, 'not read': 2 })],
      safe: 'unknown',
      sentence: 'Switching cannot be judged: 2 of 5 values could not be read.',
    },
    {
      accounts: [valuesOf({ equal: 3 }), uncompared],
      safe: 'unknown',
      sentence: 'Switching cannot be judged: 1 of 2 accounts could not be compared.',
    },
    {
      accounts: [listing({ onlyIn: 'unclear' })],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: New Relic has not said whether 1 application of one list exists.',
    },
    {
      accounts: [valuesOf({}), valuesOf({ equal: 1 })],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: neither REST nor NerdGraph has values of what the entries select in account main.',
    },
    {
      accounts: [
        valuesOf({ equal: 1 }),
        aComparison(
          [aValue('idle'), aValue('equal', zero), aValue('equal', { rest: 0.005, nerdgraph: 0 })],
          { account: 'quiet' },
        ),
      ],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: nothing was busy in account quiet: run compare again while there is traffic.',
    },
    {
      accounts: [aComparison([aValue('idle', { host: 'web-1' })], { asksForApplications: false })],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: nothing was busy in account main: run compare again while there is traffic.',
    },
    {
      accounts: [ofHosts({}, aValue('equal'), zero)],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: no host was busy in account main: run compare again while there is traffic.',
    },
    {
      accounts: [ofHosts({}, aValue('idle'))],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: no application was busy in account main: run compare again while there is traffic.',
    },
    {
      accounts: [
        ofHosts({ shortOfHosts: [{ id: '1', name: 'shop', rest: 6, nerdgraph: 2 }] }),
        valuesOf({ idle: 1 }),
      ],
      safe: 'unknown',
      sentence:
        'Switching cannot be judged: NerdGraph has fewer than half of the hosts of 1 application, nothing was busy in account main: run compare again while there is traffic.',
    },
  ])('is: $sentence', ({ accounts, ...judgement }) => {
    expect(judgementOf(accounts)).toEqual(judgement);
  });
});
