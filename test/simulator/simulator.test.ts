import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
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
  readonly baseUrl: string;
  readonly get: (target: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly send: (method: 'POST' | 'PUT' | 'DELETE', target: string) => Promise<Answer>;
}

const withKey = { 'api-key': demoApiKey, accept: 'application/json' };
const running = new Set<() => Promise<void>>();

afterEach(async () => {
  for (const stop of running) await stop();
  running.clear();
});

async function start(options: SimulatorOptions = {}): Promise<Running> {
  const clock = createFakeClock();
  const simulator = createSimulator(options, { clock });
  const { baseUrl } = await simulator.start();
  const dispatcher = new Agent();
  running.add(async () => {
    await simulator.stop();
    await dispatcher.destroy();
  });
  const call = async (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    target: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> => {
    const response = await request(`${baseUrl}${target}`, { method, headers, dispatcher });
    const body = await response.body.text();
    return { status: response.statusCode, headers: response.headers, body };
  };
  return {
    simulator,
    clock,
    baseUrl,
    get: (target, headers = withKey) => call('GET', target, headers),
    send: (method, target) => call(method, target, withKey),
  };
}

/** Waits for the loopback to deliver, until the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await settle();
}

const list = '/v2/applications.json';

describe('the simulator on a port', () => {
  it('answers with JSON, an ETag and the Date of its own clock, without a word about the quota', async () => {
    const { get } = await start();

    const answer = await get(list);

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['etag']).toMatch(/^W\/"[0-9a-f]{32}"$/);
    expect(answer.headers['date']).toBe('Tue, 01 Sep 2026 10:00:30 GMT');
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('x-rate'))).toEqual([]);
    expect(JSON.parse(answer.body)).toHaveProperty('applications');
  });

  it.each([
    { headers: { accept: 'application/json', 'api-key': demoApiKey }, empty: false },
    { headers: { accept: 'application/json', 'x-api-key': demoApiKey }, empty: false },
    { headers: { accept: '*/*', 'api-key': demoApiKey }, empty: false },
    {
      headers: { accept: 'text/html, application/json;q=0.9', 'api-key': demoApiKey },
      empty: false,
    },
    { headers: { accept: 'text/html', 'api-key': demoApiKey }, empty: true },
    { headers: { 'api-key': demoApiKey }, empty: true },
  ])('answers 200 to $headers, with an empty body: $empty', async ({ headers, empty }) => {
    const { get } = await start();

    const answer = await get(list, headers);

    expect(answer.status).toBe(200);
    expect(answer.body === '').toBe(empty);
  });

  it('answers 429 over the quota with the headers and the body of the sample', async () => {
    const { get, simulator, clock } = await start({ quotaPerMinute: 2, quotaPhaseMs: 10_000 });
    await get(list);
    await get(list);

    const answer = await get(list);
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
    expect(afterwards.status).toBe(200);
    expect(simulator.violations()).toBe(1);
  });

  it('gives each key its own quota, and identifies it by index in the journal', async () => {
    const { get, simulator } = await start({ apiKeys: ['one', 'two'], quotaPerMinute: 1 });

    const statuses = [];
    for (const key of ['one', 'two', 'one']) {
      statuses.push((await get(list, { ...withKey, 'api-key': key })).status);
    }

    expect(statuses).toEqual([200, 200, 429]);
    expect(simulator.journal.entries().map(({ keyIndex }) => keyIndex)).toEqual([0, 1, 0]);
  });

  it('enters every request in its journal, and never the key', async () => {
    const { get, simulator } = await start({
      fleet: { applications: [{ id: 1, hosts: [{ id: 11 }] }] },
    });

    await get('/v2/applications/1/hosts/11/metrics/data.json?names[]=HttpDispatcher');
    await get(`/nothing?key=${demoApiKey}`);

    expect(simulator.journal.entries()).toMatchObject([
      {
        method: 'GET',
        path: '/v2/applications/1/hosts/11/metrics/data.json',
        query: 'names[]=HttpDispatcher',
        applicationId: '1',
        hostId: '11',
        keyIndex: 0,
        inFlight: 1,
        status: 200,
        monotonicMs: 0,
        wallMs: Date.UTC(2026, 8, 1, 10, 0, 30),
        remotePort: expect.any(Number),
      },
      { path: '/nothing', query: 'key=[key]', applicationId: undefined, status: 404 },
    ]);
    expect(JSON.stringify(simulator.journal.entries())).not.toContain(demoApiKey);
  });

  it.each([
    { latencyMs: 300, notBeforeMs: 299, atLastMs: 300 },
    { latencyMs: [200, 400] as const, notBeforeMs: 199, atLastMs: 400 },
  ])(
    'keeps an answer back for a latency of $latencyMs on its clock',
    async ({ latencyMs, notBeforeMs, atLastMs }) => {
      const { get, simulator, clock } = await start({ latencyMs });

      const answers = [get(list), get(list), get(list)];
      await until(() => simulator.inFlight() === 3);
      await clock.advance(notBeforeMs);
      const waiting = simulator.inFlight();
      await clock.advance(atLastMs - notBeforeMs);
      const statuses = (await Promise.all(answers)).map(({ status }) => status);

      expect(waiting).toBe(3);
      expect(statuses).toEqual([200, 200, 200]);
      expect(simulator.inFlight()).toBe(0);
      expect(simulator.journal.maxInFlight()).toBe(3);
      expect(clock.pendingTimers()).toBe(0);
    },
  );
});
