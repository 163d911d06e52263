import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import {
  type Answering,
  answered,
  type Fault,
  faulty,
  linesOf,
  nrqlOf,
  ofQueries,
  queriesStarted,
  queryConfig,
} from '../support/query-daemon.ts';
import { eachAfter } from '../support/slow.ts';

const calls = `  - as: calls
    nrql: SELECT count(*) FROM Transaction FACET appName
    stale_after: 5m`;

const percentiles = `  - as: { d: durations, n: numbers }
    nrql: SELECT percentile(duration, 50, 95) AS d, count(*) AS n FROM Transaction FACET appName, name LIMIT 50
    labels: { name: transaction }
    constant_labels: { team: payments }`;

describe('a query', () => {
  it('becomes gauges that agree with the metrics of the same applications', async () => {
    const bench = await queriesStarted({ queries: `${calls}\n${percentiles}` });

    expect(await linesOf(bench, /^calls/u)).toEqual([
      'calls{account="one",app_name="cart"} 300',
      'calls{account="one",app_name="shop"} 600',
    ]);
    const rpm = await linesOf(bench, /^newrelic_application_requests_per_minute\{.*"web"/u);
    expect(rpm.map((line) => Number(line.split(' ')[1]) * 5)).toEqual([600, 300]);
    const [shop] = bench.simulator.fleet.applications();
    const mean = (shop?.responseTimeMs ?? 0) / 1000;
    const median = (await linesOf(bench, /^durations\{.*shop.*orders\/show.*"0\.5"/u))[0] ?? '';
    expect(median).toContain(',quantile="0.5",team="payments"}');
    expect(Number(median.split(' ')[1])).toBeCloseTo(mean * Math.LN2, 6);
    expect(await linesOf(bench, /^newrelic_query_success/u)).toEqual([
      'newrelic_query_success{account="one",query="calls"} 1',
      'newrelic_query_success{account="one",query="durations"} 1',
    ]);
  });

  it('has the exact quantile of each percentile', async () => {
    const nrql = 'SELECT percentile(duration, 99.9, 99, 50, 0.5) FROM Transaction';
    const bench = await queriesStarted({ queries: `  - { as: d, nrql: "${nrql}" }` });
    const lines = await linesOf(bench, /^d\{/u);

    expect(lines.map((line) => /quantile="([^"]*)"/u.exec(line)?.[1])).toEqual([
      '0.005',
      '0.5',
      '0.99',
      '0.999',
    ]);
  });

  it('is polled once in each of its intervals, and counted in the demand', async () => {
    const bench = await queriesStarted({
      queries: calls.replace('stale_after: 5m', 'interval: 30s'),
    });
    const requests = (): number =>
      bench.simulator.journal
        .entries()
        .filter(({ graphql }) => graphql?.text.includes('FROM Transaction') === true).length;
    const before = requests();
    await bench.platform.clock.advance(10 * minuteMs);

    expect(requests() - before).toBe(20);
    // The list, the applications and their hosts.
    expect(bench.daemon.status()[0]?.demandRequestsPerMinute).toBe(5);
  });

  eachAfter(1, [
    { window: '24h', days: 1 },
    { window: '8d', days: 8 },
    { window: '31d', days: 31 },
  ])('asks for a window of $window, and holds its rows no longer than others', async (row) => {
    const lengthMs = row.days * 24 * 60 * minuteMs;
    const fault: Fault = { answer: () => undefined };
    const query = `${calls}\n    window: ${row.window}`;
    const bench = await queriesStarted({ queries: query }, faulty(fault));

    const [{ text, wallMs } = { text: '', wallMs: 0 }] = nrqlOf(bench, 'FROM Transaction');
    const toMs = Math.floor(wallMs / minuteMs) * minuteMs - 3 * minuteMs;
    expect(text).toContain(` SINCE ${toMs - lengthMs} UNTIL ${toMs}`);
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    fault.answer = ofQueries('hang');
    await bench.platform.clock.advance(5 * minuteMs);
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    await bench.platform.clock.advance(3 * minuteMs);
    expect(await linesOf(bench, /^calls/u)).toEqual([]);
  });

  it('holds its rows while it fails, drops them after stale_after, and delays nobody', async () => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted({ queries: `${calls}\n${percentiles}` }, faulty(fault));
    fault.answer = ofQueries('hang', 'FACET appName SINCE');
    await bench.platform.clock.advance(4 * minuteMs);

    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
    expect((await linesOf(bench, /^newrelic_query_success/u)).map((line) => line.at(-1))).toEqual([
      '0',
      '1',
    ]);
    expect(bench.daemon.status()[0]).toMatchObject({ state: 'degraded', failing: [] });
    expect(bench.daemon.status()[0]?.queries?.[0]).toMatchObject({
      name: 'calls',
      state: 'failing',
      isHeld: true,
      failure: { reason: 'timeout' },
    });
    await bench.platform.clock.advance(4 * minuteMs);
    expect(await linesOf(bench, /^calls/u)).toEqual([]);
    expect(bench.daemon.status()[0]?.queries?.[0]?.state).toBe('dropped');
    expect(
      (await linesOf(bench, /^newrelic_application_poll_success/u)).map((line) => line.at(-1)),
    ).toEqual(['1', '1']);
    fault.answer = () => undefined;
    await bench.platform.clock.advance(2 * minuteMs);
    expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
  });

  it('leaves out the rows beyond max_series, the same ones each time, and counts their series', async () => {
    const bench = await queriesStarted({ queries: `${percentiles}\n    max_series: 4` });
    const lines = await linesOf(bench, /^(durations|numbers)/u);
    await bench.platform.clock.advance(5 * minuteMs);

    // A row has two percentiles and a number.
    expect(lines).toHaveLength(3);
    expect(
      (await linesOf(bench, /^(durations|numbers)/u)).map((line) => line.split(' ')[0]),
    ).toEqual(lines.map((line) => line.split(' ')[0]));
    expect(await bench.daemon.metrics.text()).toContain(
      'newrelic_exporter_series_dropped_total{account="one",reason="max_series"} 27',
    );
  });
});

