import { describe, expect, it } from 'vitest';
import { planCalls } from '../../src/tools/call-plan.ts';
import { seriesOfQuery, togetherOf } from '../../src/tools/make-plan.ts';
import { aGauge, anAccount, aQuery } from '../support/builders.ts';
import { firstMetricOnly, printed, printedBy, threeApplications } from './ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';

describe('plan', () => {
  it('asks nobody, and states its assumptions', async () => {
    const config = `accounts: [${account}]\napps: [{ id: 1 }, { name: a }, { match: "^b" }]`;

    const { exitCode, stdout, calls } = await printed(
      ['plan', '--plan.apps-per-match=3', '--plan.hosts-per-app=4', 'c.yaml'],
      { 'c.yaml': config },
    );

    expect(calls).toBe(0);
    expect(exitCode).toBe(0);
    expect(stdout.replace(/about \d+ of its own/u, 'about N of its own')).toBe(
      `account main
  applications    5 with 20 hosts
  assumed         3 applications for each match, 4 hosts for each application; --online asks New Relic
  budget          fits: 26 of 800 calls a minute
  interval        1m
  first full set  after about 2s
  series          at most 141

  calls a minute
    list_applications     1
    list_hosts            0  5 once, at the start
    application_metrics   5
    host_metrics         20
    total                26

the exporter
  series  at most 141 of New Relic data, about N of its own
  memory  about 96 MiB, 134 MiB while it starts
`,
    );
  });

  it('plans nothing for what is excluded, and counts missing ids as the daemon asks for them', async () => {
    const apps =
      '[{ id: 12, exclude: true }, { match: "^sh", exclude: true, account: main }, { id: 901 }, { id: 902 }, { match: "." }]';
    const files = { 'c.yaml': `accounts: [${account}]\napps: ${apps}` };

    const asked = await printed(['plan', '--online', 'c.yaml'], files, threeApplications);
    const supposed = await printed(['plan', 'c.yaml'], files);

    expect(asked.stdout).toContain(
      '1 with 0 hosts, 1 of them not reporting and not polled; 2 more excluded',
    );
    expect(asked.stdout).toMatch(/list_applications +1\n/u);
    expect(supposed.stdout).toContain('  applications    12 with 120 hosts\n');
  });

  it('says the same to people and to machines, also what several replicas take', async () => {
    const files = { 'c.yaml': `accounts: [${account}]\napps: [{ id: 1, interval: 2m }]` };

    const words = await printed(['plan', '--replicas=3', 'c.yaml'], files);
    const asked = await printed(['plan', '--replicas=3', '--output=json', 'c.yaml'], files);

    expect(words.stdout).toContain('replicas        3 take 19.5 of the 1000 calls a minute');
    expect(JSON.parse(asked.stdout)).toMatchObject({
      fits: true,
      accounts: [
        {
          sent_per_minute: { host_metrics: 5, total: 6.5 },
          intervals: [{ configured_seconds: 120, effective_seconds: 120, polled: 1 }],
          to_fit: null,
          together: { calls_per_minute: 19.5, start_calls: 39, fits: true },
          supposed: { apps_per_match: 10, hosts_per_app: 10 },
        },
      ],
    });
  });

  it('counts on one call for several metrics, as long as New Relic gives them together', async () => {
    const apps = '[{ id: 1, metrics: [throughput, apdex, memory, cpu] }]';

    const { stdout } = await printed(['plan', 'c.yaml'], {
      'c.yaml': `accounts: [${account}]\napps: ${apps}`,
    });

    expect(stdout).toMatch(/application_metrics +1\n +host_metrics +10\n/u);
  });

  it('counts an entry that is repeated once', async () => {
    const config = `accounts: [${account}]\napps: [{ id: 1 }, { id: 1, interval: 2m }]`;

    const { stdout } = await printed(['plan', 'c.yaml'], { 'c.yaml': config });

    expect(stdout).toContain('  applications    1 with 10 hosts\n');
  });

  it.each([
    {
      what: 'one interval',
      apps: '[{ match: "." }]',
      lines: [
        'budget          does not fit: 1001 of 800 calls a minute, of which 788 may be planned',
        'to fit          interval: 1m17s',
        '                or requests_per_minute: 1017; New Relic allows 1000 for a key, so this takes several accounts',
        'interval        1m16s instead of 1m (× 1.27)',
        'total                     1001    788',
      ],
    },
    {
      what: 'two intervals',
      apps: '[{ match: ".", interval: 50s }, { id: 1, interval: 5m }]',
      lines: [
        'to fit          interval: 1m18s for 50s, 7m46s for 5m',
        'interval        1m18s instead of 50s (× 1.55), 10 polled',
        'interval        7m45s instead of 5m (× 1.55), 1 polled',
      ],
    },
  ])('says what makes an account with $what fit, and exits with 1', async ({ apps, lines }) => {
    const config = `accounts: [${account}]\napps: ${apps}`;

    const { exitCode, stdout } = await printed(['plan', '--plan.hosts-per-app=99', 'c.yaml'], {
      'c.yaml': config,
    });

    expect(exitCode).toBe(1);
    for (const line of lines) expect(stdout).toContain(line);
  });

  it('says so when only rarer discoveries help', async () => {
    const small = account.replace(' }', ', requests_per_minute: 2 }');
    const config = `accounts: [${small}]\npoll: { discovery_interval: 30s }\napps: [{ id: 1 }]`;

    const { stdout } = await printed(['plan', 'c.yaml'], { 'c.yaml': config });

    expect(stdout).toContain('to fit          a longer discovery_interval');
  });

  it.each([{ args: ['plan', 'missing.yaml'], message: 'the configuration file does not exist' }])(
    'exits with 2 for $args',
    async ({ args, message }) => {
      const { exitCode, stderr } = await printed(args, {
        'c.yaml': `accounts: [${account}]\napps: [{ id: 1 }]`,
      });

      expect(exitCode).toBe(2);
      expect(stderr).toContain(message);
    },
  );
});

