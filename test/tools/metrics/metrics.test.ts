import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import type { Printed } from '../survey/ask-bench.ts';
import { type ListingOptions, listing, type Row, unmet } from './metrics-bench.ts';

/** The names of the first column of the table. */
function namesIn({ stdout }: Printed): readonly string[] {
  const [header = '', ...rows] = stdout.split('\n\n')[0]?.trimEnd().split('\n') ?? [];
  const width = header.indexOf('kind');
  return rows.map((row) => row.slice(0, width).trimEnd().replace(/\*$/u, ''));
}

function pagesAsked({ targets }: Printed): readonly string[] {
  return targets.filter((target) => target.includes('/metrics.json'));
}

const names: FaultRule['when'] = { endpoints: ['application_metric_names'] };
const answered = (body: string, link?: string): readonly FaultRule[] => [
  { when: names, fault: { kind: 'document', body, ...(link !== undefined && { link }) } },
];
const failing = (endpoint: 'application_metric_names' | 'application_metrics'): FaultRule => ({
  when: { endpoints: [endpoint] },
  fault: { kind: 'status', status: 500 },
});

const long = `WebTransaction/${'x'.repeat(60)}`;
const longName = JSON.stringify({ metrics: [{ name: long, values: ['average_response_time'] }] });
const queueAndApdex = JSON.stringify({
  metrics: [
    { name: 'WebFrontend/QueueTime', values: ['average_response_time'] },
    { name: 'Apdex', values: ['score'] },
  ],
});
const endless = '{"metrics":[{"name":"Custom/{page}","values":["average_value"]}]}';
const endlessLink =
  '<https://api.newrelic.com/v2/applications/11/metrics.json?page={next}>; rel="next"';
const host = '--host=ip-10-1-19-12';
const memory = /^Memory\/Physical\* {2,}memory {2,}[\d.]+ MiB$/mu;

