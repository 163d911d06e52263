import { describe, expect, it } from 'vitest';
import { eachAfter, slow } from '../../support/slow.ts';
import {
  accountOf,
  backfilled,
  pageAt,
  pageOf,
  smallRun,
  stopAt,
  temporaryDirectory,
} from './backfill-bench.ts';

const options = { fleet: { applications: 5, hosts: 12 }, ingestDelayMs: 0 };
const all =
  'throughput, response_time, errors, apdex, database, external, memory, cpu, { metric: Custom/queue_depth, value: average_value, as: newrelic_depth, for: hosts }';
const queries = `queries:
  - { as: transactions_by_host, nrql: "SELECT count(*) FROM Transaction FACET host LIMIT 50" }
  - { as: { n: transactions, p: transaction_seconds }, nrql: "SELECT count(*) AS n, percentile(duration, 95) AS p FROM Transaction WHERE name LIKE '%Web%'" }
`;
const file = (source: 'rest' | 'nerdgraph' = 'nerdgraph'): string =>
  `${accountOf(source)}poll: { metrics: [${all}] }\napps:\n  - { match: "1$", labels: { team: a }, hosts: { exclude: "1$" } }\n  - { match: "." }\n${source === 'rest' ? '' : queries}`;

const range = ['--from=2026-09-01T09:50:00Z', '--to=2026-09-01T10:00:00Z'];