describe('the calls of several replicas', () => {
  it.each([
    { source: 'rest', sentPerMinute: 500, replicas: 2, fits: true, mostReplicas: 2 },
    { source: 'rest', sentPerMinute: 500, replicas: 3, fits: false, mostReplicas: 2 },
    { source: 'rest', sentPerMinute: 501, replicas: 2, fits: false, mostReplicas: 1 },
    { source: 'nerdgraph', sentPerMinute: 1000, replicas: 3, fits: true, mostReplicas: 3 },
    { source: 'nerdgraph', sentPerMinute: 1000, replicas: 4, fits: false, mostReplicas: 3 },
  ] as const)(
    'fit what New Relic allows for $source: $replicas of $sentPerMinute: $fits',
    ({ source, sentPerMinute, replicas, fits, mostReplicas }) => {
      const of = anAccount({ source: { kind: source, accountId: 1 } });
      const discovery = { calls: 1, intervalMs: 60_000 };
      const none = { list_applications: 0, list_hosts: 0, application_metrics: 0 };
      const cost = () => ({ ...none, host_metrics: 0, query: 0 });
      const plan = planCalls({ account: of, applications: [], queries: [], cost, discovery });
      const calls = { ...plan, sentPerMinute, startCalls: 7 };

      expect(togetherOf(calls, replicas)).toMatchObject({
        callsPerMinute: replicas * sentPerMinute,
        startCalls: replicas * 7,
        fits,
        mostReplicas,
      });
    },
  );
});

