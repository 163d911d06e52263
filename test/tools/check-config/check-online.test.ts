import { describe, expect, it } from 'vitest';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { firstMetricOnly, missingIn, printedBy, threeApplications } from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const nerdgraph = account.replace('}', ', source: nerdgraph, account_id: 1234567 }');
const wrong = account.replace('main', 'wrong').replace('KEY', 'WRONG_KEY');

/** A file, and what is said of it. */
interface Row {
  readonly what: string;
  /** Default: one with REST. */
  readonly accounts?: string;
  readonly file: string;
  readonly fleet?: FleetOptions;
  readonly rules?: readonly FaultRule[];
  readonly args?: readonly string[];
  readonly exits?: number;
  readonly calls?: number;
  readonly says: readonly (string | RegExp)[];
  readonly never?: readonly (string | RegExp)[];
}

async function printedOf({ accounts = account, file, args = [], ...row }: Omit<Row, 'says'>) {
  const { fleet = threeApplications, rules = [] } = row;
  const files = { 'c.yaml': `accounts: [${accounts}]\n${file}` };
  const command = ['check-config', '--online', 'c.yaml', ...args];
  return printedBy({ fleet }, command, files, undefined, rules);
}

/** What is not as the row says. */
async function unmet({ says, never = [], ...row }: Row): Promise<readonly unknown[]> {
  const { exitCode, calls, stdout, stderr } = await printedOf(row);
  return [
    ...missingIn(stdout, says),
    ...never.filter((one) => missingIn(stdout, [one]).length === 0),
    ...missingIn(`${exitCode}, ${calls} calls`, [`${row.exits ?? 0}, ${row.calls ?? calls} calls`]),
    ...missingIn(stderr, [/^(?![^]*"level")/u]),
  ];
}

