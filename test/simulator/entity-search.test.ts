import { describe, expect, it } from 'vitest';
import {
  aNerdgraphAccount,
  type Listed,
  listedIn,
  type NerdgraphAccount,
} from './nerdgraph-account.ts';

const document = `query ($q: String, $b: EntitySearchQueryBuilder, $cursor: String, $sort: [SortCriterionWithDirection], $options: EntitySearchOptions) {
  actor {
    entitySearch(query: $q, queryBuilder: $b, sortByWithDirection: $sort, options: $options) {
      count
      results(cursor: $cursor) { nextCursor entities { name accountId } }
    }
  }
}`;
const everything = "domain = 'APM'";

function search(
  { ask }: NerdgraphAccount,
  variables: Readonly<Record<string, unknown>> = { q: everything },
): Listed {
  return listedIn(ask(document, variables));
}

describe('entitySearch', () => {
  it('gives pages of 200 until there is no cursor any more', () => {
    const account = aNerdgraphAccount({ applications: 450 });
    const pages: Listed[] = [];
    let cursor: string | null = null;
    do {
      const page = search(account, { q: everything, cursor });
      pages.push(page);
      cursor = page.nextCursor;
    } while (cursor !== null);

    expect(pages.map(({ count, names }) => [count, names.length])).toEqual([
      [450, 200],
      [450, 200],
      [450, 50],
    ]);
    expect(pages.flatMap(({ names }) => names)).toEqual(
      account.fleet.applications().map(({ name }) => name),
    );
  });

  it.each([
    { what: 'the page of the account', limit: undefined, pageSize: 3, length: 3 },
    { what: 'a smaller limit', limit: 2, pageSize: 3, length: 2 },
    { what: 'no larger limit', limit: 4, pageSize: 3, length: 3 },
    { what: 'all, without a further page', limit: undefined, pageSize: 5, length: 5 },
  ])('obeys $what', ({ limit, pageSize, length }) => {
    const account = aNerdgraphAccount({ applications: 5 }, { entityPageSize: pageSize });

    const page = search(account, { q: everything, options: { limit } });

    expect(page.names).toHaveLength(length);
    expect(page.nextCursor === null).toBe(length === 5);
  });

  it.each([
    { what: 'both ways to ask', variables: { q: everything, b: {} }, says: 'not both' },
    { what: 'none of them', variables: {}, says: 'is required' },
    { what: 'an empty cursor', variables: { q: everything, cursor: '' }, says: 'Invalid cursor' },
    { what: 'a foreign cursor', variables: { q: everything, cursor: 'x' }, says: 'Invalid cursor' },
    { what: 'a mistake', variables: { q: 'name' }, says: 'expected' },
  ])('refuses $what', ({ variables, says }) => {
    expect(aNerdgraphAccount().ask(document, variables)).toMatchObject({
      errors: [
        {
          message: expect.stringContaining(says) as string,
          extensions: { errorClass: 'INVALID_INPUT' },
        },
      ],
    });
  });

  it('finds applications by the tags that those of an account have', () => {
    const account = aNerdgraphAccount({ applications: 12 });
    const countOf = (q: string): number => search(account, { q }).count;

    expect(countOf("tags.team = 'payments'")).toBe(4);
    expect(countOf("tags.environment IN ('production', 'staging')")).toBe(12);
    expect(countOf("tags.tier = 'critical'")).toBe(6);
    expect(countOf("tags.owner = 'payments'")).toBe(0);
  });

  it('finds what the fleet has now, also what does not report', () => {
    const account = aNerdgraphAccount({
      applications: [
        { id: 1, name: 'shop', kind: 'web' },
        { id: 2, name: 'mail', kind: 'other' },
      ],
    });
    account.fleet.setReporting(2, false);
    account.fleet.renameApplication(1, 'store');
    account.fleet.addApplication({ id: 3, name: 'new' });

    expect(search(account).names).toEqual(['store', 'mail', 'new']);
    expect(search(account, { q: "reporting = 'true'" }).names).toEqual(['store', 'new']);
    expect(search(account, { q: "domainId IN ('2','9')" }).names).toEqual(['mail']);
  });

  it.each(Object.getOwnPropertyNames(Object.prototype))('knows no tag %s without one', (tag) => {
    const account = aNerdgraphAccount({
      applications: [{ name: 'shop' }, { name: 'mail', tags: { [tag]: 'Object' } }],
    });

    expect(search(account, { q: `tags.${tag} LIKE 'Object'` }).names).toEqual(['mail']);
  });
});
