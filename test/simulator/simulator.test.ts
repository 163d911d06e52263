import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { demoApiKey, type SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { createFakeClock, type FakeClock, settle } from '../support/fake-clock.ts';
import { sample } from './shape.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}
interface Running {
  readonly simulator: Simulator;
  readonly clock: FakeClock;
  readonly get: (target: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly post: (target: string, body: string) => Promise<Answer>;
}

const withKey = { 'api-key': demoApiKey, accept: 'application/json' };

async function start(options: SimulatorOptions = {}): Promise<Running> {
  const clock = createFakeClock();
  const simulator = createSimulator(options, { clock });
  const { baseUrl } = await simulator.start();
  onTestFinished(async () => simulator.stop());
  const call = async (target: string, more: Parameters<typeof request>[1]): Promise<Answer> => {
    const { statusCode: status, headers, body } = await request(`${baseUrl}${target}`, more);
    return { status, headers, body: await body.text() };
  };
  return {
    simulator,
    clock,
    get: (target, headers = withKey) => call(target, { headers }),
    post: (target, body) => call(target, { method: 'POST', headers: withKey, body }),
  };
}

/** Waits for the loopback to deliver, until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}

const list = '/v2/applications.json';
const question = JSON.stringify({ query: '{ actor { accounts { id } } }' });

describe('the simulator on a port', () => {
  it('answers with JSON, an ETag and the Date of its own clock, without a word about the quota', async () => {
    const { headers, status } = await (await start()).get(list);

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['etag']).toMatch(/^W\/"[0-9a-f]{32}"$/);
    expect(headers['date']).toBe('Tue, 01 Sep 2026 10:00:30 GMT');
    expect(Object.keys(headers).filter((name) => name.startsWith('x-rate'))).toEqual([]);
  });

  it.each([
    { headers: { accept: 'application/json', 'x-api-key': demoApiKey }, empty: false },
    { headers: { accept: 'text/html, */*;q=0.9', 'api-key': demoApiKey }, empty: false },
    { headers: { accept: 'text/html', 'api-key': demoApiKey }, empty: true },
    { headers: { 'api-key': demoApiKey }, empty: true },
  ])('answers 200 to $headers, with an empty body: $empty', async ({ headers, empty }) => {
    const { status, body } = await (await start()).get(list, headers);

    expect({ status, empty: body === '' }).toEqual({ status: 200, empty });
  });

  it('answers 429 over the quota with the headers and the body of the sample', async () => {
    const { get, simulator, clock } = await start({ quotaPerMinute: 2, quotaPhaseMs: 10_000 });
    await get(list);
    await get(list);

    const answer = await get(list);
    // The wall clock opens no new window.
    clock.jumpWall(3_600_000);
    const still = await get(list);
    await clock.advance(10_000);
    const afterwards = await get(list);

    expect(answer.status).toBe(429);
    expect(JSON.parse(answer.body)).toEqual(sample('19b-body-429.json'));
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Date.UTC(2026, 8, 1, 10, 0, 40) / 1000),
      'x-ratelimit-docs': expect.stringContaining('https://docs.newrelic.com/'),
    });
    expect(answer.headers).not.toHaveProperty('retry-after');
    expect([still.status, afterwards.status]).toEqual([429, 200]);
    expect(simulator.violations()).toBe(2);
  });

  it.each([
    { what: 'no GraphQL', body: '{"query":"{"}', status: 400 },
    { what: 'a body of a megabyte', body: question.padEnd(2 ** 20), status: 200 },
    { what: 'a larger body', body: question.padEnd(2 ** 20 + 1), status: 413 },
  ])('answers $status to $what', async ({ body, status }) => {
    const { post, simulator } = await start();

    expect((await post('/graphql', body)).status).toBe(status);
    expect(simulator.journal.entries()).toMatchObject([{ method: 'POST', status }]);
  });

  it('refuses NerdGraph while too many of its requests are in flight; those of REST do not count', async () => {
    const { get, post, simulator, clock } = await start({
      latencyMs: 1000,
      graphql: { concurrency: 2 },
    });

    const answers = [get(list), ...[1, 2, 3].map(() => post('/graphql', question))];
    await until(() => simulator.inFlight() === 4);
    await clock.advance(1000);

    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted((left, right) => left - right)).toEqual([200, 200, 200, 429]);
    expect(simulator.journal.maxInFlight()).toBe(4);
  });

  it('enters every request in its journal, and never the key', async () => {
    const { get, post, simulator } = await start();
    const text = `SELECT count(*) FROM Metric WHERE appId = 1 AND host = '${demoApiKey}'`;
    const query =
      'query ($n: Nrql!) { actor { account(id: 1234567) { nrql(query: $n) { results } } } }';

    await get('/v2/applications/1/hosts/11/metrics/data.json?names[]=HttpDispatcher');
    await get(`/nothing?key=${demoApiKey}`);
    await post('/graphql', JSON.stringify({ query, variables: { n: text } }));

    const path = ['actor', 'account', 'nrql'];
    const shown = text.replace(demoApiKey, '[key]');
    expect(simulator.journal.entries()).toMatchObject([
      {
        method: 'GET',
        path: '/v2/applications/1/hosts/11/metrics/data.json',
        query: 'names[]=HttpDispatcher',
        applicationId: '1',
        hostId: '11',
        keyIndex: 0,
        inFlight: 1,
        status: 404,
        monotonicMs: 0,
        wallMs: Date.UTC(2026, 8, 1, 10, 0, 30),
        remotePort: expect.any(Number),
      },
      { path: '/nothing', query: 'key=[key]', applicationId: undefined, status: 404 },
      { status: 200, graphql: { asks: [{ operation: 'nrql', path, text: shown }] } },
    ]);
    expect(JSON.stringify(simulator.journal.entries())).not.toContain(demoApiKey);
  });
});
