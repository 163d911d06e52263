import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import {
  firstMetricOnly,
  type Printed,
  printedBy,
  threeApplications,
} from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const nerdgraph = account.replace('}', ', source: nerdgraph, account_id: 1234567 }');
const wrong = account.replace('main', 'wrong').replace('KEY', 'WRONG_KEY');

/** What is said of a file with these accounts and lines. */
async function checked(
  accounts: string,
  lines: string,
  { fleet = threeApplications, rules = [], args = [] }: Circumstances = {},
): Promise<Printed> {
  const files = { 'c.yaml': `accounts: [${accounts}]\n${lines}` };
  const command = ['check-config', '--online', 'c.yaml', ...args];
  return printedBy({ fleet }, command, files, undefined, rules);
}

interface Circumstances {
  readonly fleet?: typeof threeApplications;
  readonly rules?: readonly FaultRule[];
  readonly args?: readonly string[];
}

describe('check-config --online', () => {
  it('says what each key gives access to, and what else is well', async () => {
    const result = await checked(account, 'apps: [{ name: shop }, { id: 12 }]');

    expect(result).toMatchObject({ exitCode: 0, stderr: '', calls: 3, open: 0 });
    expect(result.stdout).toBe(
      `1 note    account main: "source: rest" asks the REST API v2, which New Relic ends on 2027-07-31
    = help: change to "source: nerdgraph" before then: newrelic-exporter compare shows whether the values agree; see https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/nerdgraph.md
2 ok      account main: key accepted, 3 applications found, 2 chosen
3 note    account main: there is no account_id, which newrelic-exporter compare and "source: nerdgraph" need
    = help: add this line: account_id: 1234567  # Simulated account
4 ok      account main: application 11: values can be read, it has web and other throughput
5 ok      account main: polling fits: 6 of 800 calls a minute
c.yaml: ok, 1 account, 2 entries of apps, 0 warnings
`,
    );
  });

  it('shows entries that match nothing in the file, with what may be meant', async () => {
    const entries = ['name: Shop', 'match: "^Bill"', 'id: 999', 'name: nothing of the kind'];

    const { exitCode, stdout } = await checked(account, `apps:\n  - ${entries.join('\n  - ')}`);

    expect(exitCode).toBe(1);
    expect(stdout).toContain(`4 error   c.yaml:3:11: account main: nothing matches name=Shop
    3 |   - name: Shop
      |           ^^^^
    = help: did you mean "shop"?
5 error   c.yaml:4:12: account main: nothing matches match=^Bill
    4 |   - match: "^Bill"
      |            ^^^^^^^
    = help: ignoring case it matches "billing: #1": write "(?i)^Bill"
6 error   c.yaml:5:9: account main: nothing matches id=999
    5 |   - id: 999
      |         ^^^
    = help: correct it, or use a key of the account that has the application
7 error   c.yaml:6:11: account main: nothing matches name=nothing of the kind
    6 |   - name: nothing of the kind
      |           ^^^^^^^^^^^^^^^^^^^
    = help: the account has 3 applications: newrelic-exporter discover lists them
`);
    expect(stdout.endsWith('c.yaml: 4 errors, 0 warnings\n')).toBe(true);
  });

  it('names forty of many ids that are not there, and counts the others', async () => {
    const ids = Array.from({ length: 45 }, (_, index) => `{ id: ${900 + index} }`).join(', ');

    const { exitCode, stdout } = await checked(account, `apps: [{ id: 12 }, ${ids}]`);

    expect(exitCode).toBe(1);
    expect(stdout.match(/nothing matches id=\d+/gu)).toHaveLength(40);
    expect(stdout).toContain('not found so far: 5 more ids, of which the daemon asks for ten');
    expect(stdout).toMatch(/^ 1 note/u);
  });

  it('warns of an entry all of whose applications earlier entries took', async () => {
    const apps = 'apps:\n  - id: 12\n  - match: "^bill"\n  - name: shop';

    const { exitCode, stdout } = await checked(account, apps);

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      ` warning c.yaml:4:12: account main: match=^bill has no effect: its application belongs to entries before it, such as id=12
    4 |   - match: "^bill"
      |            ^^^^^^^
    = help: put it before that entry, or remove it
`,
    );
  });

  it('counts what is excluded, and names exclusions that do nothing', async () => {
    const apps =
      'apps: [{ match: "^sh", exclude: true }, { name: none, exclude: true }, { name: shop }, { match: "." }]';

    const { exitCode, stdout, stderr } = await checked(account, apps);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('3 applications found, 2 chosen, 1 excluded\n');
    expect(stdout).toMatch(
      /note {4}c\.yaml:2:49: .*name=none matches nothing .* excludes nothing/u,
    );
    expect(stdout).toMatch(/warning c\.yaml.*name=shop has no effect.* such as match=\^sh\n/u);
  });

  it('names accounts that refuse the key, goes on with the others, and never says ok', async () => {
    const apps = 'apps: [{ name: shop, account: main }, { match: ".", account: wrong }]';

    const { exitCode, stdout } = await checked(`${account}, ${wrong}`, apps);

    expect(exitCode).toBe(1);
    expect(stdout).toContain('account main: key accepted, 3 applications found, 1 chosen\n');
    expect(stdout).toContain('account wrong: discovery failed: list_applications: status 401');
    expect(stdout).not.toContain('c.yaml: ok');
  });

  it.each([
    { what: 'in one variable', other: 'KEY', says: 'the accounts "main" and "copy" have the same' },
    {
      what: 'in two',
      other: 'NEW_RELIC_API_KEY',
      says: 'accounts with the same API key: they share its limit evenly, the smallest requests_per_minute of them: main, copy',
    },
  ])('finds the same key $what once, without a line of the log', async ({ other, says }) => {
    const copy = account.replace('main', 'copy').replace('KEY', other);
    const apps = 'apps: [{ id: 12, account: main }, { id: 11, account: copy }]';

    const { stdout, stderr } = await checked(`${account}, ${copy}`, apps);

    expect(stderr).not.toContain('same API key');
    expect(stdout.match(/have the same API key|with the same API key/gu)).toHaveLength(1);
    expect(stdout).toContain(says);
    expect(stdout).toContain(', 1 warning\n');
    expect(stdout.match(/"source: rest" asks the REST API v2/gu)).toHaveLength(1);
  });

  it.each([
    { args: [], said: '12 has no host "own-pod" yet, which hosts: self asks for' },
    { args: ['--host-name=node-7'], said: '11 has no host "node-7" yet' },
  ])('names the applications without the host of this process: $args', async ({ args, said }) => {
    const applications = [
      { id: 11, name: 'shop', kind: 'both', hosts: [{ name: 'own-pod' }, { name: 'web-1' }] },
      { id: 12, name: 'billing', kind: 'both', hosts: [{ name: 'node-7' }] },
    ] as const;
    const apps = 'apps: [{ match: ".", hosts: self, application: false }]';

    const result = await checked(account, apps, { fleet: { applications }, args });

    expect(result).toMatchObject({ exitCode: 0, calls: 5 });
    expect(result.stdout).toContain(`account main: application ${said}`);
    expect(result.stdout.match(/has no host/gu)).toHaveLength(1);
  });

  it('warns if polling does not fit the budget, and says what would', async () => {
    const small = account.replace(' }', ', requests_per_minute: 2 }');

    const { exitCode, stdout } = await checked(small, 'apps: [{ name: shop }]');

    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      'warning account main: intervals stretched 3.1 times: 4 calls a minute needed, 2 allowed\n' +
        '    = help: interval: 3m6s or requests_per_minute: 5\n',
    );
  });

  it('asks for values with one call, and says when they cannot be read', async () => {
    const rule: FaultRule = {
      when: { endpoints: ['application_metrics'] },
      fault: { kind: 'status', status: 422 },
    };

    const { exitCode, stdout } = await checked(account, 'apps: [{ name: shop }]', {
      rules: [rule],
    });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'error   account main: application 11: application_metrics of application 11: status 422',
    );
    expect(stdout).toContain('= help: look the reason up in docs/troubleshooting.md\n');
  });
});

