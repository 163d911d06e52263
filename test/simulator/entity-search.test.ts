import { describe, expect, it } from 'vitest';
import { aNerdgraphAccount, type NerdgraphAccount } from './nerdgraph-account.ts';

const document = `query ($q: String, $b: EntitySearchQueryBuilder, $cursor: String) {
  actor { entitySearch(query: $q, queryBuilder: $b) { count results(cursor: $cursor) { entities { name } } } }
}`;

function namesIn({ ask }: NerdgraphAccount, q: string): readonly string[] {
  const text = JSON.stringify(ask(document, { q }));
  return Array.from(text.matchAll(/"name":"([^"]*)"/gu), ([, name = '']) => name);
}

describe('entitySearch', () => {
  it.each([
    { what: 'both ways to ask', variables: { q: "name = 'a'", b: {} }, says: 'not both' },
    { what: 'none of them', variables: {}, says: 'is required' },
    { what: 'an empty cursor', variables: { q: "name = 'a'", cursor: '' }, says: 'Invalid cursor' },
    { what: 'a mistake', variables: { q: 'name' }, says: 'expected' },
    { what: 'an unknown attribute', variables: { q: "colour = 'red'" }, says: 'no attribute' },
  ])('refuses $what', ({ variables, says }) => {
    const message = expect.stringContaining(says) as string;

    expect(aNerdgraphAccount().ask(document, variables)).toMatchObject({
      errors: [{ message, extensions: { errorClass: 'INVALID_INPUT' } }],
    });
  });

  it('finds what the fleet has now, also what does not report', () => {
    const account = aNerdgraphAccount({
      applications: [
        { id: 1, name: 'shop', tags: { team: 'a' } },
        { id: 2, name: 'mail' },
      ],
    });
    account.fleet.setReporting(2, false);
    account.fleet.renameApplication(1, 'store');
    account.fleet.addApplication({ id: 3, name: 'new' });

    expect(namesIn(account, "domain = 'APM'")).toEqual(['store', 'mail', 'new']);
    expect(
      namesIn(account, "domain = 'APM' AND reporting = 'true' AND NOT name LIKE 'NE'"),
    ).toEqual(['store']);
    expect(namesIn(account, "domainId IN ('2','9')")).toEqual(['mail']);
    expect(namesIn(account, "tags.team = 'a' OR tags.constructor LIKE '%'")).toEqual(['store']);
  });

  it('counts the types, and gives the golden metrics of some entities', () => {
    const account = aNerdgraphAccount({ applications: [{ id: 1, name: 'shop', hosts: 2 }] });
    const asking = (what: string): string =>
      `query ($q: String!) { actor { entitySearch(query: $q, options: { limit: 1 }) { ${what} } } }`;
    const golden =
      'entities { name goldenMetrics { metrics { name definition { from eventId } } } }';

    const types = account.ask(asking('types { domain type count }'), { q: "reporting = 'true'" });
    const hosts = account.ask(asking(`count results { nextCursor ${golden} }`), {
      q: "domain = 'INFRA' AND type = 'HOST'",
    });

    const hostType = { domain: 'INFRA', type: 'HOST', count: 2 };
    const applications = { domain: 'APM', type: 'APPLICATION', count: 1 };
    expect(types).toMatchObject({
      data: {
        actor: { entitySearch: { types: expect.arrayContaining([applications, hostType]) } },
      },
    });
    const cpu = { name: 'cpuUsage', definition: { from: 'SystemSample', eventId: 'entityGuid' } };
    const entity = { goldenMetrics: { metrics: expect.arrayContaining([cpu]) } };
    expect(hosts).toMatchObject({
      data: { actor: { entitySearch: { count: 2, results: { entities: [entity] } } } },
    });
  });
});
