import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { Readiness } from '../../src/web/routes.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { textOf } from '../support/html-parts.ts';
import {
  type Answering,
  answered,
  type Fault,
  faulty,
  linesOf,
  listsOf,
  nrqlOf,
  ofQueries,
  queriesStarted,
  queryConfig,
  queryStatus,
  statusSourceOf,
} from '../support/query-daemon.ts';
import { aRunningDaemon, keyA, type RunningDaemon } from '../support/running-daemon.ts';

const calls = '  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 20 }';
const alone = { apps: '', queries: calls };
const withApps = { queries: calls };

async function upOf(bench: RunningDaemon): Promise<string | undefined> {
  return (await linesOf(bench, /^newrelic_up/u))[0]?.split(' ')[1];
}

function readyStatus({ daemon }: RunningDaemon): number {
  return new Readiness().answer(daemon.status(), { inForceSinceMs: 0, problem: undefined }).status;
}

function pageText(bench: RunningDaemon): string {
  const page = statusPage(statusSourceOf(bench), new URLSearchParams(), {
    telemetryPath: '/metrics',
  });
  return textOf(page);
}

describe.each([
  ['no apps', ''],
  ['an empty list of apps', 'apps: []'],
  ['only apps that are excluded', 'apps: [{ match: ., exclude: true }]'],
])('an account with queries and %s', (_, apps) => {
  it('shows them, asks for no list, and says that all is well', async () => {
    const bench = await queriesStarted({ apps, queries: calls });
    await bench.platform.clock.advance(60 * minuteMs);

    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    expect(await upOf(bench)).toBe('1');
    expect(listsOf(bench)).toEqual([]);
    expect(bench.simulator.journal.count()).toBe(nrqlOf(bench, 'FROM Transaction FACET').length);
    expect(bench.daemon.status()[0]).toMatchObject({
      state: 'up',
      applications: 0,
      pollIntervalSeconds: 60,
      staleAfterSeconds: 900,
    });
    expect(pageText(bench)).toContain('1 query, all polls succeed.');
    expect(bench.daemon.stalled()).toBeUndefined();
    expect(bench.logger.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

describe('a wrong clock of this machine', () => {
  const hourly = `poll: { interval: 1h }\n`;

  it.each([
    { what: 'three minutes fast', aheadMs: [-3 * minuteMs], asked: 2, offMs: -3 * minuteMs },
    { what: 'an hour slow', aheadMs: [60 * minuteMs], asked: 2, offMs: 60 * minuteMs },
    { what: 'contradicted once', aheadMs: [-60 * minuteMs, 0], asked: 3, offMs: 0 },
    { what: 'right', aheadMs: [0], asked: 1, offMs: 0 },
  ])('does not decide what a query shows for an hour: $what', async ({ aheadMs, asked, offMs }) => {
    let answers = 0;
    const bench = await queriesStarted(
      { poll: hourly, apps: '', queries: calls },
      {
        wire: (wire) => ({
          ...wire,
          send: async (...call) => {
            const answer = await wire.send(...call);
            const ahead = aheadMs[Math.min(answers, aheadMs.length - 1)] ?? 0;
            answers += 1;
            const date = new Date(Date.parse(String(answer.headers['date'])) + ahead).toUTCString();
            return { ...answer, headers: { ...answer.headers, date } };
          },
        }),
      },
    );

    const all = nrqlOf(bench, 'FROM Transaction FACET');
    const last = all.at(-1);
    const untilMs = Number(/UNTIL (\d+)$/u.exec(last?.text ?? '')?.[1]);
    const beforeMs = (last?.wallMs ?? NaN) + offMs - untilMs;
    expect(all).toHaveLength(asked);
    expect(beforeMs).toBeGreaterThanOrEqual(3 * minuteMs - 1000);
    expect(beforeMs).toBeLessThanOrEqual(5 * minuteMs);
  });
});

describe('a 401 to a query of an account that has applications too', () => {
  it('has the key tried with a list at once, long before the next one would be due', async () => {
    const fault: Fault = { answer: () => undefined };
    const apps = 'apps: [{ match: ., discovery_interval: 1h }]';
    const bench = await queriesStarted({ apps, queries: calls }, faulty(fault));
    const lists = (): number => listsOf(bench).length;
    const before = lists();
    fault.answer = ofQueries(answered('', 401));
    await bench.platform.clock.advance(1.5 * minuteMs);

    expect([before, lists()]).toEqual([1, 2]);
    expect(await upOf(bench)).toBe('1');
  });
});

describe('newrelic_up of an account with queries only', () => {
  const refused = answered({ error: { title: 'Invalid API key' } }, 401);
  const failedBy = (errorClass: string, message: string) =>
    answered({ data: null, errors: [{ message, extensions: { errorClass } }] });

  it('is 0 before the first answer', async () => {
    const bench = await aRunningDaemon(await queryConfig(alone), { latencyMs: 5000 });
    await bench.platform.clock.advance(4000);
    expect(await upOf(bench)).toBe('0');
    expect(bench.daemon.status()[0]).toMatchObject({ state: 'starting', up: undefined });
    expect(pageText(bench)).toContain('The first query of 1 account has not ended yet.');
    await bench.platform.clock.advance(2000);
    expect(await upOf(bench)).toBe('1');
  });

  it.each<[string, ReturnType<Answering>, string]>([
    ['the key is refused', refused, '0'],
    ['nobody is there', new ApiError('connect', 'nobody is there'), '0'],
    ['New Relic itself is broken', answered('', 500), '0'],
    [
      'New Relic does not understand the query',
      failedBy('INVALID_INPUT', 'NRQL Syntax Error'),
      '1',
    ],
    ['the query takes too long', failedBy('TIMEOUT', 'the query took too long'), '1'],
    ['the query fails in New Relic', failedBy('INTERNAL_SERVER_ERROR', 'it failed'), '1'],
    ['the answer is none to this query', answered({ data: { actor: { account: {} } } }), '1'],
  ])('says whether New Relic answers: %s', async (_, answer, up) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted(alone, faulty(fault));
    fault.answer = () => answer;
    await bench.platform.clock.advance(2 * minuteMs);

    expect(await upOf(bench)).toBe(up);
    expect(bench.daemon.status()[0]?.state).toBe(up === '1' ? 'degraded' : 'down');
    fault.answer = () => undefined;
    await bench.platform.clock.advance(2 * minuteMs);
    expect(await upOf(bench)).toBe('1');
    expect(bench.daemon.status()[0]?.state).toBe('up');
  });
});

describe('one failed query of an account with queries only', () => {
  const nobody = new ApiError('connect', 'nobody is there');

  it.each([
    { what: 'one', answers: ['fails', ''], seen: ['1 degraded', '1 up'] },
    {
      what: 'two in a row',
      answers: ['fails', 'fails', ''],
      seen: ['1 degraded', '0 down', '1 up'],
    },
    {
      what: 'two, with a good one in between',
      answers: ['fails', '', 'fails', ''],
      seen: ['1 degraded', '1 up', '1 degraded', '1 up'],
    },
  ])('shows in newrelic_up only if the next one fails, too: $what', async ({ answers, seen }) => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted(alone, faulty(fault));
    const found: string[] = [];
    for (const answer of answers) {
      fault.answer = () => (answer === 'fails' ? nobody : undefined);
      await bench.platform.clock.advance(minuteMs);
      found.push(`${await upOf(bench)} ${bench.daemon.status()[0]?.state}`);
    }

    expect(found).toEqual(seen);
  });
});

describe('/-/ready', () => {
  it('is 200 at once for an account with queries only, though every query hangs', async () => {
    const bench = await aRunningDaemon(
      await queryConfig(alone),
      faulty({ answer: ofQueries('hang') }),
    );
    await bench.platform.clock.advance(0);

    expect(readyStatus(bench)).toBe(200);
  });

  it('waits for applications, and for no query beside them', async () => {
    const bench = await aRunningDaemon(
      await queryConfig(withApps),
      faulty({ answer: ofQueries('hang') }),
    );
    expect(readyStatus(bench)).toBe(503);
    await bench.platform.clock.advance(5000);

    expect(await linesOf(bench, /^newrelic_application_poll_success.* 1$/u)).toHaveLength(2);
    expect(queryStatus(bench, 'calls')?.state).toBe('waiting');
    expect(readyStatus(bench)).toBe(200);
  });
});

describe('8.4 the key of an account with queries only', () => {
  const settings = { ...alone, account: 'api_key_file: key' };
  const files = (): Record<string, string> => ({ '/key': keyA });
  const hourly = { ...settings, queries: calls.replace(' }', ', interval: 1h }') };

  it('is in force within a minute of its change, and nothing fails', async () => {
    const headers: string[] = [];
    const bench = await queriesStarted(settings, {
      files: files(),
      wire: (wire) => ({
        ...wire,
        send: async (request, sent, signal) => {
          headers.push(sent['Api-Key'] ?? '');
          return wire.send(request, sent, signal);
        },
      }),
    });
    await bench.platform.clock.advance(10_000);
    bench.files['/key'] = 'NRAK-B';
    await bench.platform.clock.advance(minuteMs);
    headers.length = 0;
    await bench.platform.clock.advance(2 * minuteMs);

    expect(new Set(headers)).toEqual(new Set(['NRAK-B']));
    expect(bench.logger.lines.map(({ message }) => message)).not.toContain('poll failed');
  });

  it('is read again within a minute, however rarely the query is asked', async () => {
    const bench = await queriesStarted(hourly, { files: files() });
    bench.files['/key'] = 'NRAK-B';
    await bench.platform.clock.advance(minuteMs);

    expect(bench.logger.lines.map(({ message }) => message)).toContain('API key changed');
  });

  it('is read at once when New Relic refuses the old one', async () => {
    let revoked = '';
    const bench = await queriesStarted(settings, {
      files: files(),
      wire: (wire) => ({
        ...wire,
        send: async (request, sent, signal) =>
          sent['Api-Key'] === revoked
            ? answered({ error: { title: 'Invalid API key' } }, 401)
            : wire.send(request, sent, signal),
      }),
    });
    const dueMs = (queryStatus(bench, 'calls')?.nextPollMs ?? 0) - bench.platform.clock.wallMs();
    await bench.platform.clock.advance(dueMs - 10);
    revoked = keyA;
    bench.files['/key'] = 'NRAK-B';
    await bench.platform.clock.advance(2000);

    expect(queryStatus(bench, 'calls')?.state).toBe('up');
    expect(await upOf(bench)).toBe('1');
    expect(bench.logger.lines.map(({ message }) => message)).not.toContain('poll failed');
  });
});

describe('an account that reloads move from applications to queries alone and back', () => {
  it('shows what it has in each, without a gap in the query, and forgets what lists said', async () => {
    const bench = await queriesStarted(withApps);
    await bench.daemon.apply(await queryConfig(alone));

    expect(await linesOf(bench, /^newrelic_application/u)).toEqual([]);
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    const lists = listsOf(bench).length;
    await bench.platform.clock.advance(10 * minuteMs);
    expect(listsOf(bench)).toHaveLength(lists);
    expect(nrqlOf(bench, 'appId IN').filter(({ atMs }) => atMs > minuteMs)).toEqual([]);
    expect(pageText(bench)).toContain('1 query, all polls succeed.');
    const [status] = bench.daemon.status();
    expect(status).toMatchObject({ applications: 0, hosts: 0, demandRequestsPerMinute: 1 });

    await bench.daemon.apply(await queryConfig(withApps));
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    await bench.platform.clock.advance(5000);
    expect(await linesOf(bench, /^newrelic_application_poll_success.* 1$/u)).toHaveLength(2);
    expect(pageText(bench)).toContain('2 applications and 1 query, all polls succeed.');
  });

  it('is up or down by what it asks now, at once', async () => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted(withApps, faulty(fault));
    fault.answer = ({ operation }) =>
      operation === 'list_applications' ? answered('', 500) : undefined;
    await bench.platform.clock.advance(3 * minuteMs);
    expect(await upOf(bench)).toBe('0');
    // That queries are answered says nothing about lists.
    await bench.daemon.apply(await queryConfig({ queries: calls.replace('20', '10') }));
    await bench.daemon.apply(await queryConfig(withApps));
    expect(await upOf(bench)).toBe('0');
    await bench.platform.clock.advance(5000);
    await bench.daemon.apply(await queryConfig(alone));

    // The query was answered less than a minute ago.
    expect(bench.daemon.status()[0]?.state).toBe('up');
    expect(await upOf(bench)).toBe('1');
  });
});
