import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { configOf, surfaces, told } from '../support/problem-bench.ts';
import { type Answering, answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

const rest = 'accounts: [{ name: one, api_key_env: KEY_A }]\n';
const restApps = `${rest}apps: [{ match: ., discovery_interval: 60s }]`;
const graph =
  'accounts: [{ name: one, source: nerdgraph, account_id: 1234567, timeout: 10s, api_key_env: KEY_A }]\n';
const query = (name: string): string =>
  `  - { as: ${name}, nrql: "SELECT count(*) AS ${name} FROM Transaction" }`;
const noHost = new ApiError('dns', 'the host name cannot be resolved: check base_url');

describe('a list that fails for one reason and then for another', () => {
  it.each<[string, ReturnType<Answering>, ReturnType<Answering>]>([
    ['unreachable, then 500', noHost, answered('{}', 500)],
    ['500, then unreachable', answered('{}', 500), noHost],
    ['unreachable, then the key is refused', noHost, answered('{}', 401)],
  ])('does not work again in between: %s', async (_, first, second) => {
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: () => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          return minutes < 3 ? undefined : minutes < 9 ? first : second;
        },
      }),
    );
    await bench.platform.clock.advance(18 * minuteMs);

    expect(told(bench.logger)).toContain('discovery failed');
    expect(told(bench.logger)).not.toContain('discovery works again');
  });
});

describe('a list that was late for 429s, and works again', () => {
  it('ends each message that it began, and begins each that it ends', slow, async () => {
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: () => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          return minutes >= 3 && minutes < 12
            ? answered('{}', 429, { 'retry-after': '30' })
            : undefined;
        },
      }),
    );
    await bench.platform.clock.advance(40 * minuteMs);
    const count = (message: string): number =>
      told(bench.logger).filter((one) => one === message).length;

    expect(count('discovery failed')).toBeGreaterThan(0);
    expect({
      failed: count('discovery works again'),
      limited: count('no longer rate limited by New Relic'),
    }).toEqual({
      failed: count('discovery failed'),
      limited: count('rate limited by New Relic'),
    });
  });
});

describe('an account that has queries alone', () => {
  it.each<[string, ReturnType<Answering>]>([
    ['502', answered('<html>', 502)],
    ['a page instead of JSON', answered('<html>', 200)],
  ])('says nothing of lists of applications, which it has not: %s', async (_, answer) => {
    const bench = await aRunningDaemon(
      await configOf(`${graph}queries:\n${query('a')}\n${query('b')}`),
      faulty({
        answer: () => (bench.platform.clock.monotonicMs() < 3 * minuteMs ? undefined : answer),
      }),
    );
    await bench.platform.clock.advance(10 * minuteMs);
    const { headline, page, accounts } = surfaces(bench);

    expect(accounts[0]?.state).toBe('down');
    expect(headline).not.toMatch(/list/iu);
    expect(page).not.toMatch(/list of applications|known applications are polled/iu);
  });

  it('writes nothing of queries that failed because of the account after it is answered again', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `q${index}`);
    const bench = await aRunningDaemon(
      await configOf(`${graph}queries:\n${names.map(query).join('\n')}`),
      faulty({
        answer: () => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          return minutes >= 3 && minutes < 10.4 ? noHost : undefined;
        },
      }),
    );
    await bench.platform.clock.advance(10.4 * minuteMs);
    const from = bench.logger.lines.length;
    await bench.platform.clock.advance(5 * minuteMs);

    expect(told(bench.logger, from)).toContain('queries are answered again');
    expect(told(bench.logger, from)).not.toContain('poll failed');
  });

  it('does not say that queries are answered again because applications are added while its key is refused', async () => {
    const bench = await aRunningDaemon(
      await configOf(`${graph}queries:\n${query('a')}\n${query('b')}`),
      faulty({
        answer: () =>
          bench.platform.clock.monotonicMs() < 3 * minuteMs ? undefined : answered('{}', 401),
      }),
    );
    await bench.platform.clock.advance(10 * minuteMs);
    expect(told(bench.logger)).toContain('queries are not answered');
    await bench.daemon.apply(
      await configOf(`${graph}apps: [{ match: . }]\nqueries:\n${query('a')}\n${query('b')}`),
    );
    await bench.platform.clock.advance(2 * minuteMs);

    expect(told(bench.logger)).not.toContain('queries are answered again');
  });
});

describe('lists that time out while polls work', () => {
  it('do not make an account that cannot be reached', async () => {
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: ({ operation }) =>
          bench.platform.clock.monotonicMs() >= 3 * minuteMs && operation === 'list_applications'
            ? new ApiError('timeout', 'no answer within 30 s')
            : undefined,
      }),
    );
    await bench.platform.clock.advance(12 * minuteMs);
    const { headline } = surfaces(bench);

    expect(headline).not.toMatch(/unreachable/iu);
  });
});