const whole = (results: unknown) => ({
  data: { actor: { account: { nrql: { results, metadata: { facets: ['appName'] } } } } },
});

/** What New Relic or the network does, and what is said of it. */
const faults: readonly (readonly [
  what: string,
  answer: ReturnType<Answering>,
  reason: string,
  fact: string,
])[] = [
  [
    'does not understand the query',
    answered({
      errors: [{ message: 'NRQL Syntax Error', extensions: { errorClass: 'INVALID_INPUT' } }],
    }),
    'client',
    'correct it in "queries"',
  ],
  [
    'takes too long',
    answered({ errors: [{ message: 'timed out', extensions: { errorClass: 'TIMEOUT' } }] }),
    'too_large',
    'ask for less',
  ],
  [
    'refuses the account',
    answered({ data: { actor: { account: null } } }),
    'auth',
    'no access to the account 1234567',
  ],
  ['answers with a page', answered('<html>busy</html>', 502), 'server', 'status 502'],
  ['answers with a page under 200', answered('<html>'), 'not_json', 'not JSON'],
  [
    'answers with nothing',
    answered({ data: { actor: { account: { nrql: null } } } }),
    'schema',
    'nothing of what was asked',
  ],
  [
    'does not say about which time',
    answered(whole([{ facet: 'a', gauge_value_1: 1 }])),
    'schema',
    'which time',
  ],
  ['gives no list', answered(whole({})), 'schema', 'no list of results'],
  ['never answers', 'hang', 'timeout', ''],
  ['closes the connection', new Error('socket hang up'), 'client', ''],
];

describe('a query that fails because New Relic', () => {
  it.each(faults)(
    '%s says so, keeps its rows, and fails alone',
    async (_, answer, reason, fact) => {
      const fault: Fault = { answer: () => undefined };
      const bench = await queriesStarted({ queries: `${calls}\n${percentiles}` }, faulty(fault));
      fault.answer = ofQueries(answer, 'FACET appName SINCE');
      await bench.platform.clock.advance(3 * minuteMs);
      const [query, other] = bench.daemon.status()[0]?.queries ?? [];

      expect(query?.failure?.reason).toBe(reason);
      expect(query?.failure?.message).toContain(fact);
      expect(other?.state).toBe('up');
      expect(await linesOf(bench, /^calls/u)).toHaveLength(2);
      const log = JSON.stringify(bench.logger.lines);
      expect(log).toContain('poll failed');
      expect(log).not.toContain('NRAK-A');
    },
  );

  it('answers 429 pauses the account, and none of its values is lost', async () => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted({ queries: calls }, faulty(fault));
    fault.answer = ofQueries(answered('{}', 429, { 'retry-after': '30' }));
    await bench.platform.clock.advance(minuteMs);
    fault.answer = () => undefined;
    await bench.platform.clock.advance(2 * minuteMs);

    expect((await linesOf(bench, /^newrelic_query_success/u))[0]?.at(-1)).toBe('1');
    expect(
      (await linesOf(bench, /^newrelic_application_poll_success/u)).map((line) => line.at(-1)),
    ).toEqual(['1', '1']);
  });
});

