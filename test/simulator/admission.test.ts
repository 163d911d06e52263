import { describe, expect, it, onTestFinished } from 'vitest';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';

const key = 'NRAK-THE-KEY';
const question = JSON.stringify({ query: '{ actor { accounts { id } } }' });
const nrql = JSON.stringify({
  query: 'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results } } } }',
  variables: { n: `SELECT count(*) FROM Metric WHERE appId = 1 AND host = '${key}'` },
});

interface Answer {
  readonly status: number;
  readonly allow: string | null;
  readonly text: string;
}

interface Running {
  readonly simulator: Simulator;
  readonly clock: FakeClock;
  readonly send: (
    method: string,
    target: string,
    body?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Answer>;
}

async function start(options: SimulatorOptions = {}): Promise<Running> {
  const clock = createFakeClock();
  const simulator = createSimulator({ apiKeys: [key], ...options }, { clock });
  const { baseUrl } = await simulator.start();
  onTestFinished(async () => simulator.stop());
  return {
    simulator,
    clock,
    send: async (method, target, body, headers = { 'Api-Key': key }) => {
      const init = { method, headers: { Accept: 'application/json', ...headers } };
      const response = await fetch(`${baseUrl}${target}`, {
        ...init,
        ...(body === undefined ? {} : { body }),
      });
      const text = await response.text();
      return { status: response.status, allow: response.headers.get('allow'), text };
    },
  };
}

describe('a request to the simulator', () => {
  it('reaches NerdGraph with POST, and the REST API with GET', async () => {
    const { send } = await start();

    expect(await send('POST', '/graphql', question)).toEqual({
      status: 200,
      allow: null,
      text: '{"data":{"actor":{"accounts":[{"id":1234567}]}}}',
    });
    expect(await send('GET', '/graphql')).toMatchObject({ status: 405, allow: 'POST' });
    expect(await send('GET', '/v2/applications.json')).toMatchObject({ status: 200 });
    expect(await send('POST', '/v2/applications.json', '{}')).toMatchObject({
      status: 405,
      allow: 'GET',
    });
  });

  it.each([
    { what: 'no JSON', body: 'actor', status: 400 },
    { what: 'no GraphQL', body: '{"query":"{"}', status: 400 },
    { what: 'nothing', body: '', status: 400 },
    { what: 'a body of a megabyte', body: question.padEnd(2 ** 20), status: 200 },
    { what: 'a larger body', body: question.padEnd(2 ** 20 + 1), status: 413 },
  ])('to NerdGraph with $what gets $status', async ({ body, status }) => {
    const { send } = await start();

    expect(await send('POST', '/graphql', body)).toMatchObject({ status });
  });

  it('to NerdGraph is in the journal with what it asks, and without a key', async () => {
    const { simulator, send } = await start();

    await send('POST', '/graphql', nrql);
    await send('POST', '/graphql', 'nothing');
    await send('GET', '/v2/applications.json');

    const entries = simulator.journal.entries();
    expect(entries.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'POST /graphql 200',
      'POST /graphql 400',
      'GET /v2/applications.json 200',
    ]);
    expect(entries.map(({ graphql }) => graphql?.asks)).toEqual([
      [
        {
          operation: 'nrql',
          path: ['actor', 'account', 'nrql'],
          text: "SELECT count(*) FROM Metric WHERE appId = 1 AND host = '[key]'",
        },
      ],
      undefined,
      undefined,
    ]);
    expect(JSON.stringify(entries)).not.toContain(key);
  });

  it('to NerdGraph is refused while too many others are in flight; those of REST do not count', async () => {
    const { simulator, clock, send } = await start({
      latencyMs: 1000,
      graphql: { concurrency: 2 },
    });

    const answers = [
      send('GET', '/v2/applications.json'),
      send('POST', '/graphql', question),
      send('POST', '/graphql', question),
      send('POST', '/graphql', question),
    ];
    while (simulator.inFlight() < 4) await settle();
    await clock.advance(1000);

    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 200, 200, 429]);
    expect(simulator.violations()).toBe(1);
    const later = send('POST', '/graphql', question);
    while (simulator.inFlight() < 1) await settle();
    await clock.advance(1000);
    expect(await later).toMatchObject({ status: 200 });
  });
});