describe('backfill', () => {
  it('writes what a scrape would have shown: the same names, labels and values', async () => {
    const text = file().replace('account_id', 'labels: { team: all, env: live }, account_id');
    const { exitCode, output, stderr } = await backfilled({ file: text, options });
    const own = new Set((output ?? '').split('\n').map((line) => line.split('{')[0]));

    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    for (const time of ['2026-09-01T09:50:00Z', '2026-09-01T09:57:00Z', '2026-09-01T10:00:00Z']) {
      const page = (await pageOf(text, options, time)).filter((line) =>
        own.has(line.split('{')[0]),
      );
      const shown = pageAt(output, time);
      const before = shown.filter((line) => !page.includes(line));

      expect(page.filter((line) => !shown.includes(line)).slice(0, 5)).toEqual([]);
      // What had calls before, and has none now.
      expect(before.filter((line) => !line.endsWith(' 0'))).toEqual([]);
      expect(page.length).toBeGreaterThan(100);
      expect(shown.filter((line) => !line.includes(',env="live"'))).toEqual([]);
    }
  });

  it('gives hosts their names as ids with REST, and says so', slow, async () => {
    const { output, stderr, exitCode } = await backfilled({ file: file('rest'), options });
    const sameNames = await backfilled({ file: file(), options });
    const ofApps = (text: string | undefined): readonly string[] =>
      (text ?? '').split('\n').filter((line) => line.startsWith('newrelic_'));

    expect(exitCode).toBe(0);
    expect(stderr).toContain('here host_id is the name');
    expect(ofApps(output)).toEqual(ofApps(sameNames.output));
  });

  it('is OpenMetrics: each gauge once, its series whole, in the order of time, with an end', async () => {
    const { output = '' } = await backfilled({ file: file(), options });
    const lines = output.split('\n');
    const names = lines.flatMap((line) => /^# TYPE (\S+) gauge$/u.exec(line)?.[1] ?? []);
    const series = lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => /^(?<key>.*) \S+ (?<time>\d+)$/u.exec(line)?.groups ?? {});

    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(20);
    expect(output.endsWith('\n# EOF\n')).toBe(true);
    const begun = new Set<string | undefined>();
    const wrong = series.filter(({ key, time }, index) => {
      const before = series[index - 1];
      if (before?.['key'] === key) return Number(before?.['time']) >= Number(time);
      return begun.size === begun.add(key).size;
    });
    expect(wrong).toEqual([]);
  });

  eachAfter(1, [
    { what: 'of rows', graphql: { mostRows: 300 } },
    { what: 'of time', graphql: { rowsPerSecond: 12 } },
    { what: 'of rows, for a single moment', graphql: { mostRows: 40 } },
    {
      what: 'of rows, for the hosts of one',
      graphql: { mostRows: 60 },
      fleet: { applications: 1, hosts: 40 },
      text: file().replace('match: "."', 'match: ".", application: false'),
    },
  ])(
    'divides what does not fit into the limit $what, with the same result',
    async ({ graphql, fleet = options.fleet, text = file() }) => {
      const run = { file: text, flags: [...range, '--only=apps'] };
      const one = await backfilled({ ...run, options: { ...options, fleet } });
      const many = await backfilled({ ...run, options: { ...options, fleet, graphql } });

      expect(many.exitCode).toBe(0);
      expect(many.calls).toBeGreaterThan(one.calls);
      expect(many.output).toBe(one.output);
    },
  );

  it(
    'has a value an hour of what is older than eight days, and says until when',
    slow,
    async () => {
      const flags = ['--from=2026-08-23T00:00:00Z', '--to=2026-08-24T16:00:00Z', '--step=30m'];
      const text = file()
        .replace('poll: {', 'poll: { window: 30m,')
        .replaceAll(' }\n  - { as: {', ', window: 30m }\n  - { as: {')
        .replace("'%Web%'\" }", "'%Web%'\", window: 30m }");
      const { output, stderr, exitCode } = await backfilled({ file: text, options, flags });
      const timesOf = (name: string): readonly string[] => {
        const first = (output ?? '').split('\n').find((line) => line.startsWith(`${name}{`)) ?? '';
        const key = first.slice(0, first.indexOf('} '));
        return (output ?? '')
          .split('\n')
          .filter((line) => line.startsWith(`${key}} `))
          .map((line) =>
            new Date(Number(line.split(' ').at(-1)) * 1000).toISOString().slice(5, 16),
          );
      };

      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(stderr).toMatch(/until 2026-08-24T13:0\S+Z one an hour/u);
      const times = timesOf('newrelic_application_requests_per_minute');
      expect(times.slice(0, 3)).toEqual(['08-23T00:30', '08-23T01:30', '08-23T02:30']);
      expect(times.slice(-4)).toEqual(['08-24T14:30', '08-24T15:00', '08-24T15:30', '08-24T16:00']);
      // Events are not rolled up.
      expect(timesOf('transactions').slice(0, 3)).toEqual([
        '08-23T00:00',
        '08-23T00:30',
        '08-23T01:00',
      ]);
    },
  );

  it('asks for some applications, or for queries alone', async () => {
    const one = await backfilled({
      file: file(),
      options,
      flags: [...range, '--app=Billing Service'],
    });
    const other = await backfilled({ file: file(), options, flags: [...range, '--only=queries'] });
    const valuesOf = (text: string | undefined, pattern: RegExp): ReadonlySet<string> =>
      new Set([...(text ?? '').matchAll(pattern)].map(([, name = '']) => name));

    expect(valuesOf(one.output, /app_name="([^"]*)"/gu)).toEqual(new Set(['Billing Service']));
    expect(valuesOf(one.output, /^(transaction\w*)\{/gmu)).toEqual(new Set());
    expect(valuesOf(other.output, /^# TYPE (\S+)/gmu)).toEqual(
      new Set(['transactions_by_host', 'transactions', 'transaction_seconds']),
    );
    expect(other.targets.join('\n')).not.toContain('domain =');
  });

  it('says first what it will take, and with --dry-run no more than that', async () => {
    const dry = await backfilled({ file: file(), options, flags: [...range, '--dry-run'] });
    const { stderr, calls } = await backfilled({ file: file(), options });

    // The list of applications, the groups of one query, and a slice of each of four.
    expect(dry).toMatchObject({ exitCode: 0, output: undefined, left: [], calls: 6 });
    expect(stderr).toContain(dry.stdout);
    expect(dry.stdout).toContain(`calls: ${calls}\n`);
  });

  it(
    'keeps to its own budget, a quarter of the usual one, without a 429, and says how far it is',
    slow,
    async () => {
      const flags = ['--from=2026-08-31T21:00:00Z', '--to=2026-09-01T10:00:00Z'];
      const paced = `${accountOf('nerdgraph').replace('account_id', 'requests_per_minute: 4, account_id')}apps: [{ match: "." }]`;
      const small = { fleet: { applications: 2, hosts: 3 }, ingestDelayMs: 0 };
      const run = await backfilled({ file: paced, options: small, flags });
      const own = await backfilled({
        file: paced,
        options: small,
        flags: [...flags, '--budget=9'],
      });

      expect(run).toMatchObject({ exitCode: 0, calls: 7 });
      expect(run.elapsedMs).toBeGreaterThan(4 * 60_000);
      expect(own.elapsedMs).toBeLessThan(3 * 60_000);
      expect(own.output).toBe(run.output);
      expect(run.stderr).not.toContain('rate limited');
      expect(run.stderr).toMatch(/^\d+ s: \d of 6 calls, about \d min left$/mu);
    },
  );

  it.each([0, 1])(
    '11.1 does not believe an answer with %i rows whose totals have more',
    slow,
    async (keep) => {
      const { exitCode, stderr, output } = await backfilled({
        ...smallRun,
        file: `${accountOf('nerdgraph')}queries: [{ as: slow_by_host, nrql: "SELECT max(duration) FROM Transaction FACET host LIMIT 50" }]\n`,
        rules: [{ fault: { kind: 'short', keep, sign: 'none' } }],
      });

      expect(stderr).toContain('adds up to');
      expect([exitCode, output]).toEqual([1, undefined]);
    },
  );

  it('holds nothing against the total of a query with OFFSET, which has the rows before it', async () => {
    const { exitCode, stderr, output } = await backfilled({
      ...smallRun,
      flags: ['--from=2026-09-01T07:59:00Z', '--to=2026-09-01T08:00:00Z', '--step=5m'],
      file: `${accountOf('nerdgraph')}queries: [{ as: slow_by_host, nrql: "SELECT max(duration) FROM Transaction FACET host LIMIT 50 OFFSET 0" }]\n`,
      rules: [{ fault: { kind: 'short', keep: 1, sign: 'none' } }],
    });

    expect([exitCode, stderr.includes('adds up to')]).toEqual([0, false]);
    expect(output).toContain('slow_by_host{');
  });

  it('gives every sample the labels of --label, and goes on only with the same', slow, async () => {
    const directory = await temporaryDirectory();
    const labels = ['--label=job=newrelic', '--label=instance=a\\b "c"=d'];
    const one = { file: file(), options, directory, flags: [...range, ...labels] };
    await backfilled({ ...one, beforeCall: stopAt(3) });
    const other = await backfilled({ ...one, flags: [...range, '--label=job=other'] });
    const none = await backfilled({ ...one, flags: range });
    const { output, exitCode } = await backfilled(one);
    const plain = await backfilled({ file: file(), options, flags: range });
    const labelled = plain.output?.replaceAll(
      /\} (\S+ \d+)$/gmu,
      (_, rest) => String.raw`,job="newrelic",instance="a\\b \"c\"=d"} ${rest}`,
    );

    expect([other, none].map(({ exitCode: code, calls }) => [code, calls])).toEqual([
      [2, 0],
      [2, 0],
    ]);
    expect(other.stderr).toContain('with job="newrelic",instance=');
    expect(exitCode).toBe(0);
    expect(output === labelled).toBe(true);
  });

  it('has every minute in its order, of more slices than it reads at once', async () => {
    const { output = '', calls } = await backfilled({
      file: `${accountOf('nerdgraph')}queries: [{ as: calls, nrql: "SELECT count(*) FROM Transaction", window: 366m }]\n`,
      options: { fleet: { applications: 1, hosts: 1 }, ingestDelayMs: 0 },
      flags: ['--from=2026-09-01T09:00:00Z', '--to=2026-09-01T10:00:00Z'],
    });
    const times = [...output.matchAll(/^calls\{.* (\d+)$/gmu)].map(([, time]) => Number(time));
    const firstSeconds = Date.parse('2026-09-01T09:00:00Z') / 1000;

    expect(calls).toBe(61);
    expect(times).toEqual(Array.from({ length: 61 }, (_, at) => firstSeconds + 60 * at));
  });
});
