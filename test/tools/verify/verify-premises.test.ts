import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { type Variant, type Verified, verified } from './verify-bench.ts';

type Rewritten = readonly [when: RegExp, what: RegExp, by: (found: string) => string];

/** A New Relic some of whose answers have another text. */
function rewriting(...all: readonly Rewritten[]): Variant {
  return ({ text }, answer): ApiResponse =>
    all
      .filter(([when]) => when.test(text))
      .reduce((one, [, what, by]) => ({ ...one, body: one.body.replace(what, by) }), answer);
}

function differing({ seen }: Verified): readonly string[] {
  return [...seen].filter(([, { verdict }]) => verdict === 'differs').map(([id]) => id);
}

const steady: Rewritten = [
  /metrics\/data\.json/u,
  /"requests_per_minute":[\d.]+/gu,
  () => '"requests_per_minute":1',
];
const ofApplication = /AS c1.*FACET appId LIMIT 5000/u;
const firstHost: Rewritten = [/hosts\.json/u, /"host":"[^"]*"/u, () => '"host":""'];
const firstEntities = /accountId = '1234567'","cursor":null/u;
const allRates = /"errorRate":[\d.e-]+/gu;
const slidingWindows = /SLIDE BY 300000/u;
const lastWindow = /,\{[^{}]*\}(?=\]\s*[,}])/u;

describe('verify cannot tell', () => {
  it.each([
    {
      what: 'whether raw=true rounds where all rates are short numbers anyway',
      id: 'rest-raw',
      variant: rewriting(steady),
      others: [],
    },
    {
      what: 'the same where NerdGraph says nothing',
      id: 'rest-raw',
      variant: rewriting(steady, [ofApplication, /.*/su, () => '{"data":{"actor":null}}']),
      others: [],
    },
    {
      what: 'values of a host that REST gives no name',
      id: 'both-host-values',
      variant: rewriting(firstHost),
      others: ['rest-host-names'],
    },
    {
      what: 'names of hosts of which REST gives one no name',
      id: 'both-host-names',
      variant: rewriting(firstHost),
      others: ['rest-host-names'],
    },
    {
      what: 'what an error rate of another time is',
      id: 'nerdgraph-error-rate',
      variant: rewriting([firstEntities, allRates, () => '"errorRate":0.9']),
      others: [],
    },
    {
      what: 'what an error rate of 0 is',
      id: 'nerdgraph-error-rate',
      variant: rewriting([firstEntities, allRates, () => '"errorRate":0']),
      others: [],
    },
    {
      what: 'whether a window has the values of a query where just that window is missing',
      id: 'series-values',
      variant: rewriting([slidingWindows, lastWindow, () => '']),
      others: ['series-windows'],
    },
  ])('$what', async ({ id, variant, others }) => {
    const one = await verified({ variant });

    expect(one.seen.get(id)?.verdict).toBe('cannot tell');
    expect(differing(one)).toEqual(expect.arrayContaining(others));
  });
});

describe('verify is certain', () => {
  it('that raw=true does not round, by REST alone', async () => {
    const config = `
accounts: [{ name: one, region: us, api_key_env: KEY }]
apps: [{ match: "." }]
`;

    const { seen } = await verified({ config });

    expect(seen.get('rest-raw')?.verdict).toBe('holds');
  });

  it('that an error rate above 1, of whatever application, is a percentage', async () => {
    const variant = rewriting([firstEntities, /"errorRate":[\d.e-]+/u, () => '"errorRate":1.2']);

    const one = await verified({ variant });

    expect(differing(one)).toEqual(['nerdgraph-error-rate']);
  });
});