describe('a reload that chooses other applications', () => {
  it('does not say that nothing is selected before their list has come', async () => {
    let isSlow = false;
    const bench = await aRunningDaemon(await configOf(`${rest}apps: [{ name: shop }]`), {
      wire: (wire) => ({
        ...wire,
        send: async (request, headers, signal) => {
          if (isSlow && request.operation === 'list_applications') {
            await new Promise<void>((resolve) => bench.platform.clock.after(25_000, resolve));
          }
          return wire.send(request, headers, signal);
        },
      }),
    });
    await bench.platform.clock.advance(3 * minuteMs);
    isSlow = true;
    await bench.daemon.apply(await configOf(`${rest}apps: [{ name: cart }]`));
    await bench.platform.clock.advance(12_000);
    const { headline } = surfaces(bench);
    await bench.platform.clock.advance(2 * minuteMs);

    expect(headline).not.toMatch(/selects nothing/iu);
    expect(told(bench.logger)).not.toContain('no application is selected');
  });

  it('does not go on to speak of an entry that is gone while lists fail', async () => {
    const bench = await aRunningDaemon(
      await configOf(`${rest}apps: [{ match: . }, { name: chekout }]`),
      faulty({
        answer: ({ operation }) =>
          bench.platform.clock.monotonicMs() >= 3 * minuteMs && operation === 'list_applications'
            ? answered('{}', 500)
            : undefined,
      }),
    );
    await bench.platform.clock.advance(4 * minuteMs);
    await bench.daemon.apply(await configOf(`${rest}apps: [{ match: . }]`));
    await bench.platform.clock.advance(20 * minuteMs);
    const { accounts, headline } = surfaces(bench);

    expect(accounts[0]?.problems.map(({ kind }) => kind)).not.toContain('entry_matches_nothing');
    expect(headline).not.toMatch(/matches nothing/iu);
  });
});

describe('a second problem of a kind', () => {
  it('began when it began, not with the first', slow, async () => {
    const bench = await aRunningDaemon(
      await configOf(`${rest}apps: [{ match: ., discovery_interval: 60s }, { name: chekout }]`),
    );
    await bench.platform.clock.advance(60 * minuteMs);
    const atMs = bench.platform.clock.wallMs();
    await bench.daemon.apply(
      await configOf(
        `${rest}apps: [{ match: ., discovery_interval: 60s }, { name: chekout }, { name: shpo }]`,
      ),
    );
    await bench.platform.clock.advance(minuteMs);
    const problem = surfaces(bench).accounts[0]?.problems.find(
      ({ subject }) => subject?.['selector'] === 'name=shpo',
    );

    expect(problem).toBeDefined();
    expect(Date.parse(problem?.since ?? '')).toBeGreaterThanOrEqual(atMs);
  });
});

describe('an application that is renamed while it fails', () => {
  it('does not work again by that', async () => {
    let name = 'cart';
    const bench = await aRunningDaemon(await configOf(restApps), {
      wire: (wire) => ({
        ...wire,
        send: async (request, headers, signal) => {
          const late = bench.platform.clock.monotonicMs() >= 2 * minuteMs;
          if (late && request.operation.endsWith('_metrics') && request.target.includes('102')) {
            return answered('{}', 500);
          }
          const answer = await wire.send(request, headers, signal);
          if (request.operation !== 'list_applications') return answer;
          return { ...answer, body: answer.body.replaceAll('"cart"', `"${name}"`) };
        },
      }),
    });
    await bench.platform.clock.advance(6 * minuteMs);
    expect(told(bench.logger)).toContain('poll failed');
    name = 'cart (new)';
    await bench.platform.clock.advance(3 * minuteMs);

    expect(bench.daemon.applications().map((one) => one.name)).toContain('cart (new)');
    expect(told(bench.logger)).not.toContain('poll works again');
  });
});

describe('the wall clock that is set back', () => {
  it('does not hide what fails for itself after lists have recovered', async () => {
    const bench = await aRunningDaemon(
      await configOf(restApps),
      faulty({
        answer: ({ operation, target }) => {
          const minutes = bench.platform.clock.monotonicMs() / minuteMs;
          if (minutes >= 3 && minutes < 6 && operation === 'list_applications') {
            return answered('{}', 500);
          }
          return minutes >= 10 && operation.endsWith('_metrics') && target.includes('102')
            ? answered('{}', 500)
            : undefined;
        },
      }),
    );
    await bench.platform.clock.advance(8 * minuteMs);
    bench.platform.clock.jumpWall(-60 * minuteMs);
    await bench.platform.clock.advance(15 * minuteMs);
    const { page } = surfaces(bench);

    expect(page).not.toMatch(/because of the account/u);
    expect(told(bench.logger)).toContain('poll failed');
  });
});
