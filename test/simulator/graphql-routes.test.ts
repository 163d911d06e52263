import { describe, expect, it } from 'vitest';
import type { GraphqlOptions } from '../../src/simulator/graphql-options.ts';
import { aNerdgraphAccount, type NerdgraphAccount } from './nerdgraph-account.ts';

const countHosts =
  "SELECT uniqueCount(host) AS hosts FROM Metric WHERE appId = 1 AND metricTimesliceName IN ('HttpDispatcher','Agent/MetricsReported/count') SINCE 30 minutes ago";
const found = { data: { actor: { account: { nrql: { results: [{ hosts: 10 }] } } } } };

function nrqlOf(text: string, more = ''): string {
  return `{ actor { account(id: 1234567) { nrql(query: ${JSON.stringify(text)}${more}) { results } } } }`;
}

function tenHosts(options: GraphqlOptions = {}): NerdgraphAccount {
  const applications = [{ id: 1, kind: 'web' as const, webRpm: 600, hosts: 10 }];
  return aNerdgraphAccount({ applications }, options);
}

function failure(errorClass: string, message: string): unknown {
  return {
    data: { actor: { account: { nrql: null } } },
    errors: [
      {
        message: expect.stringContaining(message) as string,
        locations: [expect.objectContaining({ line: 1 })],
        path: ['actor', 'account', 'nrql'],
        extensions: { errorClass },
      },
    ],
  };
}

describe('NerdGraph', () => {
  it.each([
    { mistake: 'an unknown field', document: '{ actor { accounts { id colour } } }' },
    { mistake: 'a text as a number', document: '{ actor { account(id: "1") { id } } }' },
  ])('refuses a document with $mistake, and answers nothing of it', ({ document }) => {
    expect(Object.keys(Object(aNerdgraphAccount().ask(document)))).toEqual(['errors']);
  });

  it('says of each document what is wrong with it, however often and in whatever order it comes', () => {
    const { ask } = aNerdgraphAccount();
    const [good, colour, size] = ['id', 'colour', 'size'].map(
      (field) => `{ actor { accounts { ${field} } } }`,
    );
    const answers = [good, colour, size, colour, good].map((document) =>
      JSON.stringify(ask(document ?? '')),
    );

    expect(answers[0]).toContain('1234567');
    expect(answers[1]).toContain('colour');
    expect(answers[2]).toContain('size');
    expect(answers.slice(3)).toEqual([answers[1], answers[0]]);
  });

  it('refuses the queries of an account that are over the limit of a minute', async () => {
    const { ask, clock, violations } = tenHosts({ nrqlPerMinute: 2 });

    expect([1, 2, 3].map(() => ask(nrqlOf(countHosts)))).toEqual([
      found,
      found,
      failure('TOO_MANY_REQUESTS', 'too many NRQL queries'),
    ]);
    expect(violations()).toBe(1);
    await clock.advance(60_000);
    expect(ask(nrqlOf(countHosts))).toEqual(found);
  });

  it('refuses a request with the same NRQL as too many before', () => {
    const { ask } = tenHosts({ repeatsPerMinute: 1 });

    ask(nrqlOf(countHosts));
    expect(() => ask(nrqlOf(countHosts))).toThrow(/^429 .*TOO_MANY_REQUESTS/);
    expect(() => ask(nrqlOf(`${countHosts} LIMIT 1`))).not.toThrow();
  });

  // Of ten hosts there are ten rows of requests and ten heartbeats.
  it.each<[GraphqlOptions, string, unknown]>([
    [{ rowsPerSecond: 20 / 30 }, ', timeout: 29', failure('TIMEOUT', 'exceeded the set timeout')],
    [{ rowsPerSecond: 20 / 30 }, ', timeout: 30', found],
    [{ mostRows: 19 }, '', failure('SERVER_ERROR', 'a little too big')],
    [{ mostRows: 20 }, '', found],
    [{ maxNrqlCharacters: 99 }, '', failure('INVALID_INPUT', 'too long')],
  ])('with %j answers a query%s as it may', (options, more, answer) => {
    expect(tenHosts(options).ask(nrqlOf(countHosts, more))).toMatchObject(Object(answer));
  });
});
