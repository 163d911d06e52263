import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PolledSeries } from '../../../src/model/polled-series.ts';
import type {
  AccountComparison,
  ComparedAccount,
  OneSidedApplication,
} from '../../../src/tools/compare/compare-account.ts';
import { comparisonText, judgementOf } from '../../../src/tools/compare/compare-text.ts';
import {
  type ComparedValue,
  type Verdict,
  verdicts,
} from '../../../src/tools/compare/compare-values.ts';
import { anApplication, throughputSeries } from '../../support/builders.ts';

const numbersOf: Readonly<Record<Verdict, Pick<ComparedValue, 'rest' | 'nerdgraph'>>> = {
  equal: { rest: 812, nerdgraph: 812.4 },
  idle: { rest: 0, nerdgraph: undefined },
  differs: { rest: 100, nerdgraph: 112 },
  'only REST': { rest: 5, nerdgraph: undefined },
  'only NerdGraph': { rest: undefined, nerdgraph: 7.5 },
  'not read': { rest: undefined, nerdgraph: 3 },
};

const [web, other] = throughputSeries;
if (web === undefined || other === undefined) throw new Error('throughput has two series');

const webSeries: PolledSeries = web;

function aValue(verdict: Verdict, overrides: Partial<ComparedValue> = {}): ComparedValue {
  return {
    account: 'main',
    application: anApplication(),
    host: undefined,
    hostIds: 0,
    series: webSeries,
    ...numbersOf[verdict],
    verdict,
    reason: verdict === 'not read' ? 'REST: status 500' : undefined,
    ...overrides,
  };
}

function aComparison(
  values: readonly ComparedValue[],
  overrides: Partial<ComparedAccount> = {},
): ComparedAccount {
  return {
    kind: 'compared',
    account: 'main',
    applications: { rest: 1, nerdgraph: 1 },
    oneSided: [],
    renamed: [],
    asksForApplications: true,
    hosts: { rest: 0, nerdgraph: 0 },
    shortOfHosts: [],
    calls: { rest: 526, nerdgraph: 4 },
    elapsedMs: { rest: 39_600, nerdgraph: 200 },
    values,
    ...overrides,
  };
}