describe('check-config --online', () => {
  it('says what each key gives access to, and what else is well', async () => {
    const file = 'apps: [{ name: shop }, { id: 12 }]';

    const result = await printedOf({ what: '', file });

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

  const fortyFive = Array.from({ length: 45 }, (_, index) => `{ id: ${900 + index} }`).join(', ');
  const patterns = Array.from({ length: 60 }, (_, index) => `{ match: "^zz${index}" }`).join(', ');
  const unreadable: FaultRule = {
    when: { endpoints: ['application_metrics'] },
    fault: { kind: 'status', status: 422 },
  };
  const refusedOnce: FaultRule = {
    when: { untilMs: 60_000 },
    fault: { kind: 'throttled', hints: [] },
  };
  const hosts: FleetOptions = {
    applications: [
      { id: 11, name: 'shop', kind: 'both', hosts: [{ name: 'own-pod' }, { name: 'web-1' }] },
      { id: 12, name: 'billing', kind: 'both', hosts: [{ name: 'node-7' }] },
    ],
  };
  const copy = account.replace('main', 'copy');

  it.each<Row>([
    {
      what: 'shows entries that match nothing in the file, with what may be meant',
      file: 'apps:\n  - name: Shop\n  - match: "^Bill"\n  - id: 999\n  - name: nothing of the kind',
      exits: 1,
      says: [
        `4 error   c.yaml:3:11: account main: nothing matches name=Shop
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
`,
        /\nc\.yaml: 4 errors, 0 warnings\n$/u,
      ],
    },
    {
      what: 'names forty of many ids that are not there, and counts the others',
      file: `apps: [{ id: 12 }, ${fortyFive}]`,
      exits: 1,
      says: [
        /^ 1 note/u,
        /^(?:[^]*?nothing matches id=\d+\n){40}(?![^]*nothing matches)/u,
        'not found so far: 5 more ids, of which the daemon asks for ten',
      ],
    },
    {
      what: 'names all of many patterns that match nothing',
      file: `apps: [{ id: 12 }, ${patterns}]`,
      exits: 1,
      says: [/^(?:[^]*?nothing matches match=\^zz\d+\n){60}/u, 'c.yaml: 60 errors'],
    },
    {
      what: 'warns of an entry all of whose applications earlier entries took',
      file: 'apps:\n  - id: 12\n  - match: "^bill"\n  - name: shop',
      says: [
        ` warning c.yaml:4:12: account main: match=^bill has no effect: its application belongs to entries before it, such as id=12
    4 |   - match: "^bill"
      |            ^^^^^^^
    = help: put it before that entry, or remove it
`,
      ],
    },
    {
      what: 'counts what is excluded, and names exclusions that do nothing',
      file: 'apps: [{ match: "^sh", exclude: true }, { name: none, exclude: true }, { name: shop }, { match: "." }]',
      says: [
        '3 applications found, 2 chosen, 1 excluded\n',
        /note {4}c\.yaml:2:49: .*name=none matches nothing .* excludes nothing/u,
        /warning c\.yaml.*name=shop has no effect.* such as match=\^sh\n/u,
      ],
    },
    {
      what: 'asks of an empty account whether it is the right one',
      file: 'apps: [{ name: shop }]',
      fleet: { applications: [] },
      exits: 1,
      says: ['= help: the key sees no application: with "source: rest" it sees the account in'],
    },
    {
      what: 'names accounts that refuse the key, goes on with the others, and never says ok',
      accounts: `${account}, ${wrong}`,
      file: 'apps: [{ name: shop, account: main }, { match: ".", account: wrong }]',
      exits: 1,
      says: [
        'account main: key accepted, 3 applications found, 1 chosen\n',
        /account wrong: discovery failed: list_applications: status 401.*\n.*help: put a valid key of/u,
      ],
      never: ['c.yaml: ok'],
    },
    ...[
      { other: 'KEY', says: 'the accounts "main" and "copy" have the same' },
      {
        other: 'NEW_RELIC_API_KEY',
        says: 'accounts with the same API key: they share its limit evenly, the smallest requests_per_minute of them: main, copy\n',
      },
    ].map(({ other, says }) => ({
      what: `finds the same key in ${other} once, without a line of the log`,
      accounts: `${account}, ${copy.replace('KEY', other)}`,
      file: 'apps: [{ id: 12, account: main }, { id: 11, account: copy }]',
      says: [says, ', 1 warning\n'],
      never: [
        /the same API key[^]*the same API key/u,
        /"source: rest" asks[^]*"source: rest" asks/u,
      ],
    })),
    ...[
      { args: [], said: '12 has no host "own-pod" yet, which hosts: self asks for' },
      { args: ['--host-name=node-7'], said: '11 has no host "node-7" yet' },
    ].map(({ args, said }) => ({
      what: `names the applications without the host of this process: ${args.join('')}`,
      file: 'apps: [{ match: ".", hosts: self, application: false }]',
      fleet: hosts,
      args,
      calls: 5,
      says: [`account main: application ${said}`],
      never: [/has no host[^]*has no host/u],
    })),
    {
      what: 'warns if polling does not fit the budget, and says what would',
      accounts: account.replace(' }', ', requests_per_minute: 2 }'),
      file: 'apps: [{ name: shop }]',
      says: [
        'warning account main: intervals stretched 3.1 times: 4 calls a minute needed, 2 allowed\n' +
          '    = help: interval: 3m6s or requests_per_minute: 5\n',
        'account main: polling does not fit: 4 of 2 calls a minute, of which 2 may be planned\n',
      ],
    },
    {
      what: 'says what would make a budget fit that stretches no interval',
      accounts: account.replace(' }', ', requests_per_minute: 4 }'),
      file: 'apps: [{ name: shop }]',
      says: [
        /note {4}account main: polling does not fit: 4 of 4 calls .*\n {4}= help: interval: .* or requests_per_minute: 5\n/u,
        ', 0 warnings\n',
      ],
    },
    {
      what: 'does not say that anything is polled while the list fails',
      file: 'apps: [{ name: shop }]',
      rules: [{ when: { endpoints: ['applications'] }, fault: { kind: 'status', status: 500 } }],
      exits: 1,
      says: [/error {3}account main: discovery failed: list_applications: status 500.*\n(?! +=)/u],
      never: ['polled meanwhile'],
    },
    {
      what: 'warns of calls that New Relic refused',
      file: 'apps: [{ name: shop }]',
      rules: [refusedOnce],
      says: [
        /warning account main: New Relic refused 1 call, the last at 10:00:30 UTC\n.*help: if this lasts/u,
      ],
    },
    {
      what: 'asks for values with one call, and says when they cannot be read',
      file: 'apps: [{ name: shop }]',
      rules: [unreadable],
      exits: 1,
      says: [
        /error {3}account main: application 11: application_metrics of application 11: status 422.*\n.*help: look the reason up in docs\/troubleshooting\.md\n/u,
      ],
    },
  ])('$what', async (row) => {
    expect(await unmet(row)).toEqual([]);
  });
});

describe('check-config --online, for metrics', () => {
  const series = (metric: string, value = 'average_response_time'): string =>
    `{ metric: ${metric}, value: ${value}, as: a }`;
  const misspelt = series('Misspelt', 'average_value');
  const two = series('HttpDispatcher', 'used_mb_by_host');
  const idle = '{ metric: HttpDispatcher, value: total_call_time_per_minute, as: b }';
  const ofWrongValue = `apps: [{ id: 12, metrics: [${two}, ${idle}] }]`;

  it.each<Row>([
    {
      what: 'tries an application of the entry with the most metrics of its own',
      file: `apps: [{ name: shop, metrics: [throughput, response_time, errors] }, { id: 12, metrics: [throughput, ${misspelt}] }]`,
      says: [
        'application 12: values can be read, it has web throughput\n',
        /warning c\.yaml:2:\d+: .*application 12 has no metric "Misspelt"\n.*\n.*\n.*help: see how the metric is spelt with "newrelic-exporter metrics"/u,
      ],
    },
    ...[account, nerdgraph].map((accounts) => ({
      what: `finds misspelt ones of every list, at their lines, with what may be meant: ${accounts}`,
      accounts,
      file: `poll: { metrics: [throughput, ${series('WebFrontend/Queuetime')}] }
apps: [{ id: 12 }, { id: 11, metrics: [${series('Webfrontend/QueueTime')}] }]`,
      says: [
        /warning c\.yaml:2:41: .*application 12 has no metric/u,
        /warning c\.yaml:3:50: .*application 11 has no metric/u,
        /(?:[^]*did you mean "WebFrontend\/QueueTime"\?){2}/u,
        ', 2 warnings\n',
      ],
    })),
    {
      what: 'finds what may be meant by a misspelt name of one word',
      file: `apps: [{ id: 12, metrics: [${series('HttpDispacher')}] }]`,
      says: [/has no metric "HttpDispacher"\n.*\n.*\n.* did you mean "HttpDisp/u],
    },
    {
      what: 'finds a value that the metric does not have, and leaves idle metrics alone',
      file: ofWrongValue,
      says: [
        /has no value "used_mb_by_host" of the metric "HttpDispatcher"\n/u,
        'help: it has average_call_time, average_exclusive_time',
        ', 1 warning\n',
      ],
    },
    {
      what: 'says nothing of values that NerdGraph does not tell',
      accounts: nerdgraph,
      file: ofWrongValue,
      says: [', 0 warnings\n'],
    },
    ...[
      { rules: [], says: '3 metrics take 1 call' },
      {
        rules: [firstMetricOnly],
        says: '3 metrics take 3 calls: New Relic answers for one metric at a time',
      },
    ].map(({ rules, says }) => ({
      what: `says that ${says}`,
      file: 'apps: [{ name: shop, metrics: [throughput, errors, apdex] }]',
      rules,
      says: [` ok      account main: ${says}\n`],
    })),
  ])('$what', async (row) => {
    expect(await unmet(row)).toEqual([]);
  });
});
