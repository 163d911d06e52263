import { describe, expect, it } from 'vitest';
import { askedOf } from '../../src/simulator/graphql-asks.ts';
import { parseGraphqlRequest } from '../../src/simulator/graphql-request.ts';

function askedIn(query: string, variables: Readonly<Record<string, unknown>> = {}): unknown {
  const request = parseGraphqlRequest(JSON.stringify({ query, variables }));
  const hide = (text: string): string => text.replaceAll('secret', '[key]');
  return request === undefined ? undefined : askedOf(request, hide);
}

describe('askedOf', () => {
  it('finds every query of a request by its path, also in fragments', () => {
    const query = `query ($n: Nrql!) {
      actor { ...A s: entitySearch(query: "domain = 'APM'") { count } }
    }
    fragment A on Actor { account(id: 1) { web: nrql(query: $n) { results } nrql(query: "B") { results } } accounts { id } }`;

    expect(askedIn(query, { n: 'SELECT 1' })).toEqual({
      text: `${query}\n{"n":"SELECT 1"}`,
      asks: [
        { operation: 'nrql', path: ['actor', 'account', 'web'], text: 'SELECT 1' },
        { operation: 'nrql', path: ['actor', 'account', 'nrql'], text: 'B' },
        { operation: 'entity_search', path: ['actor', 's'], text: "domain = 'APM'" },
      ],
    });
  });

  it.each([
    { query: '{ actor { accounts { id } } }', asks: [] },
    {
      query: '{ actor { entitySearch { count } } }',
      asks: [{ operation: 'entity_search', path: ['actor', 'entitySearch'], text: '' }],
    },
  ])('knows when there is no query: $query', ({ query, asks }) => {
    expect(askedIn(query)).toMatchObject({ asks });
  });

  it('keeps no secrets, and no more than some thousand characters', () => {
    const asked = askedIn(
      'query ($n: Nrql!) { actor { nrql(accounts: [1], query: $n) { results } } }',
      {
        n: `secret ${'x'.repeat(100_000)}`,
      },
    );

    expect(JSON.stringify(asked)).not.toContain('secret');
    expect(JSON.stringify(asked).length).toBeLessThan(40_000);
  });
});
