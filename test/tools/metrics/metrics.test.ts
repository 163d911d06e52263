import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import { ApiError } from '../../../src/model/api-error.ts';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import type { Printed } from '../survey/ask-bench.ts';
import { listing, oneShop } from './metrics-bench.ts';

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

/** An application with so many names that they fill 31 pages of ten. */
const manyNames = {
  applications: [{ id: 11, name: 'shop', kind: 'web' as const, transactionNames: 300, hosts: 1 }],
};

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
    expect(stdout).toMatch(/^Memory\/Physical\* {2,}memory {2,}[\d.]+ MiB$/mu);
    expect(stdout).toMatch(/^CPU\/User Time\* {2,}share {2,}[\d.]+ %$/mu);
    expect(stdout).toMatch(/^Custom\/Queue\/Depth {2,}value {2,}[\d.]+$/mu);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('adds with --all the presets and the names of all values', async () => {
    const { stdout } = await listing(['11', '--all']);

    expect(stdout).toMatch(
      /^Errors\/allWeb\* +errors .*\n {2}preset errors, error_count, errors_per_minute\*$/mu,
    );
    expect(stdout).toMatch(/^Custom\/Queue\/Depth +value .*\n {2}average_value, /mu);
  });

  it('gives a long name a line of its own, and says which values could not be read', async () => {
    const name = `WebTransaction/${'x'.repeat(60)}`;
    const body = JSON.stringify({ metrics: [{ name, values: ['average_response_time'] }] });

    const { exitCode, stdout, stderr } = await listing(['11'], {
      faults: [
        { when: names, fault: { kind: 'document', body } },
        { when: { endpoints: ['application_metrics'] }, fault: { kind: 'status', status: 500 } },
      ],
    });

    expect(exitCode).toBe(1);
    expect(stdout).toContain(`metric  kind    now\n${name}\n        timing  -\n`);
    expect(stderr).toContain('not all values: ');
  });

  it('reads the values of the first hundreds of many metrics, and says so', async () => {
    const transactionNames = 400;
    const { exitCode, stdout, stderr, targets } = await listing(['11'], {
      fleet: { applications: [{ id: 11, name: 'shop', kind: 'both', hosts: 1, transactionNames }] },
    });

    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'not all values: those of the first 600 metrics only: list fewer with --like=TEXT\n',
    );
    expect(stdout).toMatch(/^WebTransaction\/Controller\/stock\/update +timing +-$/mu);
    expect(targets.length).toBeLessThan(25);
  });

  it('shows what a host has now', async () => {
    const { stdout, targets } = await listing(['11', '--host=ip-10-1-19-12', '--like=Memory']);

    expect(targets.at(-1)).toMatch(/^\/v2\/applications\/11\/hosts\/\d+\/metrics\/data\.json/u);
    expect(stdout).toMatch(/^Memory\/Physical\* {2,}memory {2,}[\d.]+ MiB$/mu);
  });

  it('asks for what contains a text, and leaves out what else comes back', async () => {
    const all = JSON.stringify({
      metrics: [
        { name: 'WebFrontend/QueueTime', values: ['average_response_time'] },
        { name: 'Apdex', values: ['score'] },
      ],
    });

    const { stdout, targets } = await listing(['11', '--like', 'queueTIME'], {
      faults: [{ when: names, fault: { kind: 'document', body: all } }],
    });

    expect(targets[1]).toBe('/v2/applications/11/metrics.json?name=queueTIME');
    expect(stdout).toMatch(/^WebFrontend\/QueueTime +timing +/mu);
    expect(stdout).not.toContain('Apdex');
  });

  it('says so if nothing has such a name, instead of an empty table', async () => {
    const { exitCode, stdout, stderr } = await listing(['11', '--like', 'nothing']);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe(
      'application 11 has no metric whose name contains "nothing": New Relic may want it written exactly as the agent does\n',
    );
  });
});

