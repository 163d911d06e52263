import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { configOf, told } from '../support/problem-bench.ts';
import { type Answering, answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { eachAfter, slow } from '../support/slow.ts';

const rest = 'accounts: [{ name: one, api_key_env: KEY_A }]\n';
const graph =
  'accounts: [{ name: one, source: nerdgraph, account_id: 1234567, api_key_env: KEY_A }]\n';

const ofCart =
  (status: number): Answering =>
  ({ operation, target, body = '' }) =>
    operation.endsWith('_metrics') && `${target}${body}`.includes('102')
      ? answered('{}', status)
      : undefined;

const calls = '  - { as: calls, nrql: "SELECT count(*) FROM Transaction" }';
const other = '  - { as: others, nrql: "SELECT max(duration) FROM Transaction" }';
const rowless =
  '  - { as: nobody, nrql: "SELECT count(*) FROM Transaction WHERE appName = \'nobody\' FACET host" }';
const apps = 'apps: [{ match: ., discovery_interval: 60s }]\n';

const rows: readonly {
  readonly what: string;
  readonly before: string;
  readonly after: string;
  readonly answer?: Answering;
  readonly minutes?: number;
  readonly begins: string;
  readonly untrue: string;
}[] = [
  {
    what: 'an application whose polls fail',
    before: `${rest}apps: [{ match: . }]`,
    after: `${rest}apps: [{ name: shop }]`,
    answer: ofCart(500),
    begins: 'poll failed',
    untrue: 'poll works again',
  },
  {
    what: 'an application whose values were dropped',
    before: `${rest}apps: [{ match: . }]`,
    after: `${rest}apps: [{ name: shop }]`,
    answer: ofCart(500),
    minutes: 40,
    begins: 'values dropped',
    untrue: 'values are back',
  },
  {
    what: 'a query that fails',
    before: `${graph}${apps}queries:\n${calls}\n${other}`,
    after: `${graph}${apps}queries:\n${other}`,
    answer: ({ operation, body = '' }) =>
      operation === 'query' && body.includes('count') ? answered('{}', 400) : undefined,
    begins: 'poll failed',
    untrue: 'poll works again',
  },
  {
    what: 'an entry that matches nothing',
    before: `${rest}apps: [{ match: . }, { name: chekout }]`,
    after: `${rest}apps: [{ match: . }]`,
    begins: 'entry of apps matches nothing',
    untrue: 'entry of apps matches again',
  },
  {
    what: 'a metric that is misspelt',
    before: `${rest}apps: [{ match: ., discovery_interval: 60s, metrics: [throughput, { metric: Custom/Qeue, value: call_count, as: shop_queue }] }]`,
    after: `${rest}apps: [{ match: ., discovery_interval: 60s, metrics: [throughput] }]`,
    minutes: 15,
    begins: 'metric never has a value',
    untrue: 'metric has a value',
  },
  {
    what: 'a tag that is misspelt',
    before: `${graph}apps: [{ match: ., tags: [taem] }]`,
    after: `${graph}apps: [{ match: . }]`,
    begins: 'tag never has a value',
    untrue: 'tag has a value',
  },
  {
    what: 'a query without a row',
    before: `${graph}${apps}queries:\n${rowless}\n${other}`,
    after: `${graph}${apps}queries:\n${other}`,
    begins: 'query never has a value',
    untrue: 'query has a value',
  },
];

describe('a reload that takes away what has a problem', () => {
  eachAfter(1, rows)('does not say that it works: $what', async (row) => {
    const { answer = () => undefined, minutes = 6 } = row;
    const bench = await aRunningDaemon(await configOf(row.before), {
      ...faulty({
        answer: (request) =>
          bench.platform.clock.monotonicMs() < 2 * minuteMs ? undefined : answer(request),
      }),
    });
    await bench.platform.clock.advance(minutes * minuteMs);
    expect(told(bench.logger)).toContain(row.begins);
    await bench.daemon.apply(await configOf(row.after));
    await bench.platform.clock.advance(2 * minuteMs);

    expect(told(bench.logger)).not.toContain(row.untrue);
  });
});

describe('an application that New Relic has deleted while it failed', () => {
  it('does not work again: it is gone (404)', async () => {
    let status = 500;
    const bench = await aRunningDaemon(await configOf(`${rest}apps: [{ match: . }]`), {
      ...faulty({
        answer: (request) =>
          bench.platform.clock.monotonicMs() < 2 * minuteMs ? undefined : ofCart(status)(request),
      }),
    });
    await bench.platform.clock.advance(40 * minuteMs);
    expect(told(bench.logger)).toEqual(expect.arrayContaining(['poll failed', 'values dropped']));
    status = 404;
    await bench.platform.clock.advance(5 * minuteMs);

    expect(told(bench.logger)).toContain('application is gone');
    expect(told(bench.logger)).not.toContain('values are back');
    expect(told(bench.logger)).not.toContain('poll works again');
  });
});

describe('a query that never had a row', () => {
  it('has no value when its polls fail until it is dropped', slow, async () => {
    let isBroken = false;
    const bench = await aRunningDaemon(
      await configOf(`${graph}${apps}queries:\n${rowless}\n${other}`),
      faulty({
        answer: ({ operation, body = '' }) =>
          isBroken && operation === 'query' && body.includes('nobody')
            ? answered('{}', 400)
            : undefined,
      }),
    );
    await bench.platform.clock.advance(6 * minuteMs);
    expect(told(bench.logger)).toContain('query never has a value');
    isBroken = true;
    await bench.platform.clock.advance(40 * minuteMs);

    expect(told(bench.logger)).not.toContain('query has a value');
  });
});
