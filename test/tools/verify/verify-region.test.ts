import { describe, expect, it } from 'vitest';
import { twoApis, type Variant, type Verified, verified } from './verify-bench.ts';

const us = 'https://api.newrelic.com';
const eu = 'https://api.eu.newrelic.com';
const jp = 'https://api.jp.newrelic.com';
const gov = 'https://gov-api.newrelic.com';

/** A key that is accepted at one address alone. */
function ofHome(home: string): Variant {
  return ({ baseUrl }, answer) =>
    baseUrl === home ? answer : { ...answer, status: 401, body: '{}' };
}

const inRegion = (settings: string): string => twoApis.replace('region: us', settings);
const ofRestAlone = (config: string): string => config.replace('account_id: 1234567, ', '');

function askedElsewhere({ sent }: Verified, own: string): readonly string[] {
  return sent.map(({ baseUrl }) => baseUrl).filter((one) => one !== own);
}

describe('verify, for a key that its own region refuses', () => {
  it.each([
    { settings: 'region: us', own: us, home: eu, found: 'eu', others: [eu, jp] },
    { settings: 'region: eu', own: eu, home: us, found: 'us', others: [us, jp] },
    { settings: 'region: jp', own: jp, home: eu, found: 'eu', others: [us, eu] },
  ])(
    'asks each other region once, and names the one that knows it: $settings $found',
    async ({ settings, own, home, found, others }) => {
      const config = inRegion(settings);
      for (const one of [config, ofRestAlone(config)]) {
        const result = await verified({ config: one, variant: ofHome(home) });

        expect(askedElsewhere(result, own)).toEqual(others);
        expect(result.stderr).toContain(
          `account one: asked ${others.join(' and ')}: the region ${found} knows the key, so the account is there`,
        );
        expect(result.stderr).toContain(`= help: write region: ${found}\n`);
        expect(result.exitCode).toBe(1);
      }
    },
  );

  it('says when no other region knows it', async () => {
    const { stderr } = await verified({ variant: ofHome('nowhere') });

    expect(stderr).toContain(`account one: asked ${eu} and ${jp}: no other region knows the key\n`);
  });

  it.each([
    { settings: 'base_url: "https://gateway.example.com"', own: 'https://gateway.example.com' },
    { settings: `base_url: "${us}"`, own: us },
    { settings: 'region: gov', own: gov },
  ])('sends it nowhere else with $settings', async ({ settings, own }) => {
    const result = await verified({ config: inRegion(settings), variant: ofHome(eu) });

    expect(askedElsewhere(result, own)).toEqual([]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).not.toContain('asked');
  });

  it.each([
    { what: 'a call is refused', refused: /hosts\.json|entitySearch/u, status: 403 },
    { what: 'REST is refused', refused: /^\/v2/u, status: 401 },
    { what: 'nothing works', refused: /./u, status: 503 },
  ])('asks no other region if only $what', async ({ refused, status }) => {
    const result = await verified({
      variant: ({ text }, answer) =>
        refused.test(text) ? { ...answer, status, body: '{}' } : answer,
    });

    expect(askedElsewhere(result, us)).toEqual([]);
  });
});
