import { describe, expect, it } from 'vitest';
import type { AccountDetails, QueryStatus } from '../../src/model/status.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import type { SimulatorOptions } from '../../src/simulator/simulator-options.ts';
import { pollingText } from '../../src/tools/once.ts';
import { manyApplications } from '../faults/fault-bench.ts';
import { readScrape } from '../faults/scrape.ts';
import { aQuery } from '../support/builders.ts';
import { eachAfter } from '../support/slow.ts';
import { anAccountDetails, anApplicationStatus } from '../support/status-source.ts';
import { firstMetricOnly, printedBy } from './survey/ask-bench.ts';

function anAccount(overrides: Partial<AccountDetails> = {}): AccountDetails {
  return anAccountDetails({
    firstCycleEnded: false,
    applications: 40,
    polledApplications: 31,
    ...overrides,
  });
}

function aQueryStatus(state: QueryStatus['state']): QueryStatus {
  const of = { query: aQuery, name: aQuery.name, reading: undefined, missing: undefined };
  return { ...anApplicationStatus({ state }), ...of };
}

describe('the progress of once', () => {
  it.each([
    {
      accounts: [anAccount({ up: undefined })],
      says: 'reading the list of applications of account production',
    },
    {
      accounts: [anAccount(), anAccount({ up: undefined }), anAccount({ up: undefined })],
      says: 'reading the lists of applications of 2 accounts',
    },
    { accounts: [anAccount()], says: 'polling: 31 of 40 applications done' },
    {
      accounts: [anAccount({ queries: [aQueryStatus('up'), aQueryStatus('waiting')] })],
      says: 'polling: 31 of 40 applications and 1 of 2 queries done',
    },
    {
      accounts: [
        anAccount({
          up: undefined,
          hasApplications: false,
          applications: 0,
          polledApplications: 0,
          queries: [aQueryStatus('waiting')],
        }),
      ],
      says: 'polling: 0 of 1 query done',
    },
  ])('says: $says', ({ accounts, says }) => {
    expect(pollingText(accounts)).toBe(says);
  });
});

describe('once', () => {
  it.each([
    { apps: '[{ match: "." }]', exits: 0 },
    { apps: '[{ match: "." }, { name: no such application }]', exits: 1 },
  ])('exits with $exits if everything arrives for $apps', async ({ apps, exits }) => {
    const account = 'accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }]';
    const files = { 'c.yaml': `${account}\napps: ${apps}` };

    expect((await printedBy({}, ['once', '--config.file=c.yaml'], files)).exitCode).toBe(exits);
  });

  it.each([
    { nrql: 'SELECT count(*) FROM Transaction', exits: 0, up: 1 },
    { nrql: 'SELECT count(*) FROM Transaction WHERE a ~ 1', exits: 1, up: 1 },
    { nrql: 'SELECT count(*) FROM Transaction', key: 'WRONG_KEY', exits: 1, up: 0 },
  ])('exits with $exits for $nrql alone, and never says application', async (row) => {
    const { nrql, key = 'KEY', exits, up } = row;
    const config = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: ${key}, source: nerdgraph, account_id: 1234567 }]
queries: [{ as: shop_calls, nrql: ${nrql} }]`;
    const args = ['once', '--log.level=info', '--config.file=c.yaml'];

    const { exitCode, stdout, stderr, calls } = await printedBy({}, args, { 'c.yaml': config });

    expect([exitCode, calls]).toEqual([exits, 1]);
    expect(stdout).toContain(`newrelic_up{account="main"} ${up}\n`);
    expect(stderr).not.toMatch(/application|"listed"/u);
  });

  it('warns once of two accounts whose keys are in one place', async () => {
    const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
    const config = `accounts: [${account}, ${account.replace('main', 'copy')}]
apps: [{ match: ".", account: main }, { match: ".", account: copy }]`;

    const { stderr } = await printedBy({}, ['once', '--config.file=c.yaml'], { 'c.yaml': config });

    expect(stderr.match(/the same API key/gu)).toHaveLength(1);
  });

  it('prints what was polled alone, and with --all the metrics of the exporter too', async () => {
    const account = 'accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }]';
    const metric = '{ metric: Apdex, value: count, as: shop_rated_requests }';
    const files = { 'c.yaml': `${account}\napps: [{ match: ".", metrics: [${metric}] }]` };
    const familiesWith = async (...flags: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await printedBy({}, ['once', '--config.file=c.yaml', ...flags], files);
      return [...stdout.matchAll(/^# HELP (\S+)/gmu)].map(([, name = '']) => name);
    };

    const polled = await familiesWith();
    const all = await familiesWith('--all');

    expect(polled).toEqual(expect.arrayContaining(['newrelic_up', 'shop_rated_requests']));
    expect(polled.filter((name) => /^(?:newrelic_exporter|process|nodejs)_/u.test(name))).toEqual(
      [],
    );
    expect(all).toEqual([...polled, ...all.filter((name) => !polled.includes(name))]);
    expect(all).toContain('newrelic_exporter_build_info');
  });

  it('shows all values of an account that answers for one metric at a time', async () => {
    const config = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }]
poll: { metrics: [throughput, errors, apdex] }
apps: [{ match: "." }]`;
    const pageWith = async (rules: readonly FaultRule[]): Promise<readonly string[]> => {
      const { stdout } = await printedBy(
        { fleet: { applications: 6, hosts: 12, kinds: ['both'] } },
        ['once', '--config.file=c.yaml'],
        { 'c.yaml': config },
        undefined,
        rules,
      );
      return [...stdout.matchAll(/^newrelic_application_[^ ]*apdex_score\S*|^.*_errors_per_\S*/gmu)]
        .map(([line]) => line)
        .toSorted();
    };

    const whole = await pageWith([]);

    expect(whole.length).toBeGreaterThan(2 * (6 + 12));
    expect(await pageWith([firstMetricOnly])).toEqual(whole);
  });
});

