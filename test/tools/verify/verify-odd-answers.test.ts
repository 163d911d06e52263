import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { slow } from '../../support/slow.ts';
import { type Variant, type Verified, verified } from './verify-bench.ts';

/** Other answers to the requests that match. */
function answering(when: RegExp, answered: (answer: ApiResponse) => Partial<ApiResponse>): Variant {
  return ({ text }, answer) => (when.test(text) ? { ...answer, ...answered(answer) } : answer);
}

/** The same with the text of the body changed. */
function rewritten(when: RegExp, what: RegExp, by: (found: string) => string): Variant {
  return answering(when, ({ body }) => ({ body: body.replaceAll(what, by) }));
}

function differing({ seen }: Verified): readonly string[] {
  return [...seen].filter(([, { verdict }]) => verdict === 'differs').map(([id]) => id);
}

const ofTransactions = /FROM Transaction/u;
const ofHosts = /FACET appId, host /u;
const noRows = '{"data":{"actor":{"account":{"nrql":{"results":[],"totalResult":null}}}}}';

describe('verify takes for no difference', () => {
  it.each([
    {
      what: 'that New Relic keeps a sample of the transactions',
      id: 'nerdgraph-error-rate',
      verdict: 'holds',
      variant: rewritten(ofTransactions, /"calls":\d+/gu, (calls) => `${calls}e-2`),
    },
    {
      what: 'that an id in quotes is refused',
      id: 'nerdgraph-numbers',
      verdict: 'holds',
      variant: answering(/appId IN \('/u, () => ({
        body: '{"errors":[{"message":"No","extensions":{"errorClass":"INVALID_INPUT"}}]}',
      })),
    },
    {
      what: 'an id that is a text in the facets and a number in the row',
      id: 'nerdgraph-facets',
      verdict: 'holds',
      variant: rewritten(ofHosts, /"appId":"\d+"/gu, (member) =>
        member.replaceAll(/"(?=\d|$)/gu, ''),
      ),
    },
    {
      what: 'that an answer without rows adds up to nothing',
      id: 'nerdgraph-sums',
      verdict: 'holds',
      variant: answering(ofHosts, () => ({ body: noRows })),
    },
    {
      what: 'that there are no transactions to be grouped',
      id: 'query-null',
      verdict: 'cannot tell',
      variant: answering(ofTransactions, () => ({ body: noRows })),
    },
    {
      what: 'a metric without any slice',
      id: 'rest-window',
      verdict: 'holds',
      variant: rewritten(
        /metrics\/data\.json(?!.*raw)/u,
        /"name":"Memory[^"]*","timeslices":\[[^\]]*\]/gu,
        (metric) => metric.replace(/\[.*\]/u, '[]'),
      ),
    },
    {
      what: 'that New Relic fails under 200',
      id: 'rest-pages',
      verdict: 'cannot tell',
      variant: answering(/^\/v2\/applications\.json$/u, () => ({
        body: '{"error":{"title":"No"}}',
      })),
    },
    {
      what: 'that nothing is answered',
      id: 'nerdgraph-count',
      verdict: 'cannot tell',
      variant: answering(/entitySearch/u, () => ({
        body: '{"data":{"actor":{"entitySearch":null}}}',
      })),
    },
  ])('$what', async ({ id, verdict, variant }) => {
    const one = await verified({ variant });

    expect(one.seen.get(id)?.verdict).toBe(verdict);
  });

  it('that the hosts of an application fill several pages', slow, async () => {
    const one = await verified({ fleet: { applications: [{ kind: 'both', hosts: 201 }] } });

    expect(differing(one)).toEqual([]);
    expect(one.seen.get('rest-host-names')?.text).toContain('several pages');
  });

  it('that a silent application is not found by its id', async () => {
    const fleet = { applications: [{ kind: 'both' }, { kind: 'not_reporting' }] } as const;

    const one = await verified({ fleet });

    expect(one.seen.get('nerdgraph-ids')?.text).toContain('there is no second application');
  });
});

