import type { PolledSeries } from '../../../src/model/polled-series.ts';
import type { ComparedAccount } from '../../../src/tools/compare/compare-account.ts';
import type { ComparedValue, Verdict } from '../../../src/tools/compare/compare-values.ts';
import { throughputSeries } from '../../support/builders.ts';

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
export const otherSeries: PolledSeries = other;

export function aValue(verdict: Verdict, overrides: Partial<ComparedValue> = {}): ComparedValue {
  return {
    account: 'main',
    application: { id: '1', name: 'shop' },
    host: undefined,
    hostIds: 0,
    series: webSeries,
    ...numbersOf[verdict],
    verdict,
    reason: verdict === 'not read' ? 'REST: status 500' : undefined,
    ...overrides,
  };
}

export function aComparison(
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
