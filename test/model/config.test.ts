import { describe, expect, it } from 'vitest';
import { type AccountConfig, budgetIdOf, quotaOf } from '../../src/model/config.ts';
import { anAccount } from '../support/builders.ts';

const nerdgraph = { kind: 'nerdgraph', accountId: 1 } as const;

/** Which of the ids of two accounts are equal. */
function comparedWith(
  other: Partial<AccountConfig>,
  source: AccountConfig['source'] = anAccount().source,
): { quota: boolean; budget: boolean } {
  const [one, two] = [anAccount({ source }), anAccount({ source, ...other })];
  return {
    quota: quotaOf(one) === quotaOf(two),
    budget: budgetIdOf(one) === budgetIdOf(two),
  };
}

describe('the quota and the budget of two accounts', () => {
  it.each([
    { what: 'the name', other: { name: 'b' }, same: { quota: true, budget: true } },
    {
      what: 'the place of the key',
      other: { apiKey: { kind: 'env', name: 'OTHER' } as const },
      same: { quota: true, budget: false },
    },
    {
      what: 'the kind of place of the key',
      other: { apiKey: { kind: 'file', path: 'NEW_RELIC_API_KEY' } as const },
      same: { quota: true, budget: false },
    },
    {
      what: 'the address',
      other: { baseUrl: 'https://api.eu.newrelic.com' },
      same: { quota: true, budget: false },
    },
    {
      what: 'the account id of REST',
      other: { source: { kind: 'rest', accountId: 1 } as const },
      same: { quota: true, budget: true },
    },
    {
      what: 'the source',
      other: { source: nerdgraph },
      same: { quota: false, budget: false },
    },
  ])('are compared when they differ in $what', ({ other, same }) => {
    expect(comparedWith(other)).toEqual(same);
  });

  it('are compared when they differ in the account id of NerdGraph', () => {
    expect(comparedWith({ source: { ...nerdgraph, accountId: 2 } }, nerdgraph)).toEqual({
      quota: false,
      budget: false,
    });
  });
});