describe('verify', () => {
  it('reads a value of any depth', async () => {
    const depth = 20_000;
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const variant = rewritten(/histogram\(/u, /"value":\{[^}]*\}/gu, () => `"value":${deep}`);

    const one = await verified({ variant });

    expect(differing(one)).toEqual(['query-histogram']);
  });
});

describe('the report', () => {
  const fleet = {
    applications: [
      {
        id: 7_654_321,
        name: "Canary's shop",
        kind: 'both',
        hosts: [{ id: 9_876_543, name: 'Web-Canary' }],
      },
      { id: 8_765_432, name: 'e', kind: 'web', hosts: 1 },
    ],
  } as const;

  it.each([
    { what: 'a quote in a name', said: "no Canary's shop for the user's key" },
    { what: 'a name where the text is cut', said: `${'so '.repeat(38)}Canary's shop` },
    { what: 'a name in small letters', said: "canary's shop on web-canary" },
    { what: 'an address', said: 'ask canary@example.com at https://canary.example/a' },
    { what: 'a text that is longer than any real one', said: `Canary${' Canary'.repeat(1000)}` },
    { what: 'what separates the cells of a table', said: "no | Canary's shop | here" },
  ])('has no name from a refusal with $what', async ({ said }) => {
    const variant = answering(/TIMESERIES|metrics\/data/u, () => ({
      status: 404,
      body: JSON.stringify({ error: { title: said }, errors: [{ message: said }] }),
    }));

    const { stdout, seen } = await verified({ fleet, variant });

    expect(stdout).not.toMatch(/canary/iu);
    expect(seen.get('rest-longest')?.text).toBe('refused with status 404');
  });

  it.each([
    'denied by 10.1.2.3, gateway fw01.corp.example.com, user jane.doe',
    'fw01.coreport-2.example: no e for account SECRETNAME at 10.1.2.3',
    'Canary says: e is too long for SECRETNAME',
  ])('keeps of the words of a refusal only those that the exporter knows: %s', async (said) => {
    const ofRest = answering(/^\/v2.*Verify\/Nothing/u, () => ({
      status: 422,
      body: JSON.stringify({ error: { title: said } }),
    }));
    const errors = [{ message: said, extensions: { errorClass: 'INVALID_INPUT' } }];
    const ofSeries = answering(/TIMESERIES/u, () => ({ body: JSON.stringify({ errors }) }));
    const variant: Variant = (sent, answer, stop) =>
      ofSeries(sent, ofRest(sent, answer, stop), stop);

    const { stdout, seen } = await verified({ fleet, variant });

    expect(stdout).not.toMatch(/10\.1\.2\.3|fw01|corp|jane|SECRETNAME|canary/iu);
    expect(seen.get('rest-not-found')?.text).toBe(
      `refused with status 422${said.includes('too long') ? ': too long' : ''}`,
    );
    expect(seen.get('series-past')?.text).toMatch(
      /^refused with status 4\d\d: (?:too long, )?INVALID_INPUT$/u,
    );
  });

  it('has of the form of an answer only names of members that the exporter knows', async () => {
    const variant = rewritten(/AS noTime/u, /"none":0/gu, () => '"none":1,"web.canary":1');

    const { seen } = await verified({ fleet, variant });

    expect(seen.get('nerdgraph-nothing')?.text).toMatch(/none: number/u);
    expect(seen.get('nerdgraph-nothing')?.text).not.toContain('canary');
  });

  it('has of headers only usual names', async () => {
    const variant = answering(/^\/v2\/applications\.json$/u, ({ headers }) => ({
      headers: { ...headers, 'x-canary-quota': '1', 'x-ratelimit-limit': '2' },
    }));

    const { stdout, seen } = await verified({ fleet, variant });

    expect(seen.get('rest-quota')?.text).toBe('2 headers, quota, x-ratelimit-limit');
    expect(stdout).not.toMatch(/canary/iu);
  });

  it('keeps its own words, whatever applications are called', async () => {
    const { seen } = await verified({ fleet });

    expect(seen.get('rest-date')?.text).toBe('the clock here is ahead by 0 s');
  });
});
