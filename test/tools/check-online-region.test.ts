import { describe, expect, it } from 'vitest';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { printedOn } from './ask-bench.ts';

/** What `check-config --online` says if the key belongs to the account of one of the addresses. */
async function checked(
  settings: string,
  home: string,
  rest = 'apps: [{ match: . }]',
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
            return vendor.send(...all);
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

describe('askOtherRegion', () => {
  it.each([
    { settings: '', home: eu, other: 'eu', place: '2:13', asked: [us, eu] },
    { settings: ', region: us', home: eu, other: 'eu', place: '2:45', asked: [us, eu] },
    { settings: ', region: eu', home: us, other: 'us', place: '2:45', asked: [eu, us] },
    {
      settings: ', source: nerdgraph, account_id: 1234567',
      home: eu,
      other: 'eu',
      place: '2:13',
      asked: [us, eu],
    },
    {
      settings: ', source: nerdgraph, account_id: 1234567',
      home: eu,
      other: 'eu',
      place: '2:13',
      asked: [us, eu],
      rest: 'queries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]',
    },
  ])(
    'finds the region of a refused key:$settings',
    async ({ settings, home, other, place, asked, rest }) => {
      const result = await checked(settings, home, rest);

      expect(result.exitCode).toBe(1);
      expect([...new Set(result.asked)]).toEqual(asked);
      expect(result.asked.filter((one) => one === home)).toHaveLength(1);
      expect(result.stdout).toContain(
        `error   c.yaml:${place}: account main: the region ${other} accepts the key, so the account is there\n`,
      );
      expect(result.stdout).toContain(`= help: write region: ${other}\n`);
    },
  );

  it('says when the other region refuses the key, too', async () => {
    const { stdout } = await checked('', 'nowhere');

    expect(stdout).toContain(
      'note    account main: the region eu does not accept the key either\n',
    );
  });

  it.each([
    { base: 'https://gateway.example.com' },
    { base: 'https://api.newrelic.com.example.com' },
    { base: 'https://api.newrelic.com/path' },
  ])('sends the key nowhere else if the address is $base', async ({ base }) => {
    const { asked, stdout } = await checked(`, base_url: "${base}"`, us);

    expect([...new Set(asked)]).toEqual([base]);
    expect(stdout).not.toContain('region us');
  });

  it('does not ask the other region if the key is accepted', async () => {
    const { asked } = await checked('', us);

    expect([...new Set(asked)]).toEqual([us]);
  });
});