describe('metrics', () => {
  it.each(['11', 'shop'])('lists what an application has, found by %s', async (wanted) => {
    const { exitCode, stdout, stderr, targets, open } = await listing([wanted]);

    expect({ exitCode, stderr, open }).toEqual({ exitCode: 0, stderr: '', open: 0 });
    expect(targets[1]).toBe('/v2/applications/11/metrics.json');
    // One call for each kind.
    expect(targets.slice(2).every((target) => target.includes('/metrics/data.json?'))).toBe(true);
    expect(targets).toHaveLength(8);
    expect(stdout).toMatch(/^metric {2,}kind {2,}now\n/u);
    expect(stdout).toMatch(/^Errors\/allWeb\* {2,}errors {2,}[\d.,]+\/min$/mu);
    expect(stdout).toMatch(/^HttpDispatcher\* {2,}timing {2,}[\d.]+ ms, [\d,.]+\/min$/mu);
    expect(stdout).toMatch(memory);
    expect(stdout).toMatch(/^CPU\/User Time\* {2,}share {2,}[\d.]+ %$/mu);
    expect(stdout).toMatch(/^Custom\/Queue\/Depth {2,}value {2,}[\d.]+$/mu);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each<Row>([
    {
      what: 'adds with --all the presets and the names of all values',
      args: ['11', '--all'],
      exits: 0,
      stdout: [
        /^Errors\/allWeb\* +errors .*\n {2}preset errors, error_count, errors_per_minute\*$/mu,
        /^Custom\/Queue\/Depth +value .*\n {2}average_value, /mu,
      ],
    },
    {
      what: 'gives a long name a line of its own, and says which values could not be read',
      faults: [...answered(longName), failing('application_metrics')],
      exits: 1,
      stdout: [`metric  kind    now\n${long}\n        timing  -\n`],
      stderr: ['not all values: '],
    },
    {
      what: 'reads the values of the first hundreds of many metrics, and says so',
      fleet: {
        applications: [{ id: 11, name: 'shop', kind: 'both', hosts: 1, transactionNames: 400 }],
      },
      exits: 1,
      stdout: [/^WebTransaction\/Controller\/stock\/update +timing +-$/mu],
      stderr: ['not all values: those of the first 600 metrics only: list fewer with --like=TEXT'],
    },
    {
      what: 'shows what a host has now',
      args: ['11', host, '--like=Memory'],
      exits: 0,
      stdout: [memory],
      asks: /^\/v2\/applications\/11\/hosts\/\d+\/metrics\/data\.json/u,
    },
    {
      what: 'asks for what contains a text, and leaves out what else comes back',
      args: ['11', '--like', 'queueTIME', '-o', 'yaml'],
      faults: answered(queueAndApdex),
      exits: 0,
      stdout: [/^(?![^]*Apdex)[^]*"WebFrontend\/QueueTime"/u],
      asks: /^\/v2\/applications\/11\/metrics\.json\?name=queueTIME$/u,
    },
    ...['text', 'yaml'].map((format) => ({
      what: `says so if nothing has such a name, instead of an empty ${format}`,
      args: ['11', '--like', 'nothing', '-o', format],
      exits: 1,
      stderr: [
        /^application 11 has no metric whose name contains "nothing": New Relic may want it written exactly as the agent does\n$/u,
      ],
    })),
    ...['text', 'yaml'].map((format) => ({
      what: `prints no empty ${format} if the first page fails`,
      args: ['11', '-o', format],
      faults: [failing('application_metric_names')],
      exits: 1,
      stderr: ['account default: the list is not complete, 0 metrics: '],
    })),
    ...[
      { body: '{"metric":[]}', says: 'the answer has no list of metrics' },
      {
        body: '{"metrics":[{"name":"A","values":[1]},{"name":"B"},7,{"name":"","values":[]}]}',
        says: 'parts of the list were left out (3)',
      },
    ].map(({ body, says }) => ({
      what: `is not complete after ${body}`,
      faults: answered(body),
      exits: 1,
      stdout: [],
      stderr: ['account default: the list is not complete, ', says],
    })),
    {
      what: 'cuts a list that never ends, with a way to go on',
      args: ['11', '-o', 'yaml'],
      faults: answered(endless, endlessLink),
      exits: 1,
      stdout: ['Custom/99'],
      stderr: [
        'account default: the list is longer than what is read of it, the first 100 pages: list fewer with --like=TEXT\n',
      ],
      asks: /page=100$/u,
    },
  ])('$what', async (row) => {
    expect(await unmet(row)).toEqual([]);
  });
});

describe('a list of metrics of several pages', () => {
  const shop = { id: 11, name: 'shop', kind: 'web' as const, transactionNames: 300, hosts: 1 };
  const fleet = { applications: [shop] };
  const metricNamesPageSize = 100;

  it('is read to its end, each page once, sorted', async () => {
    const result = await listing(['11'], { fleet, simulator: { metricNamesPageSize } });

    const all = namesIn(result);
    expect(result.exitCode).toBe(0);
    expect(pagesAsked(result)).toEqual([
      '/v2/applications/11/metrics.json',
      ...[2, 3, 4].map((page) => `/v2/applications/11/metrics.json?page=${page}`),
    ]);
    expect(all.length).toBeGreaterThan(300);
    expect(all).toEqual([...new Set(all)].toSorted());
  });

  const slow = { metricNamesPageSize, metricNamesLatencyMs: 6000 };

  it('shows how far it has come', async () => {
    const { stderr } = await listing(['shop'], { fleet, simulator: slow });

    expect(stderr.split('\n')).toEqual([
      '10 s: 2 answers from New Relic, default: list_metrics',
      '20 s: 4 answers from New Relic, default: list_metrics',
      '',
    ]);
  });

  it.each<{ what: string; exits: number; given: ListingOptions; says: RegExp }>([
    {
      what: 'a page fails',
      exits: 1,
      given: {
        simulator: { metricNamesPageSize },
        faults: [
          { when: { ...names, queryIncludes: 'page=3' }, fault: { kind: 'status', status: 500 } },
        ],
      },
      says: /^account default: the list is not complete, 200 metrics: metric names of application 11: status 500.*, which may pass by itself\.$/mu,
    },
    ...[
      (platform: FakePlatform): void => {
        platform.clock.after(1000, () => platform.stop());
      },
      (platform: FakePlatform): void => {
        platform.stop();
        throw new ApiError('reset', 'cut off');
      },
    ].map((interrupt, index) => ({
      what: `the command is interrupted ${index === 0 ? 'while it waits' : 'by a call that fails of it'}`,
      exits: 143,
      given: {
        simulator: slow,
        beforeCall: (call: number, platform: FakePlatform): void => {
          if (call === 4) interrupt(platform);
        },
      },
      says: /(?:^|\n)account default: the list is not complete, 200 metrics\ninterrupted before it was done\n$/u,
    })),
  ])('is printed as far as it was read, if $what', async ({ exits, given, says }) => {
    const result = await listing(['11'], { fleet, ...given });

    expect(result).toMatchObject({ exitCode: exits, open: 0 });
    expect(namesIn(result)).toHaveLength(200);
    expect(result.stderr).toMatch(says);
  });
});

describe('metrics by NerdGraph', () => {
  const config =
    'accounts: [{ name: main, api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]\napps: [{ name: shop }]';
  const untold =
    'note: NerdGraph does not tell which values a metric has: they are shown where its name says so\n';
  const all = Array.from({ length: 5000 }, (_, index) => `Custom/${index}`);
  const nrql = { results: [{ 'uniques.metricTimesliceName': all }], metadata: {} };
  const manyNames = JSON.stringify({ data: { actor: { account: { nrql } } } });
  const untilMs = Date.parse('2026-09-01T10:00:30Z');

  it('shows the same for an account with queries alone', async () => {
    const queries = 'queries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]';
    const alone = config.replace('apps: [{ name: shop }]', queries);

    expect(await listing(['shop'], { config: alone })).toEqual(await listing(['shop'], { config }));
  });

  it.each<Row>([
    {
      what: 'lists names with the values that they surely have, and says what it does not know',
      args: ['shop'],
      exits: 0,
      stdout: [/^Apdex\* +apdex +[01](?:\.\d+)?$/mu, /^Custom\/Queue\/Depth +- +-$/mu],
      stderr: [untold],
    },
    {
      what: 'lists those of a host whose names contain a text',
      args: ['11', host, '--like=memory', '--all'],
      exits: 0,
      stdout: [
        /^metric .*\nMemory\/Physical\* +memory +\d+ MiB\n {2}preset memory, used_bytes_by_host\*\n\n/u,
      ],
    },
    {
      what: 'asks for those of the last hour, with every text as it is',
      args: ['11', host, `--like=100% 'x'\\`],
      exits: 1,
      stderr: [/has no metric whose name contains "100% 'x'\\+" on host ip-10-1-19-12\n$/u],
      asks: String.raw`SELECT uniques(metricTimesliceName, 5000) FROM Metric WHERE appId = 11 AND host = 'ip-10-1-19-12' AND metricTimesliceName LIKE '%100% \'x\'\\%' SINCE ${untilMs - 3_600_000} UNTIL ${untilMs}`,
    },
    {
      what: 'says that there may be more names than one answer has',
      args: ['11', '--like=custom/1234'],
      faults: [
        { when: { queryIncludes: 'uniques(' }, fault: { kind: 'document', body: manyNames } },
      ],
      exits: 1,
      stdout: ['Custom/1234'],
      stderr: ['the list is longer than what is read of it, 5000 names: list fewer'],
    },
  ])('$what', async (row) => {
    expect(await unmet({ ...row, config })).toEqual([]);
  });
});

describe('a list of metrics as YAML', () => {
  it.each([{ args: [] }, { args: [host] }])(
    'is accepted by check-config as the metrics of the application: $args',
    async ({ args }) => {
      const { stdout } = await listing(['11', '-o', 'yaml', ...args]);

      const list = stdout.trimEnd().split('\n').join('\n    ');
      // With every comment that can be a line.
      const text = `apps:\n  - id: 11\n    ${list.replaceAll('  # - ', '  - ')}\n`;
      const { config, warnings } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
      expect(warnings.map(({ message }) => message)).toEqual([]);
      expect(config.apps[0]?.series.map(({ metric }) => metric)).toEqual(
        expect.arrayContaining(['HttpDispatcher', 'Apdex', 'Custom/Queue/Depth']),
      );
    },
  );

  it('offers of each metric what the table shows, and with --all everything', async () => {
    const like = ['11', '-o', 'yaml', '--like=Datastore'];
    const [few, all] = [await listing(like), await listing([...like, '--all'])];

    expect(few.stdout).toMatch(/^metrics:\n {2}- throughput\n {2}- database\n/u);
    expect(few.stdout).not.toContain('max_response_time');
    expect(all.stdout).toContain('max_response_time');
  });

  it.each(['text', 'yaml'])('keeps odd characters of names on one line of %s', async (format) => {
    const name = 'Custom/a"b\\c\n\u001B[31m\u2028d 漢字 #{}: %';
    const body = JSON.stringify({ metrics: [{ name, values: ['average_value', 'new\nvalue'] }] });

    const { stdout } = await listing(['11', '-o', format, '--like=a"b\\c'], {
      faults: answered(body),
    });

    expect(stdout.split('\n').filter((line) => line.includes('漢字'))).toHaveLength(1);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });
});
