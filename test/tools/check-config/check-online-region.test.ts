import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { inMemoryTransport } from '../../support/in-memory-vendor.ts';
import { printedOn } from '../survey/ask-bench.ts';

/** What `check-config --online` says if the key belongs to the account of one of the addresses. */
async function checked(
  settings: string,
  home: string,
  rest = 'apps: [{ match: . }]',
  answers: Readonly<Record<string, { readonly status: number; readonly body: string }>> = {},
): Promise<{
  readonly exitCode: number;
  readonly stdout: string;
  readonly asked: readonly string[];
}> {
  const asked: string[] = [];
  const vendorOf = (key: string) =>
    inMemoryTransport(createSimulator({ apiKeys: [key] }, { clock: createFakeClock() }));
  const { exitCode, stdout } = await printedOn(
    {
      openTransport: async ({ baseUrl }) => {
        const vendor = vendorOf(baseUrl === home ? 'NRAK-GOOD' : 'NRAK-OTHER');
        return {
          send: async (...all) => {
            asked.push(baseUrl);
            const answer = answers[baseUrl];
            return answer === undefined ? vendor.send(...all) : { ...answer, headers: {} };
          },
          close: async () => vendor.close(),
        };
      },
    },
    {},
    ['check-config', '--online', 'c.yaml'],
    {
      'c.yaml': `accounts:\n  - { name: main, api_key_env: KEY${settings} }\n${rest}`,
    },
  );
  return { exitCode, stdout, asked };
}

const us = 'https://api.newrelic.com';
const eu = 'https://api.eu.newrelic.com';
const jp = 'https://api.jp.newrelic.com';
const gov = 'https://gov-api.newrelic.com';

const nerdgraph = ', source: nerdgraph, account_id: 1234567';
const queries = 'queries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]';

describe('check-config --online, for a key that its own region refuses', () => {
  it.each([
    { settings: '', home: eu, found: 'eu', place: '2:13', own: us, others: [eu, jp] },
    { settings: ', region: us', home: jp, found: 'jp', place: '2:45', own: us, others: [eu, jp] },
    { settings: ', region: eu', home: us, found: 'us', place: '2:45', own: eu, others: [us, jp] },
    { settings: ', region: jp', home: eu, found: 'eu', place: '2:45', own: jp, others: [us, eu] },
    { settings: nerdgraph, home: eu, found: 'eu', place: '2:13', own: us, others: [eu, jp] },
    // Without a list of applications a query is the first to be refused.
    {
      settings: nerdgraph,
      rest: queries,
      home: jp,
      found: 'jp',
      place: '2:13',
      own: us,
      others: [eu, jp],
    },
  ])(
    'asks each other region once, and names the one that knows it: $settings $found',
    async ({ settings, home, found, place, own, others, rest }) => {
      const result = await checked(settings, home, rest);

      expect(result.exitCode).toBe(1);
      expect(result.asked.filter((one) => one !== own)).toEqual(others);
      expect(result.stdout).toContain(
        `error   c.yaml:${place}: account main: asked ${others.join(' and ')}: the region ${found} knows the key, so the account is there\n`,
      );
      expect(result.stdout).toContain(`= help: write region: ${found}\n`);
    },
  );

  it('says when no other region knows it', async () => {
    const { stdout } = await checked('', 'nowhere');

    expect(stdout).toContain(
      `note    account main: asked ${eu} and ${jp}: no other region knows the key\n`,
    );
  });

  const elsewhere = '{"errors":[{"message":"not authorized for account region"}]}';

  it.each([
    {
      what: 'an error of NerdGraph',
      settings: nerdgraph,
      answer: { status: 200, body: elsewhere },
    },
    { what: '403 of NerdGraph', settings: nerdgraph, answer: { status: 403, body: '' } },
    { what: 'such an error of REST', settings: '', answer: { status: 200, body: elsewhere } },
    { what: '403 of REST', settings: '', answer: { status: 403, body: '' } },
  ])('asks them after $what', async ({ settings, answer }) => {
    const { stdout, asked } = await checked(settings, eu, undefined, { [us]: answer });

    expect(asked.filter((one) => one !== us)).toEqual([eu, jp]);
    expect(stdout).toContain('the region eu knows the key, so the account is there\n');
    expect(stdout).not.toContain('check-config --online');
  });

  it('does not say of a region that cannot be asked that it refuses the key', async () => {
    const { stdout, asked } = await checked('', 'nowhere', undefined, {
      [jp]: { status: 503, body: '' },
    });

    expect(asked.filter((one) => one !== us)).toEqual([eu, jp]);
    expect(stdout).toContain('no other region says that it knows the key\n');
    expect(stdout).toContain('= help: the region jp: list_applications: status 503.');
  });

  it.each([
    { base: 'https://gateway.example.com' },
    { base: 'https://api.newrelic.com.example.com' },
    { base: 'https://api.newrelic.com/path' },
    { base: eu },
  ])('sends it nowhere else if the address is $base', async ({ base }) => {
    const { asked, stdout } = await checked(`, base_url: "${base}"`, us);

    expect([...new Set(asked)]).toEqual([base]);
    expect(stdout).not.toContain('knows the key');
  });

  it.each([{ home: eu }, { home: 'nowhere' }])(
    'sends it nowhere else from the region of the US government, nor there: $home',
    async ({ home }) => {
      const { asked } = await checked(', region: gov', home);

      expect([...new Set(asked)]).toEqual([gov]);
    },
  );

  it('asks no other region if only the account_id is wrong', async () => {
    const { asked, stdout } = await checked(nerdgraph.replace('1234567', '7'), us, queries);

    expect([...new Set(asked)]).toEqual([us]);
    expect(stdout).toContain('the API key does not see the account with account_id 7');
    expect(stdout).toContain('has no access to the account 7: check account_id, the region');
  });
});