function valuesOf(counts: Partial<Record<Verdict, number>>): AccountComparison {
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

const everything = aComparison(
  [
    aValue('equal'),
    aValue('idle', { series: other }),
    aValue('differs', { host: 'web-1', hostIds: 1 }),
    aValue('differs', { host: 'web-2', hostIds: 2, rest: 0, nerdgraph: 1 / 3 }),
    aValue('differs', { host: 'web-3', hostIds: 1, rest: 1000, nerdgraph: 991 }),
    aValue('only REST', { host: 'web-4', hostIds: 1 }),
    aValue('only NerdGraph', { host: 'web-5' }),
    aValue('not read', { application: anApplication({ id: '2', name: 'a\nb' }), host: '*' }),
  ],
  {
    applications: { rest: 4, nerdgraph: 3 },
    hosts: { rest: 506, nerdgraph: 500 },
    shortOfHosts: [{ id: '2', name: 'a\nb', rest: 6, nerdgraph: 0 }],
    oneSided: [
      { id: '7', name: 'old', reporting: false, onlyIn: 'rest' },
      { id: '8', name: 'new', reporting: true, onlyIn: 'nerdgraph' },
      { id: '9', name: 'late', reporting: undefined, onlyIn: 'unclear' },
    ],
    renamed: [{ id: '2', rest: 'a\nb', nerdgraph: 'c' }],
  },
);

describe('the text of a comparison', () => {
  it('has the accounts, first what matters in the table, and one sentence', () => {
    const accounts = [
      everything,
      { kind: 'not compared' as const, account: 'other', reason: 'no id' },
    ];

    const text = comparisonText(accounts, judgementOf(accounts), false);

    expect(text).toBe(`account main
  applications    REST 4, NerdGraph 3
  only REST       7 old, not reporting
  only NerdGraph  8 new
  not found yet   9 late
  other name      2: REST a\\u{a}b, NerdGraph c
  hosts           REST 506, NerdGraph 500
  few hosts       2 a\\u{a}b: REST 6, NerdGraph 0
  values          1 equal, 1 idle, 3 differs, 1 only REST, 1 only NerdGraph, 1 not read
  calls           REST 526, NerdGraph 4
  time            REST 40 s, NerdGraph 1 s

account  application  host           value                      REST  NerdGraph  difference  verdict
main     shop         web-1          requests_per_minute web     100        112  +12 (12 %)  differs
main     shop         web-2 (2 ids)  requests_per_minute web       0   0.333333   +0.333333  differs
main     shop         web-3          requests_per_minute web    1000        991  -9 (0.9 %)  differs
main     shop         web-4          requests_per_minute web       5          -           -  only REST
main     shop         web-5          requests_per_minute web       -        7.5           -  only NerdGraph
main     a\\u{a}b      all hosts      requests_per_minute web       -          3           -  not read: REST: status 500
main     shop         -              requests_per_minute web     812      812.4           -  equal
main     shop         -              requests_per_minute other     0          -           -  idle

Do not switch yet: 3 of 8 values differ (the largest by 100 %), 1 is only in REST, 1 is only in NerdGraph, 1 reporting application is only in the list of NerdGraph; see the rows marked differs, only REST, only NerdGraph.
`);
  });

  it('shows ten values that agree, and with --all the rest', () => {
    const accounts = [aComparison(Array.from({ length: 1012 }, () => aValue('equal')))];
    const judgement = judgementOf(accounts);
    const rowsIn = (text: string): number => text.match(/^main .* equal$/gmu)?.length ?? 0;

    const few = comparisonText(accounts, judgement, false);
    const all = comparisonText(accounts, judgement, true);

    expect([rowsIn(few), rowsIn(all)]).toEqual([10, 1012]);
    expect(few).toContain('\nand 1,002 more that agree; --all shows them\n\nSwitching is safe: ');
    expect(all).not.toContain('--all');
  });

  it('is what docs/nerdgraph.md shows', () => {
    const document = readFileSync(new URL('../../../docs/nerdgraph.md', import.meta.url), 'utf8');
    const shown = /^\$ newrelic-exporter compare\n([\s\S]*?)^```$/mu.exec(document);
    const common = { account: 'production', application: anApplication({ name: 'shop-cart' }) };
    const accounts = [
      aComparison(
        [
          aValue('equal', common),
          aValue('idle', { ...common, series: other }),
          aValue('differs', { ...common, host: 'web-1', hostIds: 2, rest: 106, nerdgraph: 118 }),
          aValue('equal', { ...common, host: 'web-2', rest: 406, nerdgraph: 12_188 / 30 }),
          aValue('equal', { ...common, host: 'web-3', rest: 301, nerdgraph: 9016 / 30 }),
        ],
        {
          account: 'production',
          applications: { rest: 26, nerdgraph: 25 },
          hosts: { rest: 500, nerdgraph: 500 },
          oneSided: [{ id: '31584797', name: 'shop-old', reporting: false, onlyIn: 'rest' }],
          calls: { rest: 551, nerdgraph: 3 },
          elapsedMs: { rest: 42_000, nerdgraph: 2000 },
        },
      ),
    ];

    const text = comparisonText(accounts, judgementOf(accounts), false);

    expect(text).toBe(shown?.[1] ?? 'no example');
  });

  it('has no table without values', () => {
    const accounts = [aComparison([])];

    const text = comparisonText(accounts, judgementOf(accounts), true);

    expect(text).toContain('  values        none\n');
    expect(text).not.toContain('verdict');
  });
});

type JudgementRow = readonly [accounts: readonly AccountComparison[], reason: string];

describe('the last sentence', () => {
  it.each<JudgementRow>([
    [[valuesOf({ equal: 1204 })], "1,204 of 1,204 values agree within REST's rounding"],
    [
      [valuesOf({ equal: 2, idle: 2 }), valuesOf({ equal: 1 })],
      "3 of 5 values agree within REST's rounding; 2 are 0 on one side and absent on the other",
    ],
    [
      [valuesOf({ equal: 1, idle: 1 })],
      "1 of 2 values agree within REST's rounding; 1 is 0 on one side and absent on the other",
    ],
    [[ofHosts({})], "2 of 2 values agree within REST's rounding"],
    [
      [ofHosts({ asksForApplications: false }, aValue('idle'))],
      "1 of 2 values agree within REST's rounding; 1 is 0 on one side and absent on the other",
    ],
    [[listing({ reporting: false })], "1 of 1 value agrees within REST's rounding"],
  ])('says that switching is safe: %#', (accounts, reason) => {
    expect(judgementOf(accounts)).toEqual({
      safe: 'yes',
      sentence: `Switching is safe: ${reason}.`,
    });
  });

  it.each<JudgementRow>([
    [
      [valuesOf({ equal: 1201, differs: 3 })],
      '3 of 1,204 values differ (the largest by 12 %); see the rows marked differs',
    ],
    [[valuesOf({ differs: 1 })], '1 of 1 value differs (by 12 %); see the rows marked differs'],
    [
      [valuesOf({ differs: 2, 'only REST': 1, 'only NerdGraph': 2, 'not read': 1 }), uncompared],
      '2 of 6 values differ (the largest by 12 %), 1 is only in REST, 2 are only in NerdGraph; see the rows marked differs, only REST, only NerdGraph',
    ],
    [
      [valuesOf({ equal: 1, 'only REST': 1 })],
      '1 of 2 values is only in REST; see the rows marked only REST',
    ],
    [
      [listing({}, { onlyIn: 'nerdgraph' }, { onlyIn: 'nerdgraph', reporting: undefined })],
      '1 reporting application is only in the list of REST, 2 reporting applications are only in the list of NerdGraph',
    ],
  ])('says what speaks against it: %#', (accounts, reason) => {
    expect(judgementOf(accounts)).toEqual({
      safe: 'no',
      sentence: `Do not switch yet: ${reason}.`,
    });
  });

  it.each<JudgementRow>([
    [[valuesOf({ equal: 3, 'not read': 2 })], '2 of 5 values could not be read'],
    [[valuesOf({ equal: 3 }), uncompared], '1 of 2 accounts could not be compared'],
    [
      [listing({ onlyIn: 'unclear' })],
      'New Relic has not said whether 1 application of one list exists',
    ],
    [
      [valuesOf({}), valuesOf({ equal: 1 })],
      'neither REST nor NerdGraph has values of what the entries select in account main',
    ],
    [
      [
        valuesOf({ equal: 1 }),
        aComparison(
          [aValue('idle'), aValue('equal', zero), aValue('equal', { rest: 0.005, nerdgraph: 0 })],
          { account: 'quiet' },
        ),
      ],
      'nothing was busy in account quiet: run compare again while there is traffic',
    ],
    [
      [aComparison([aValue('idle', { host: 'web-1' })], { asksForApplications: false })],
      'nothing was busy in account main: run compare again while there is traffic',
    ],
    [
      [ofHosts({}, aValue('equal'), zero)],
      'no host was busy in account main: run compare again while there is traffic',
    ],
    [
      [ofHosts({}, aValue('idle'))],
      'no application was busy in account main: run compare again while there is traffic',
    ],
    [
      [
        ofHosts({ shortOfHosts: [{ id: '1', name: 'shop', rest: 6, nerdgraph: 2 }] }),
        valuesOf({ idle: 1 }),
      ],
      'NerdGraph has fewer than half of the hosts of 1 application, nothing was busy in account main: run compare again while there is traffic',
    ],
  ])('says why it cannot be judged: %#', (accounts, reason) => {
    expect(judgementOf(accounts)).toEqual({
      safe: 'unknown',
      sentence: `Switching cannot be judged: ${reason}.`,
    });
  });
});
