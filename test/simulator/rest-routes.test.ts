import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { type Account, anAccount } from './account.ts';

const list = z.object({ applications: z.array(z.looseObject({ id: z.number() })) });

function ids(account: Account, query: string): readonly number[] {
  const document = list.parse(account.read(`/v2/applications.json?${query}`));
  return document.applications.map(({ id }) => id);
}

const five: FleetOptions = {
  applications: Array.from({ length: 5 }, (_, index) => ({ id: index + 1, hosts: [{}] })),
};
const url = 'https://api.newrelic.com/v2/applications.json';

describe('the list of applications', () => {
  it.each([
    { query: '', found: [1, 2, 3, 4, 5] },
    { query: 'filter[ids]=3,1', found: [1, 3] },
    { query: 'filter[ids]=99', found: [] },
  ])('has $found for the query "$query"', ({ query, found }) => {
    expect(ids(anAccount(five), query)).toEqual(found);
  });

  it.each([
    {
      page: 2,
      found: [3, 4],
      link: `<${url}?page=3>; rel="next", <${url}?page=3>; rel="last", <${url}?page=1>; rel="first", <${url}?page=1>; rel="prev"`,
    },
    {
      page: 9,
      found: [],
      link: `<${url}?page=1>; rel="first", <${url}?page=3>; rel="prev"`,
    },
  ])('has $found on page $page of three, and links that name the vendor', (row) => {
    const account = anAccount(five, { pageSize: 2 });

    expect(ids(account, `page=${row.page}`)).toEqual(row.found);
    const { headers } = account.get(`/v2/applications.json?page=${row.page}`);
    expect(headers['Link']).toBe(row.link);
  });
});

describe('requests for something unknown', () => {
  it.each([
    { path: '/v2/applications/99/hosts.json', title: 'No Application found with the given ID' },
    { path: '/v2/applications/1/hosts/9/metrics.json', title: 'No Host found with the given ID' },
    { path: '/v2/applications/1/hosts/9/hosts.json', title: 'Not Found' },
    { path: '/', title: 'Not Found' },
  ])('answer 404 for $path', ({ path, title }) => {
    const answer = anAccount(five).get(path);

    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual({ error: { title } });
  });
});
