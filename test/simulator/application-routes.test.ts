import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { type Account, anAccount } from './account.ts';

const applicationsList = z.object({ applications: z.array(z.looseObject({ id: z.number() })) });
const hostsList = z.object({ application_hosts: z.array(z.object({ id: z.number() })) });

function ids(account: Account, query = ''): readonly number[] {
  const document = applicationsList.parse(account.read(`/v2/applications.json?${query}`));
  return document.applications.map(({ id }) => id);
}

function hostIds(account: Account, query = ''): readonly number[] {
  const document = hostsList.parse(account.read(`/v2/applications/1/hosts.json?${query}`));
  return document.application_hosts.map(({ id }) => id);
}

function inOrder(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((left, right) => left - right);
}

const named: FleetOptions = {
  applications: [
    { id: 1, name: 'shop/Checkout', kind: 'web', language: 'go', hosts: [{ id: 11, name: 'a' }] },
    { id: 2, name: 'Checkout (production)', kind: 'web', language: 'ruby', hosts: 0 },
    {
      id: 3,
      name: 'Billing Service',
      kind: 'other',
      language: 'go',
      hosts: [{ id: 31, name: 'a' }],
    },
  ],
};
const numbered = (count: number): FleetOptions => ({
  applications: Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    kind: 'web' as const,
  })),
});

describe('the list of applications', () => {
  it.each([
    { query: '', found: [1, 2, 3] },
    { query: 'filter[ids]=3,1', found: [1, 3] },
    { query: 'filter%5Bids%5D=3%2C1', found: [1, 3] },
    { query: 'filter[ids]=1&filter[ids]=2', found: [2] },
    { query: 'filter[ids]=99', found: [] },
    { query: 'filter[name]=Checkout', found: [1, 2] },
    { query: 'filter[name]=checkout', found: [1, 2] },
    { query: 'filter[name]=Billing+Service', found: [3] },
    { query: 'filter[name]=.', found: [] },
    { query: 'filter[host]=a', found: [1, 3] },
    { query: 'filter[language]=go', found: [1, 3] },
    { query: 'filter[language]=go&filter[name]=shop', found: [1] },
  ])('has $found for the query "$query"', ({ query, found }) => {
    expect(ids(anAccount(named), query)).toEqual(found);
  });

  it.each([
    {
      page: 1,
      found: [1, 2],
      link: '<https://api.newrelic.com/v2/applications.json?page=2>; rel="next", <https://api.newrelic.com/v2/applications.json?page=3>; rel="last"',
    },
    {
      page: 2,
      found: [3, 4],
      link: '<https://api.newrelic.com/v2/applications.json?page=3>; rel="next", <https://api.newrelic.com/v2/applications.json?page=3>; rel="last", <https://api.newrelic.com/v2/applications.json?page=1>; rel="first", <https://api.newrelic.com/v2/applications.json?page=1>; rel="prev"',
    },
    {
      page: 3,
      found: [5],
      link: '<https://api.newrelic.com/v2/applications.json?page=1>; rel="first", <https://api.newrelic.com/v2/applications.json?page=2>; rel="prev"',
    },
    {
      page: 9,
      found: [],
      link: '<https://api.newrelic.com/v2/applications.json?page=1>; rel="first", <https://api.newrelic.com/v2/applications.json?page=3>; rel="prev"',
    },
  ])(
    'has $found on page $page of three, and links that name the vendor',
    ({ page, found, link }) => {
      const account = anAccount(numbered(5), { pageSize: 2 });

      expect(ids(account, `page=${page}`)).toEqual(found);
      expect(account.get(`/v2/applications.json?page=${page}`).headers['Link']).toBe(link);
    },
  );

  it('rotates its order from listing to listing, without a loss between pages', () => {
    const account = anAccount(numbered(5), { pageSize: 3, shuffle: 'per_listing' });
    const listing = (): readonly number[] => [...ids(account), ...ids(account, 'page=2')];

    const first = listing();
    const second = listing();

    expect(first).not.toEqual(second);
    expect(inOrder(first)).toEqual([1, 2, 3, 4, 5]);
    expect(inOrder(second)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('the list of hosts', () => {
  const threeHosts: FleetOptions = {
    applications: [
      {
        id: 1,
        kind: 'web',
        hosts: [
          { id: 11, name: 'web-1' },
          { id: 12, name: 'web-2' },
          { id: 13, name: 'job-1' },
        ],
      },
    ],
  };

  it.each([
    { query: '', found: [11, 12, 13] },
    { query: 'filter[hostname]=web', found: [11, 12] },
    { query: 'filter[ids]=13,11', found: [11, 13] },
  ])('has $found for the query "$query"', ({ query, found }) => {
    expect(hostIds(anAccount(threeHosts), query)).toEqual(found);
  });

  it('shows a stopped host as long as the links do', async () => {
    const account = anAccount(threeHosts);
    account.fleet.removeHost(1, 11);

    const atOnce = hostIds(account);
    await account.clock.advance(3_600_000);

    expect(atOnce).toEqual([11, 12, 13]);
    expect(hostIds(account)).toEqual([12, 13]);
    expect(account.get('/v2/applications/1/hosts/11.json').status).toBe(404);
  });
});

describe('requests for something unknown', () => {
  it.each([
    { path: '/v2/applications/99.json', title: 'No Application found with the given ID' },
    { path: '/v2/applications/99/hosts.json', title: 'No Application found with the given ID' },
    {
      path: '/v2/applications/99/metrics/data.json',
      title: 'No Application found with the given ID',
    },
    {
      path: '/v2/applications/99/hosts/11/metrics/data.json',
      title: 'No Application found with the given ID',
    },
    { path: '/v2/applications/1/hosts/99.json', title: 'No Host found with the given ID' },
    {
      path: '/v2/applications/1/hosts/31/metrics/data.json',
      title: 'No Host found with the given ID',
    },
    { path: '/v2/application/1/hosts', title: 'Not Found' },
    { path: '/v2/applications/abc.json', title: 'Not Found' },
    { path: '/v2/applications', title: 'Not Found' },
    { path: '/', title: 'Not Found' },
  ])('answer 404 for $path', ({ path, title }) => {
    const answer = anAccount(named).get(path);

    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual({ error: { title } });
  });

  it('answer 404 for lists of hosts if the account has none, but still serve metrics', () => {
    const { get } = anAccount(named, { hostsEndpoint: false });

    expect(get('/v2/applications/1/hosts.json').status).toBe(404);
    expect(get('/v2/applications/1/hosts/11.json').status).toBe(404);
    expect(get('/v2/applications/1/hosts/11/metrics/data.json?names[]=HttpDispatcher').status).toBe(
      200,
    );
  });
});