describe('a list of metrics of several pages', () => {
  it('is read to its end, each page once, sorted', async () => {
    const result = await listing(['11'], {
      fleet: manyNames,
      simulator: { metricNamesPageSize: 100 },
    });

    const all = namesIn(result);
    expect(result.exitCode).toBe(0);
    expect(pagesAsked(result)).toEqual([
      '/v2/applications/11/metrics.json',
      ...[2, 3, 4].map((page) => `/v2/applications/11/metrics.json?page=${page}`),
    ]);
    expect(all.length).toBeGreaterThan(300);
    expect(all).toEqual([...new Set(all)].toSorted());
  });

  it('shows how far it has come', async () => {
    const { stderr } = await listing(['shop'], {
      fleet: manyNames,
      simulator: { metricNamesPageSize: 100, metricNamesLatencyMs: 6000 },
    });

    expect(stderr.split('\n')).toEqual([
      '10 s: 2 answers from New Relic, default: list_metrics',
      '20 s: 4 answers from New Relic, default: list_metrics',
      '',
    ]);
  });

  it('is printed as far as it was read, if a page fails', async () => {
    const result = await listing(['11'], {
      fleet: manyNames,
      simulator: { metricNamesPageSize: 100 },
      faults: [
        { when: { ...names, queryIncludes: 'page=3' }, fault: { kind: 'status', status: 500 } },
      ],
    });

    expect(result.exitCode).toBe(1);
    expect(namesIn(result)).toHaveLength(200);
    expect(result.stderr).toMatch(
      /^account default: the list is not complete, 200 metrics: metric names of application 11: status 500.*, which may pass by itself\.$/mu,
    );
  });

  it.each([
    { body: '{"metric":[]}', says: 'the answer has no list of metrics' },
    {
      body: '{"metrics":[{"name":"A","values":[1]},{"name":"B"},7,{"name":"","values":[]}]}',
      says: 'parts of the list were left out (3)',
    },
  ])('is not complete after $body', async ({ body, says }) => {
    const { exitCode, stderr } = await listing(['11'], {
      faults: [{ when: names, fault: { kind: 'document', body } }],
    });

    expect(exitCode).toBe(1);
    expect(stderr).toContain('account default: the list is not complete, ');
    expect(stderr).toContain(says);
  });

  it.each(['text', 'yaml'])('prints no empty %s if the first page fails', async (format) => {
    const { exitCode, stdout } = await listing(['11', '-o', format], {
      faults: [{ when: names, fault: { kind: 'status', status: 500 } }],
    });

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  it.each<{ how: string; interrupt: (platform: FakePlatform) => void }>([
    {
      how: 'while it waits',
      interrupt: (platform) => platform.clock.after(1000, () => platform.stop()),
    },
    {
      how: 'by a call that fails of it',
      interrupt: (platform) => {
        platform.stop();
        throw new ApiError('reset', 'cut off');
      },
    },
  ])('is printed as far as it was read, if the command is interrupted $how', async (row) => {
    const result = await listing(['11'], {
      fleet: manyNames,
      simulator: { metricNamesPageSize: 100, metricNamesLatencyMs: 6000 },
      beforeCall: (call, platform) => {
        if (call === 4) row.interrupt(platform);
      },
    });

    expect(result).toMatchObject({ exitCode: 143, open: 0 });
    expect(namesIn(result)).toHaveLength(200);
    expect(result.stderr).toMatch(
      /(?:^|\n)account default: the list is not complete, 200 metrics\ninterrupted before it was done\n$/u,
    );
  });

  it('that never ends is cut, with a way to go on', async () => {
    const endless = '{"metrics":[{"name":"Custom/{page}","values":["average_value"]}]}';
    const link =
      '<https://api.newrelic.com/v2/applications/11/metrics.json?page={next}>; rel="next"';

    const result = await listing(['11', '-o', 'yaml'], {
      faults: [{ when: names, fault: { kind: 'document', body: endless, link } }],
    });

    expect(result.exitCode).toBe(1);
    expect(pagesAsked(result)).toHaveLength(100);
    expect(result.stderr).toContain(
      'account default: the list is longer than what is read of it, the first 100 pages: list fewer with --like=TEXT\n',
    );
  });
});

describe('metrics by NerdGraph', () => {
  const config =
    'accounts: [{ name: main, api_key_env: KEY, source: nerdgraph, account_id: 1234567 }]\napps: [{ name: shop }]';

  it('shows the same for an account with queries alone', async () => {
    const queries = 'queries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]';
    const alone = config.replace('apps: [{ name: shop }]', queries);

    expect(await listing(['shop'], { config: alone })).toEqual(await listing(['shop'], { config }));
  });

  it('lists names with the values that they surely have, and says what it does not know', async () => {
    const { exitCode, stdout, stderr } = await listing(['shop'], { config });

    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'note: NerdGraph does not tell which values a metric has: they are shown where its name says so\n',
    );
    expect(stdout).toMatch(/^Apdex\* +apdex +[01](?:\.\d+)?$/mu);
    expect(stdout).toMatch(/^Custom\/Queue\/Depth +- +-$/mu);
  });

  it('lists those of a host whose names contain a text', async () => {
    const { exitCode, stdout } = await listing(
      ['11', '--host=ip-10-1-19-12', '--like=memory', '--all'],
      { config },
    );

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^metric .*\nMemory\/Physical\* +memory +\d+ MiB\n {2}preset memory, used_bytes_by_host\*\n\n/u,
    );
  });

  it('asks for those of the last hour, with every text as it is', async () => {
    const like = "100% 'x'\\";
    const { targets } = await listing(['11', '--host=ip-10-1-19-12', `--like=${like}`], { config });

    const untilMs = Date.parse('2026-09-01T10:00:30Z');
    expect(targets.at(-1)).toBe(
      String.raw`SELECT uniques(metricTimesliceName, 5000) FROM Metric WHERE appId = 11 AND host = 'ip-10-1-19-12' AND metricTimesliceName LIKE '%100% \'x\'\\%' SINCE ${untilMs - 3_600_000} UNTIL ${untilMs}`,
    );
  });

  it('says that there may be more names than one answer has', async () => {
    const all = Array.from({ length: 5000 }, (_, index) => `Custom/${index}`);
    const nrql = { results: [{ 'uniques.metricTimesliceName': all }], metadata: {} };
    const body = JSON.stringify({ data: { actor: { account: { nrql } } } });

    const { exitCode, stderr } = await listing(['11', '--like=custom/1234'], {
      config,
      faults: [{ when: { queryIncludes: 'uniques(' }, fault: { kind: 'document', body } }],
    });

    expect(exitCode).toBe(1);
    expect(stderr).toContain('the list is longer than what is read of it, 5000 names: list fewer');
  });
});

describe('a list of metrics as YAML', () => {
  it.each([{ args: [] }, { args: ['--host=ip-10-1-19-12'] }])(
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
});

describe('names with odd characters', () => {
  const odd = 'Custom/a"b\\c\n\u001B[31m\u2028d 漢字 #{}: %';

  it.each(['text', 'yaml'])('stay on one line of %s', async (format) => {
    const body = JSON.stringify({
      metrics: [{ name: odd, values: ['average_value', 'new\nvalue'] }],
    });

    const { stdout } = await listing(['11', '-o', format, '--like=a"b\\c'], {
      fleet: oneShop,
      faults: [{ when: names, fault: { kind: 'document', body } }],
    });

    expect(stdout.split('\n').filter((line) => line.includes('漢字'))).toHaveLength(1);
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });
});