describe('a reload', () => {
  it('adds, changes and removes queries while they are under way', async () => {
    const fault: Fault = { answer: () => undefined };
    const bench = await queriesStarted({ queries: `${calls}\n${percentiles}` }, faulty(fault));
    fault.answer = ofQueries('hang');
    await bench.platform.clock.advance(minuteMs);
    fault.answer = () => undefined;
    const errors = calls
      .replace('as: calls', 'as: failed')
      .replace('FROM Transaction', 'FROM TransactionError');
    const changed = percentiles.replace('50, 95', '99');
    await bench.daemon.apply(await queryConfig({ queries: `${changed}\n${errors}` }));

    // What the old query has brought is not shown of the new one.
    expect(await linesOf(bench, /^(calls|durations)/u)).toEqual([]);
    await bench.platform.clock.advance(5_000);
    expect(
      (await linesOf(bench, /^durations/u)).every((line) => line.includes('quantile="0.99"')),
    ).toBe(true);
    expect(await linesOf(bench, /^durations/u)).toHaveLength(10);
    expect(await linesOf(bench, /^failed/u)).not.toEqual([]);
    expect(await linesOf(bench, /^newrelic_query_success.*calls/u)).toEqual([]);
    await bench.daemon.apply(await queryConfig({}));
    expect(await linesOf(bench, /^(durations|failed|newrelic_query)/u)).toEqual([]);
  });

  it('keeps the rows of a query that asks for the same', async () => {
    const bench = await queriesStarted({ queries: calls });
    await bench.daemon.apply(
      await queryConfig({
        queries: `${calls}\n    help: Calls.\n    constant_labels: { team: shop }`,
      }),
    );

    expect(await linesOf(bench, /^calls\{.*team="shop"\} 600/u)).toHaveLength(1);
    expect(await bench.page()).toContain('# HELP calls Calls. Polled');
  });
});

describe('a tag', () => {
  const fleet = {
    traffic: 'flat',
    applications: [
      {
        id: 101,
        name: 'shop',
        kind: 'web',
        webRpm: 120,
        hosts: 1,
        tags: { team: 'red', 'aws.zone': 'a' },
      },
      { id: 102, name: 'cart', kind: 'web', webRpm: 60, hosts: 1 },
    ],
  } as const;
  const poll = 'poll: { tags: { team: team, aws.zone: zone } }';

  it('is a label on every series of its application, and empty where there is none', async () => {
    const bench = await queriesStarted({ poll }, { fleet });
    const own = await linesOf(bench, /app_id="101"/u);
    const others = await linesOf(bench, /app_id="102"/u);

    expect(own.length).toBeGreaterThan(10);
    expect(own.every((line) => line.includes('team="red",zone="a"'))).toBe(true);
    expect(others.every((line) => line.includes('team="",zone=""'))).toBe(true);
    expect(bench.daemon.applications().find(({ id }) => id === '101')?.labels).toEqual({
      team: 'red',
      zone: 'a',
    });
  });

  it('moves the series without a gap when it changes', async () => {
    const bench = await queriesStarted({ poll }, { fleet });
    const count = (await linesOf(bench, /app_id="101"/u)).length;
    bench.simulator.fleet.setTags(101, { team: 'blue', 'aws.zone': 'a' });
    for (let seconds = 0; seconds < 90; seconds += 1) {
      await bench.platform.clock.advance(1000);
      const lines = await linesOf(bench, /app_id="101"/u);
      expect(lines).toHaveLength(count);
      expect(new Set(lines.map((line) => /team="(\w*)"/u.exec(line)?.[1])).size).toBe(1);
    }
    expect((await linesOf(bench, /app_id="101"/u))[0]).toContain('team="blue"');
  });

  it('is asked for by a reload, and by nobody who does not want it', async () => {
    const bench = await queriesStarted({}, { fleet });
    const asked = (): boolean =>
      bench.simulator.journal
        .entries()
        .some(({ graphql }) => graphql?.text.includes('tags { key values }') === true);
    expect(asked()).toBe(false);
    await bench.daemon.apply(await queryConfig({ poll }));
    await bench.platform.clock.advance(5_000);

    expect(asked()).toBe(true);
    expect((await linesOf(bench, /app_id="101"/u))[0]).toContain('team="red"');
  });
});