describe('check-config --online, for metrics', () => {
  const series = (metric: string, value = 'average_response_time'): string =>
    `{ metric: ${metric}, value: ${value}, as: a }`;

  it('tries an application of the entry with the most metrics of its own', async () => {
    const { exitCode, stdout } = await checked(
      account,
      `apps: [{ name: shop, metrics: [throughput, response_time, errors] }, { id: 12, metrics: [throughput, ${series('Misspelt', 'average_value')}] }]`,
    );

    expect(exitCode).toBe(0);
    expect(stdout).toContain('application 12: values can be read, it has web throughput\n');
    expect(stdout).toMatch(/warning c\.yaml:2:\d+: .*application 12 has no metric "Misspelt"\n/u);
  });

  it.each([account, nerdgraph])(
    'finds misspelt ones of every list, at their lines, with what may be meant: %s',
    async (asked) => {
      const { exitCode, stdout } = await checked(
        asked,
        `poll: { metrics: [throughput, ${series('WebFrontend/Queuetime')}] }
apps: [{ id: 12 }, { id: 11, metrics: [${series('Webfrontend/QueueTime')}] }]`,
      );

      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/warning c\.yaml:2:41: .*application 12 has no metric/u);
      expect(stdout).toMatch(/warning c\.yaml:3:50: .*application 11 has no metric/u);
      expect(stdout.match(/did you mean "WebFrontend\/QueueTime"\?/gu)).toHaveLength(2);
      expect(stdout).toContain(', 2 warnings\n');
    },
  );

  it('finds what may be meant by a misspelt name of one word', async () => {
    const apps = `apps: [{ id: 12, metrics: [${series('HttpDispacher')}] }]`;

    const { stdout } = await checked(account, apps);

    expect(stdout).toMatch(/has no metric "HttpDispacher"\n.*\n.*\n.* did you mean "HttpDisp/u);
  });

  it('finds a value that the metric does not have, and leaves idle metrics alone', async () => {
    const idle = '{ metric: HttpDispatcher, value: total_call_time_per_minute, as: b }';
    const apps = `apps: [{ id: 12, metrics: [${series('HttpDispatcher', 'used_mb_by_host')}, ${idle}] }]`;

    const { stdout } = await checked(account, apps);

    expect(stdout).toMatch(/has no value "used_mb_by_host" of the metric "HttpDispatcher"\n/u);
    expect(stdout).toContain('help: it has average_call_time, average_exclusive_time');
    expect(stdout).toContain(', 1 warning\n');
    // NerdGraph does not tell which values there are.
    expect((await checked(nerdgraph, apps)).stdout).toContain(', 0 warnings\n');
  });

  it.each([
    { rules: [], says: '3 metrics take 1 call' },
    {
      rules: [firstMetricOnly],
      says: '3 metrics take 3 calls: New Relic answers for one metric at a time',
    },
  ])('says that $says', async ({ rules, says }) => {
    const apps = 'apps: [{ name: shop, metrics: [throughput, errors, apdex] }]';

    const { stdout } = await checked(account, apps, { rules });

    expect(stdout).toContain(` ok      account main: ${says}\n`);
  });
});