const application = 'newrelic_application_requests_per_minute';
const host = 'newrelic_application_host_requests_per_minute';
const success = 'newrelic_application_poll_success';

/** One poll of everything over NerdGraph. */
async function polledOnce(options: SimulatorOptions, rules: readonly FaultRule[] = []) {
  const config = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]
apps: [{ match: "." }]`;
  const args = ['once', '--config.file=c.yaml'];
  const { stdout, ...rest } = await printedBy(
    options,
    args,
    { 'c.yaml': config },
    undefined,
    rules,
  );
  const page = readScrape(stdout);
  const failed = page.series(success).filter((labels) => page.value(success, labels) === 0);
  return { ...rest, page, failed: failed.map((labels) => labels['app_name']) };
}

describe('once over NerdGraph', () => {
  eachAfter(1, [10, 200])(
    'shows all of %i applications but the one that fails every query in which it is named',

    async (count) => {
      const poison = {
        when: { operation: 'nrql', applicationId: '1003' },
        fault: { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'too slow' },
      } as const;
      const fleet = { applications: manyApplications(count, 2) };

      const { exitCode, page, failed, stderr } = await polledOnce({ fleet }, [poison]);

      expect(exitCode).toBe(1);
      expect(page.series(application)).toHaveLength(count - 1);
      expect(page.series(host)).toHaveLength(2 * (count - 1));
      expect(failed).toEqual(['application 3']);
      expect(stderr).toContain('"app_name":"application 3","error":{"reason":"too_large"');
    },
  );

  it.each([
    {
      what: 'are longer than they may be',
      options: { graphql: { maxNrqlCharacters: 575 } },
      rules: [],
      applications: 10,
      hosts: 2,
    },
    {
      what: 'have more rows than an answer takes',
      options: {},
      rules: [{ fault: { kind: 'truncated', rows: 250 } }],
      applications: 2,
      hosts: 200,
    },
  ] as const)('shows everything although its first queries $what', async (row) => {
    const fleet = { applications: manyApplications(row.applications, row.hosts) };

    const { exitCode, page, failed } = await polledOnce({ fleet, ...row.options }, row.rules);

    expect([exitCode, failed]).toEqual([0, []]);
    expect(page.series(application)).toHaveLength(row.applications);
    expect(page.series(host)).toHaveLength(row.applications * row.hosts);
  });

  it('polls eight times more at most while New Relic answers no query', async () => {
    const rule = {
      when: { operation: 'nrql' },
      fault: { kind: 'graphql_error', errorClass: 'TIMEOUT', message: 'too slow' },
    } as const;
    const fleet = { applications: manyApplications(10, 2) };

    const { exitCode, calls, failed } = await polledOnce({ fleet }, [rule]);

    expect([exitCode, failed.length]).toEqual([1, 10]);
    // The list, both queries, and in each further poll both with three applications apart from the others.
    expect(calls).toBeGreaterThan(1 + 2 + 4);
    expect(calls).toBeLessThanOrEqual(1 + 2 + 8 * 2 * (3 + 1 + 1));
  });

  it.each([0, 1])(
    '11.1 calls a query failed whose answer has %i rows, while its total has more',
    async (keep) => {
      const file = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567, source: nerdgraph }]
queries: [{ as: calls_by_host, nrql: "SELECT count(*) FROM Transaction FACET host LIMIT 50" }]`;
      const { exitCode, stdout, stderr } = await printedBy(
        { ingestDelayMs: 0, fleet: { applications: 3, hosts: 4 } },
        ['once', '--config.file=c.yaml'],
        { 'c.yaml': file },
        undefined,
        [{ fault: { kind: 'short', keep, sign: 'none' } }],
      );

      expect(stdout).toMatch(/newrelic_query_success\{.*\} 0/u);
      expect(stdout).not.toMatch(/^calls_by_host\{/mu);
      expect(stderr).toContain('WHERE host IS NOT NULL');
      expect(exitCode).toBe(1);
    },
  );
});