describe('plan --online', () => {
  it('plans what it found, and names what it did not', async () => {
    const config = `accounts: [${account}]\napps: [{ name: shop }, { name: Shop }, { id: 13 }]`;

    const { exitCode, stdout, stderr, calls } = await printed(
      ['plan', '--online', 'c.yaml'],
      { 'c.yaml': config },
      threeApplications,
    );

    expect({ exitCode, stderr, calls }).toEqual({ exitCode: 0, stderr: '', calls: 1 });
    expect(stdout).toContain(`account main
  applications     2 with 2 hosts, 1 of them not reporting and not polled
  matches nothing  name=Shop
  budget           fits: 4 of 800 calls a minute
  interval         1m
`);
    expect(stdout).not.toContain('assumed');
  });

  it.each([
    { rules: [], says: '4 metrics take 1 call', calls: 1 + 1, total: /total +4\n/u },
    {
      rules: [firstMetricOnly],
      says: '4 metrics take 4 calls: New Relic answers for one metric at a time',
      calls: 1 + 1 + 4,
      total: /total +13\n/u,
    },
  ])('says that $says, and plans with that', async ({ rules, says, calls: expected, total }) => {
    const config = `accounts: [${account}]
poll: { metrics: [throughput, errors, apdex, memory] }
apps: [{ name: shop }]`;

    const { stdout, calls } = await printedBy(
      { fleet: threeApplications },
      ['plan', '--online', 'c.yaml'],
      { 'c.yaml': config },
      undefined,
      rules,
    );

    expect(stdout).toMatch(new RegExp(`\\n  metrics +${says}\\n`, 'u'));
    expect(stdout).toMatch(total);
    expect(calls).toBe(expected);
  });

  it('goes on with the other accounts when one cannot be discovered, and exits with 1', async () => {
    const wrong = account.replace('main', 'wrong').replace('KEY', 'WRONG_KEY');
    const config = `accounts: [${wrong}, ${account}]
apps: [{ match: ".", account: wrong }, { match: ".", account: main }]`;

    const { exitCode, stdout, stderr } = await printed(
      ['plan', '--online', 'c.yaml'],
      { 'c.yaml': config },
      threeApplications,
    );

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^account main\n/u);
    expect(stderr).toContain('account wrong: discovery failed: list_applications: status 401');
    expect(`${stdout}${stderr}`).not.toContain('NRAK-WRONG');
  });

  it('exits with 2 for a key that is not there', async () => {
    const config = `accounts: [${account.replace('KEY', 'NO_KEY')}]\napps: [{ match: "." }]`;

    const { exitCode, stderr, calls } = await printed(['plan', '--online', 'c.yaml'], {
      'c.yaml': config,
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(stderr).toContain('account main: the environment variable NO_KEY is not set');
  });
});

const queried = `accounts: [${account.replace('}', ', source: nerdgraph, account_id: 1234567 }')}]
queries:
  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 100 }
  - { as: bad, nrql: SELECT count(*) FROM Transaction WHERE a == 1 FACET appName LIMIT 100 }`;

describe('the series of a query', () => {
  const percentiles = aGauge('slow', { gives: 'percentiles', percentages: [50, 95] });

  it.each([
    { what: '1 without FACET', query: { mostRows: 1 }, series: 1 },
    { what: 'as many as LIMIT allows', query: { mostRows: 100 }, series: 100 },
    {
      what: 'one for each function and percentile',
      query: { mostRows: 100, gauges: [aGauge('a'), percentiles] },
      series: 300,
    },
    { what: 'no more than max_series', query: { mostRows: 5000 }, series: 1000 },
  ])('are $what', ({ query, series }) => {
    // Its own are whether it succeeds, when it did, and how many rows it had.
    expect(seriesOfQuery({ ...aQuery, ...query })).toBe(3 + series);
  });
});

describe('plan of queries alone', () => {
  it.each([
    // `newrelic_up`, and of each query its own three.
    { args: [], calls: 0, series: 1 + 2 * (3 + 100) },
    { args: ['--online'], calls: 2, series: 1 + 3 + 1 + 3 + 100 },
  ])('speaks of queries only: $args', async ({ args, calls, series }) => {
    const fleet = { applications: [{ id: 11, name: 'shop', kind: 'web', hosts: 1 }] } as const;

    const result = await printed(['plan', ...args, 'c.yaml'], { 'c.yaml': queried }, fleet);

    expect([result.exitCode, result.calls]).toEqual([0, calls]);
    expect(result.stdout).toContain(`series          at most ${series}\n`);
    expect(result.stdout).toMatch(/ queries +2\n/u);
    expect(result.stdout).not.toMatch(/application|assumed|host/u);
  });

  it('exits with 1 for a refused key', async () => {
    const files = { 'c.yaml': queried.replace('KEY', 'WRONG_KEY') };

    const { exitCode, stdout, stderr } = await printed(['plan', '--online', 'c.yaml'], files);

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('account main: discovery failed: query: status 401');
  });
});
