import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import {
  firstMetricOnly,
  type Printed,
  printedBy,
  printedOn,
  threeApplications,
} from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';

interface Circumstances {
  readonly accounts?: string;
  readonly rules?: readonly FaultRule[];
}

/** What is said of a file with these lines. */
async function planned(
  args: readonly string[],
  lines: string,
  { accounts = account, rules = [] }: Circumstances = {},
): Promise<Printed> {
  const files = { 'c.yaml': `accounts: [${accounts}]\n${lines}` };
  const options = { fleet: threeApplications };
  return printedBy(options, ['plan', ...args, 'c.yaml'], files, undefined, rules);
}

describe('plan', () => {
  it('asks nobody, and states its assumptions', async () => {
    const { exitCode, stdout, calls } = await planned(
      ['--plan.apps-per-match=3', '--plan.hosts-per-app=4'],
      'apps: [{ id: 1 }, { name: a }, { match: "^b" }]',
    );

    expect({ exitCode, calls }).toEqual({ exitCode: 0, calls: 0 });
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
      'apps: [{ id: 12, exclude: true }, { match: "^sh", exclude: true, account: main }, { id: 901 }, { id: 902 }, { match: "." }]';

    const asked = await planned(['--online'], apps);
    const supposed = await planned([], apps);

    expect(asked.stdout).toContain(
      '1 with 0 hosts, 1 of them not reporting and not polled; 2 more excluded',
    );
    expect(asked.stdout).toMatch(/list_applications +1\n/u);
    expect(supposed.stdout).toContain('  applications    12 with 120 hosts\n');
  });

  it('says the same to people and to machines, also what several replicas take', async () => {
    const apps = 'apps: [{ id: 1, interval: 2m }]';

    const words = await planned(['--replicas=3'], apps);
    const document = await planned(['--replicas=3', '--output=json'], apps);

    expect(words.stdout).toContain('replicas        3 take 19.5 of the 1000 calls a minute');
    expect(JSON.parse(document.stdout)).toMatchObject({
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

  it.each([
    {
      what: 'several metrics as one call, as long as New Relic gives them together',
      apps: '[{ id: 1, metrics: [throughput, apdex, memory, cpu] }]',
      says: /application_metrics +1\n +host_metrics +10\n/u,
    },
    {
      what: 'an entry that is repeated once',
      apps: '[{ id: 1 }, { id: 1, interval: 2m }]',
      says: /\n {2}applications {4}1 with 10 hosts\n/u,
    },
  ])('counts $what', async ({ apps, says }) => {
    expect((await planned([], `apps: ${apps}`)).stdout).toMatch(says);
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
    const { exitCode, stdout } = await planned(['--plan.hosts-per-app=99'], `apps: ${apps}`);

    expect(exitCode).toBe(1);
    expect(lines.filter((line) => !stdout.includes(line))).toEqual([]);
  });

  it('says so when only rarer discoveries help', async () => {
    const { stdout } = await planned([], 'poll: { discovery_interval: 30s }\napps: [{ id: 1 }]', {
      accounts: account.replace(' }', ', requests_per_minute: 2 }'),
    });

    expect(stdout).toContain('to fit          a longer discovery_interval');
  });

  it('exits with 2 for a file that is not there', async () => {
    const { exitCode, stderr } = await printedBy({}, ['plan', 'missing.yaml'], {});

    expect(exitCode).toBe(2);
    expect(stderr).toContain('the configuration file does not exist');
  });
});

describe('the calls of several replicas', () => {
  const ofNerdgraph = account.replace('}', ', source: nerdgraph, account_id: 1234567 }');
  const hosts = (count: number): readonly string[] => [`--plan.hosts-per-app=${count}`];
  const applications = (count: number): readonly string[] => [
    `--plan.apps-per-match=${count}`,
    ...hosts(0),
  ];

  it.each([
    { of: account, args: hosts(498), total: 500, replicas: 2, fits: true, mostReplicas: 2 },
    { of: account, args: hosts(498), total: 500, replicas: 3, fits: false, mostReplicas: 2 },
    { of: account, args: hosts(499), total: 501, replicas: 2, fits: false, mostReplicas: 1 },
    { of: ofNerdgraph, args: hosts(0), total: 3, replicas: 1000, fits: true, mostReplicas: 1000 },
    { of: ofNerdgraph, args: hosts(0), total: 3, replicas: 1001, fits: false, mostReplicas: 1000 },
  ])('fit what New Relic allows: $replicas of $total: $fits', async (row) => {
    const args = [`--replicas=${row.replicas}`, '--output=json', ...row.args];
    const { exitCode, stdout } = await planned(args, 'apps: [{ id: 1, interval: 1m }]', {
      accounts: row.of,
    });

    const { accounts } = JSON.parse(stdout) as { accounts: readonly unknown[] };
    expect(accounts).toMatchObject([
      {
        fits: true,
        together: {
          calls_per_minute: row.replicas * row.total,
          fits: row.fits,
          most_replicas: row.mostReplicas,
        },
      },
    ]);
    expect(exitCode).toBe(row.fits ? 0 : 1);
  });

  it.each([
    { count: 200, calls: 1 },
    { count: 201, calls: 2 },
  ])('of a list of $count applications take $calls calls', async ({ count, calls }) => {
    const { stdout } = await planned(applications(count), 'apps: [{ match: "." }]');

    expect(stdout).toMatch(new RegExp(`list_applications +${calls}\\n`, 'u'));
  });
});

describe('plan --online', () => {
  it('plans what it found, and names what it did not', async () => {
    const result = await planned(
      ['--online'],
      'apps: [{ name: shop }, { name: Shop }, { id: 13 }]',
    );

    expect(result).toMatchObject({ exitCode: 0, stderr: '', calls: 1, open: 0 });
    expect(result.stdout).toContain(`account main
  applications     2 with 2 hosts, 1 of them not reporting and not polled
  matches nothing  name=Shop
  budget           fits: 4 of 800 calls a minute
  interval         1m
`);
    expect(result.stdout).not.toContain('assumed');
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
    const lines = 'poll: { metrics: [throughput, errors, apdex, memory] }\napps: [{ name: shop }]';

    const { stdout, calls } = await planned(['--online'], lines, { rules });

    expect(stdout).toMatch(new RegExp(`\\n  metrics +${says}\\n`, 'u'));
    expect(stdout).toMatch(total);
    expect(calls).toBe(expected);
  });

  it('goes on with the other accounts when one cannot be discovered, and exits with 1', async () => {
    const wrong = account.replace('main', 'wrong').replace('KEY', 'WRONG_KEY');
    const apps = 'apps: [{ match: ".", account: wrong }, { match: ".", account: main }]';

    const { exitCode, stdout, stderr } = await planned(['--online'], apps, {
      accounts: `${wrong}, ${account}`,
    });

    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^account main\n/u);
    expect(stderr).toContain('account wrong: discovery failed: list_applications: status 401');
    expect(`${stdout}${stderr}`).not.toContain('NRAK-WRONG');
  });

  it.each([
    { what: 'a key with few calls left', options: { quotaPerMinute: 1 }, rules: [] },
    { what: 'a slow account', options: { latencyMs: 20_000 }, rules: [] },
    {
      what: 'an account that refuses every other call for a while',
      options: {},
      rules: [{ when: { calls: { every: 2 } }, fault: { kind: 'throttled', hints: [] } }] as const,
    },
  ])('waits for $what', async ({ options, rules }) => {
    const pages = { fleet: threeApplications, pageSize: 2, ...options };
    const files = { 'c.yaml': `accounts: [${account}]\napps: [{ match: "." }]` };

    const printed = await printedBy(pages, ['plan', '--online', 'c.yaml'], files, undefined, rules);

    expect(printed).toMatchObject({ exitCode: 0, open: 0 });
    expect(printed.stdout).toContain('  applications    3 with 3 hosts, 1 of them not reporting');
    expect(printed.elapsedMs).toBeGreaterThan(20_000);
  });

  it('ends at once when it is interrupted, and prints nothing', async () => {
    const files = { 'c.yaml': `accounts: [${account}]\napps: [{ match: "." }]` };
    const pages = { fleet: threeApplications, pageSize: 1 };
    const stop: Parameters<typeof printedOn>[6] = (call, platform) => {
      if (call === 2) platform.stop();
    };

    const args = ['plan', '--online', 'c.yaml'];
    const printed = await printedOn({}, pages, args, files, undefined, [], stop);

    expect(printed).toMatchObject({ exitCode: 143, stdout: '' });
    expect(printed.calls).toBeLessThan(4);
  });

  it('exits with 2 for a key that is not there', async () => {
    const { exitCode, stderr, calls } = await planned(['--online'], 'apps: [{ match: "." }]', {
      accounts: account.replace('KEY', 'NO_KEY'),
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(stderr).toContain('account main: the environment variable NO_KEY is not set');
  });
});

describe('plan of queries alone', () => {
  const accounts = account.replace('}', ', source: nerdgraph, account_id: 1234567 }');
  const queries = `queries:
  - { as: calls, nrql: SELECT count(*) FROM Transaction FACET appName LIMIT 100 }
  - { as: bad, nrql: SELECT count(*) FROM Transaction WHERE a ~ 1 FACET appName LIMIT 100 }`;

  it.each([
    // `newrelic_up`, and of each query its own three.
    { args: [], calls: 0, series: 1 + 2 * (3 + 100) },
    { args: ['--online'], calls: 2, series: 1 + 3 + 2 + 3 + 100 },
  ])('speaks of queries only: $args', async ({ args, calls, series }) => {
    const result = await planned(args, queries, { accounts });

    expect(result).toMatchObject({ exitCode: 0, calls });
    expect(result.stdout).toContain(`series          at most ${series}\n`);
    expect(result.stdout).toMatch(/ queries +2\n/u);
    expect(result.stdout).not.toMatch(/application|assumed|host/u);
  });

  it.each([
    { what: '1 without FACET', nrql: 'SELECT count(*) FROM Transaction', series: 1 },
    {
      what: 'as many as LIMIT allows',
      nrql: 'SELECT count(*) FROM T FACET a LIMIT 100',
      series: 100,
    },
    {
      what: 'one for each function and percentile',
      nrql: 'SELECT count(*) AS b, percentile(duration, 50, 95) AS c FROM T FACET a LIMIT 100',
      series: 300,
    },
    {
      what: 'no more than max_series',
      nrql: 'SELECT count(*) FROM T FACET a LIMIT 5000',
      series: 1000,
    },
  ])('counts the series of a query: $what', async ({ nrql, series }) => {
    const name = nrql.includes(' AS ') ? '{ b: b, c: c }' : 'b';
    const { stdout } = await planned([], `queries: [{ as: ${name}, nrql: "${nrql}" }]`, {
      accounts,
    });

    // Its own are whether it succeeds, when it did, and how many rows it had.
    expect(stdout).toContain(`series          at most ${1 + 3 + series}\n`);
  });

  it('exits with 1 for a refused key', async () => {
    const { exitCode, stdout, stderr } = await planned(['--online'], queries, {
      accounts: accounts.replace('KEY', 'WRONG_KEY'),
    });

    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('account main: discovery failed: query: status 401');
  });
});
