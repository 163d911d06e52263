import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { comparisonText, judgementOf } from '../../../src/tools/compare/compare-text.ts';
import { aComparison, aValue, otherSeries } from './compare-bench.ts';

const everything = aComparison(
  [
    aValue('equal'),
    aValue('idle', { series: otherSeries }),
    aValue('differs', { host: 'web-1', hostIds: 1 }),
    aValue('differs', { host: 'web-2', hostIds: 2, rest: 0, nerdgraph: 1 / 3 }),
    aValue('differs', { host: 'web-3', hostIds: 1, rest: 1000, nerdgraph: 991 }),
    aValue('only REST', { host: 'web-4', hostIds: 1 }),
    aValue('only NerdGraph', { host: 'web-5' }),
    aValue('not read', { application: { id: '2', name: 'a\nb' }, host: '*' }),
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

    const text = comparisonText(accounts, judgementOf(accounts), { all: false });

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

    const few = comparisonText(accounts, judgement, { all: false });
    const all = comparisonText(accounts, judgement, { all: true });

    expect([rowsIn(few), rowsIn(all)]).toEqual([10, 1012]);
    expect(few).toContain('\nand 1,002 more that agree; --all shows them\n\nSwitching is safe: ');
    expect(all).not.toContain('--all');
  });

  it('is what docs/nerdgraph.md shows', () => {
    const document = readFileSync(new URL('../../../docs/nerdgraph.md', import.meta.url), 'utf8');
    const shown = /^\$ newrelic-exporter compare\n([\s\S]*?)^```$/mu.exec(document);
    const common = { account: 'production', application: { id: '1', name: 'shop-cart' } };
    const accounts = [
      aComparison(
        [
          aValue('equal', common),
          aValue('idle', { ...common, series: otherSeries }),
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

    const text = comparisonText(accounts, judgementOf(accounts), { all: false });

    expect(text).toBe(shown?.[1] ?? 'no example');
  });

  it('has no table without values', () => {
    const accounts = [aComparison([])];

    const text = comparisonText(accounts, judgementOf(accounts), { all: true });

    expect(text).toContain('  values        none\n');
    expect(text).not.toContain('verdict');
  });
});
