import { describe, expect, it } from 'vitest';
import type { AccountComparison } from '../../../src/tools/compare/compare-account.ts';
import { comparisonJson } from '../../../src/tools/compare/compare-json.ts';
import { judgementOf } from '../../../src/tools/compare/compare-summary.ts';
import { aComparison, aValue } from './compare-bench.ts';

function parsed(...accounts: readonly AccountComparison[]): unknown {
  return JSON.parse(comparisonJson(accounts, judgementOf(accounts)));
}

describe('the JSON of a comparison', () => {
  it('has every account and every value', () => {
    const value = aValue('differs', { host: 'web-1', hostIds: 2 });
    const compared = aComparison([value, aValue('not read')], {
      oneSided: [
        { id: '8', name: 'new', reporting: undefined, onlyIn: 'nerdgraph' },
        { id: '9', name: 'late', reporting: true, onlyIn: 'unclear' },
      ],
      renamed: [{ id: '1', rest: 'a', nerdgraph: 'b' }],
      hosts: { rest: 6, nerdgraph: 2 },
      shortOfHosts: [{ id: '1', name: 'shop', rest: 6, nerdgraph: 2 }],
    });

    expect(parsed(compared, { kind: 'not compared', account: 'other', reason: 'no id' })).toEqual({
      safe: false,
      sentence: expect.stringMatching(/^Do not switch yet: 1 of 2 values differs /u) as unknown,
      accounts: [
        {
          account: 'main',
          compared: true,
          applications: {
            rest: 1,
            nerdgraph: 1,
            only_rest: [],
            only_nerdgraph: [{ id: '8', name: 'new', reporting: null }],
            unclear: [{ id: '9', name: 'late', reporting: true }],
            renamed: [{ id: '1', rest: 'a', nerdgraph: 'b' }],
          },
          hosts: {
            rest: 6,
            nerdgraph: 2,
            short: [{ id: '1', name: 'shop', rest: 6, nerdgraph: 2 }],
          },
          calls: { rest: 526, nerdgraph: 4 },
          seconds: { rest: 39.6, nerdgraph: 0.2 },
          verdicts: {
            equal: 0,
            idle: 0,
            differs: 1,
            only_rest: 0,
            only_nerdgraph: 0,
            not_read: 1,
          },
        },
        { account: 'other', compared: false, reason: 'no id' },
      ],
      values: [
        {
          account: 'main',
          app_id: '1',
          app_name: 'shop',
          host_name: 'web-1',
          rest_host_ids: 2,
          metric: 'newrelic_application_host_requests_per_minute',
          transaction_type: 'web',
          labels: {},
          rest: 100,
          nerdgraph: 112,
          difference: 12,
          verdict: 'differs',
          reason: null,
        },
        {
          account: 'main',
          app_id: '1',
          app_name: 'shop',
          host_name: null,
          rest_host_ids: 0,
          metric: 'newrelic_application_requests_per_minute',
          transaction_type: 'web',
          labels: {},
          rest: null,
          nerdgraph: 3,
          difference: null,
          verdict: 'not_read',
          reason: 'REST: status 500',
        },
      ],
    });
  });

  it.each([
    { safe: true, values: [aValue('equal')] },
    { safe: null, values: [aValue('not read')] },
  ])('says whether switching is safe: $safe', ({ safe, values }) => {
    expect(parsed(aComparison(values))).toMatchObject({ safe });
  });
});
