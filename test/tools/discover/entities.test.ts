import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import type {
  ApiRequest,
  ApiResponse,
  RawTransport,
} from '../../../src/newrelic/calls/transport.ts';
import { goldenQueriesYaml } from '../../../src/tools/discover/golden-queries.ts';
import type { GoldenMetric } from '../../../src/tools/survey/golden-metrics.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { type Printed, printed, printedOn, threeApplications } from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567';
const accounts = `accounts: [${account}, source: nerdgraph }]`;
const place = { fileName: 'c.yaml', directory: '/' };

async function listed(
  flags: readonly string[],
  text = `accounts: [${account} }]\napps: [{ match: "." }]`,
): Promise<Printed> {
  return printed(['discover', ...flags, 'c.yaml'], { 'c.yaml': text }, threeApplications);
}

describe('discover --entities', () => {
  it('lists the types of entities that report, with an account of REST, too', async () => {
    const result = await listed(['--entities']);

    expect(result).toMatchObject({ exitCode: 0, stderr: '', calls: 1, open: 0 });
    expect(result.stdout).toBe(`account  domain   type               reporting  --entities
main     APM      APPLICATION                2  APM-APPLICATION
main     BROWSER  APPLICATION                1  BROWSER-APPLICATION
main     INFRA    AWSLAMBDAFUNCTION          2  INFRA-AWSLAMBDAFUNCTION
main     INFRA    HOST                       3  INFRA-HOST
main     MOBILE   APPLICATION                2  MOBILE-APPLICATION
main     SYNTH    MONITOR                    3  SYNTH-MONITOR
`);
  });

  it('prints the golden metrics of a type as queries', async () => {
    const { stdout, calls } = await listed(['--entities=synth-monitor']);

    expect(calls).toBe(2);
    expect(stdout).toBe(`# SYNTH-MONITOR of main: 3 report
queries:
  - as: synth_monitor_median_duration_seconds
    nrql: "SELECT percentile(duration,50)/1000 FROM SyntheticCheck WHERE entityGuid IS NOT NULL FACET monitorName, entityGuid LIMIT 100"
    labels: { monitorName: entity_name }
    help: "Median duration (s)"
  - as: synth_monitor_failures
    nrql: "SELECT filter(count(*), WHERE result = 'FAILED') FROM SyntheticCheck WHERE entityGuid IS NOT NULL FACET monitorName, entityGuid LIMIT 100"
    labels: { monitorName: entity_name }
    help: "Failures"
`);
  });

  it.each([
    ['BROWSER-APPLICATION', 7],
    ['SYNTH-MONITOR', 2],
    ['INFRA-HOST', 5],
    ['INFRA-AWSLAMBDAFUNCTION', 4],
    ['MOBILE-APPLICATION', 6],
  ])('prints for %s what a configuration takes, and each query has values', async (type, count) => {
    const { stdout } = await listed([`--entities=${type}`, '-o', 'yaml']);
    const files = { 'c.yaml': `${accounts}\n${stdout}` };

    const { config, warnings } = await parseConfig(files['c.yaml'], place);
    const checked = await printed(['check-config', 'c.yaml'], files);
    const { stdout: page } = await printed(
      ['once', '--config.file=c.yaml'],
      files,
      threeApplications,
    );

    const names = config.queries?.flatMap(({ gauges }) => gauges.map(({ name }) => name)) ?? [];
    const families = new Map(parseExposition(Buffer.from(page)).map((one) => [one.name, one]));
    expect({ warnings, exitCode: checked.exitCode }).toEqual({ warnings: [], exitCode: 0 });
    expect(names).toHaveLength(count);
    for (const name of names) {
      const samples = families.get(name)?.samples ?? [];
      expect({ name, hasValues: samples.length > 0 }).toEqual({ name, hasValues: true });
      for (const { labels } of samples) {
        expect(labels.map(([label]) => label)).toEqual(
          expect.arrayContaining(['entity_name', 'entity_guid']),
        );
      }
    }
  });

  it('says whose the queries are where there are several accounts, and shares names', async () => {
    const second = account.replace('main', '"second: #2"');
    const apps = 'apps: [{ match: ".", account: main }, { match: ".", account: "second: #2" }]';

    const { stdout } = await listed(
      ['--entities=SYNTH-MONITOR'],
      `accounts: [${account} }, ${second} }]\n${apps}`,
    );

    const rich = `accounts: [${account}, source: nerdgraph }, ${second}, source: nerdgraph }]`;
    const { config } = await parseConfig(`${rich}\n${stdout}`, place);
    expect(config.queries?.map((query) => [query.account, query.gauges[0]?.name])).toEqual(
      ['main', 'second: #2'].flatMap((name) => [
        [name, 'synth_monitor_median_duration_seconds'],
        [name, 'synth_monitor_failures'],
      ]),
    );
  });

  it('gives JSON, of the types and of the golden metrics of one', async () => {
    const types: unknown = JSON.parse((await listed(['--entities', '-o', 'json'])).stdout);
    const one: unknown = JSON.parse(
      (await listed(['--entities=MOBILE-APPLICATION', '-o', 'json'])).stdout,
    );

    const monitors = { account: 'main', domain: 'SYNTH', type: 'MONITOR', reporting: 3 };
    const crashes: unknown = expect.objectContaining({ name: 'crashCount', from: 'MobileCrash' });
    expect(types).toContainEqual(monitors);
    expect(one).toEqual([
      expect.objectContaining({ reporting: 2, metrics: expect.arrayContaining([crashes]) }),
    ]);
  });

  it.each([
    [
      ['--entities=SYNTH-MONITORS'],
      'no entity of the type "SYNTH-MONITORS" reports: there are: APM-APPLICATION, BROWSER-APPLICATION, INFRA-AWSLAMBDAFUNCTION, INFRA-HOST, MOBILE-APPLICATION, SYNTH-MONITOR',
    ],
    [['--entities', '-o', 'yaml'], '--output=yaml needs a type, such as --entities=SYNTH-MONITOR'],
  ])('exits with 2, and says why: %s', async (flags, message) => {
    const { exitCode, stdout, stderr } = await listed(flags);

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('says that a type has no golden metrics', async () => {
    const { exitCode, stdout } = await listed(['--entities=APM-APPLICATION']);

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: '# APM-APPLICATION of main: 2 report\nqueries: []\n',
    });
  });

  it('cannot ask without the id of the account, and says what to do', async () => {
    const text = 'accounts: [{ name: main, api_key_env: KEY }]\napps: [{ match: "." }]';

    expect(await listed(['--entities'], text)).toMatchObject({
      exitCode: 2,
      stdout: '',
      calls: 0,
      stderr:
        'account main: account_id is not in the configuration, and NerdGraph needs it: add it to the account; newrelic-exporter check-config --online proposes the line\n',
    });
  });

  it.each(['--entities', '--entities=SYNTH-MONITOR'])(
    'exits with 1 for a refused key: %s',
    async (flag) => {
      const text = `accounts: [${account.replace('KEY', 'WRONG_KEY')} }]\napps: [{ match: "." }]`;

      const { exitCode, stdout, stderr } = await listed([flag], text);

      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toContain('account main: not all entities are known: ');
    },
  );
});

/** Runs the command against a New Relic that answers so to the list of types, and so to that of entities. */
async function answered(types: unknown, results: unknown): Promise<Printed> {
  const send = async ({ body = '' }: ApiRequest): Promise<ApiResponse> => {
    const entitySearch = body.includes('types {') ? { types } : { results };
    const answer = { data: { actor: { entitySearch } } };
    return { status: 200, headers: {}, body: JSON.stringify(answer) };
  };
  const openTransport = async (): Promise<RawTransport> => ({ send, close: async () => {} });
  const text = `accounts: [${account} }]\napps: [{ match: "." }]`;
  const args = ['discover', '--entities=EXT-X', 'c.yaml'];
  return printedOn({ openTransport }, {}, args, { 'c.yaml': text });
}

describe('what New Relic should not answer', () => {
  const types = [{ domain: 'EXT', type: 'X', count: 3 }];

  it.each([undefined, 'many', null, { domain: 'EXT' }])('is no list of types: %j', async (list) => {
    const { exitCode, stdout, stderr } = await answered(list, {});

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^account main: not all entities are known: [^\n]+\n$/u);
  });

  it.each([{ domain: 5, type: 'X' }, null, {}])('is a type without a name: %j', async (type) => {
    const { exitCode, stderr } = await answered([type], {});

    expect(exitCode).toBe(2);
    expect(stderr).toContain('there are: none\n');
  });

  it.each([
    [],
    [null, 7, {}],
    [{ goldenMetrics: null }, { goldenMetrics: { metrics: 'x' } }],
    [{ goldenMetrics: { metrics: [] } }],
  ])('is an entity without metrics: %j', async (...entities) => {
    const { exitCode, stdout } = await answered(types, { entities });

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: '# EXT-X of main: 3 report\nqueries: []\n',
    });
  });

  it('is a metric without a query: it is left out, and of many the first are taken', async () => {
    const without = [null, { name: 'a', title: 'A', definition: null }];
    const definition = { select: 'max(x)', from: 'X', eventId: 'entityGuid' };
    const many = Array.from({ length: 500 }, (_, at) => ({ name: `m${at}`, definition }));
    const entities = [{ goldenMetrics: { metrics: [...without, ...many] } }];

    const { exitCode, stdout } = await answered(types, { entities });

    expect(exitCode).toBe(0);
    expect(stdout).toContain('# "A" is left out: ');
    expect(stdout.match(/ {2}- as: ext_x_m\d+\n/gu)).toHaveLength(98);
  });
});

const golden: GoldenMetric = {
  name: 'load',
  title: 'Load',
  unit: 'COUNT',
  select: 'average(load)',
  from: 'Sample',
  where: '',
  facet: '',
  eventId: 'entityGuid',
};

async function written(
  metrics: readonly Partial<GoldenMetric>[],
  reporting = 3,
): Promise<{
  readonly text: string;
  readonly warnings: readonly unknown[];
  readonly queries: readonly (readonly [string, string])[];
}> {
  const filled = metrics.map((metric) => ({ ...golden, ...metric }));
  const all = [...new Map(filled.map((one) => [JSON.stringify(one), one])).values()];
  const entities = { account: 'main', domain: 'EXT', type: 'X', reporting, metrics: all };
  const text = await goldenQueriesYaml('EXT-X', [entities], false);
  const file = text.includes('queries: []') ? `${text}apps: [{ match: "." }]\n` : text;
  const { config, warnings } = await parseConfig(`${accounts}\n${file}`, place);
  const queries = config.queries ?? [];
  return {
    text,
    warnings,
    queries: queries.map((one) => [one.gauges[0]?.name ?? '', one.nrql] as const),
  };
}

describe('the query of a golden metric', () => {
  it.each([
    [{ unit: 'SECONDS' }, 'ext_x_load_seconds', 'average(load)'],
    [{ unit: 'MS', name: 'loadMs' }, 'ext_x_load_seconds', 'average(load) / 1000'],
    [{ unit: 'MS', select: 'max(a) * 1000' }, 'ext_x_load_seconds', 'max(a) AS '],
    [
      { unit: 'MS', select: '1 + max(a) * 1000' },
      'ext_x_load_seconds',
      '(1 + max(a) * 1000) / 1000',
    ],
    [
      { unit: 'PERCENTAGE', select: '1 + 2 * max(x)' },
      'ext_x_load_ratio',
      '(1 + 2 * max(x)) / 100',
    ],
    [{ unit: 'BITS_PER_SECOND' }, 'ext_x_load_bytes_per_second', 'average(load) / 8'],
    [{ unit: 'BYTES', name: 'usedBytesTotal' }, 'ext_x_used_bytes', 'average(load)'],
    [
      { unit: 'PAGES_PER_SECOND', select: 'rate(count(*), 1 minute)' },
      'ext_x_load_per_minute',
      'rate(count(*), 1 minute)',
    ],
    [
      { unit: 'REQUESTS_PER_MINUTE', name: 'requestsPerMinute' },
      'ext_x_requests_per_minute',
      'average(load)',
    ],
    [{ unit: 'SOMETHING_NEW', name: 'errorCount' }, 'ext_x_error', 'average(load)'],
    [{ select: "average(load) AS 'FROM here'" }, 'ext_x_load', 'average(load)'],
    [{ unit: 'MS', select: 'max(a) AS `the load`' }, 'ext_x_load_seconds', 'max(a) / 1000'],
    [{ unit: 'MS', select: "max(a) as 'it\\'s'" }, 'ext_x_load_seconds', 'max(a) / 1000'],
    [{ select: 'percentile(load, 50, 95) -- of all' }, 'ext_x_load', 'percentile(load, 50, 95)'],
    [
      { select: 'filter(count(*),\n  WHERE a = 1)' },
      'ext_x_load',
      'filter(count(*),   WHERE a = 1)',
    ],
  ])('has a name by the unit, and a value in it: %o', async (metric, name, select) => {
    const { queries, warnings } = await written([metric]);

    expect(warnings).toEqual([]);
    expect(queries).toEqual([[name, expect.stringContaining(`SELECT ${select}`)]]);
    expect(queries[0]?.[1]).toContain(
      ' FROM Sample WHERE entityGuid IS NOT NULL FACET entityName, entityGuid LIMIT 100',
    );
  });

  it.each([
    [
      { from: '', eventId: '' },
      'FROM Metric WHERE entity.guid IS NOT NULL FACET entity.name, entity.guid LIMIT',
    ],
    [{ from: 'PageView' }, 'FACET appName, entityGuid LIMIT'],
    [{ where: 'a = 1 OR b = 2' }, 'WHERE entityGuid IS NOT NULL AND (a = 1 OR b = 2) FACET'],
    [{ facet: 'rcode, appName' }, 'FACET appName, entityGuid, rcode LIMIT 100'],
    [{ eventId: 'workspaceName' }, 'WHERE workspaceName IS NOT NULL FACET workspaceName LIMIT'],
  ])('groups by the name and the id of the entity: %o', async (metric, part) => {
    expect((await written([metric])).queries[0]?.[1]).toContain(part);
  });

  it.each([
    [0, 100],
    [67, 200],
    [3000, 4500],
    [9000, 5000],
  ])('has room for %i entities and some more', async (reporting, limit) => {
    const { text } = await written([{}], reporting);

    expect(text).toContain(` LIMIT ${limit}"`);
    expect(text.includes(`    max_series: ${limit}\n`)).toBe(limit > 1000);
    expect(text.includes('; New Relic gives 5000 rows at most\n')).toBe(reporting > 5000);
  });

  it('has room for the values of each entity', async () => {
    const { text } = await written([{ select: 'percentile(load, 50, 95, 99)' }], 400);

    expect(text).toContain(' LIMIT 600"');
    expect(text).toContain('    max_series: 1800\n');
  });

  it('has a name of its own', async () => {
    const { queries } = await written([{}, { select: 'max(load)' }, { name: 'Load' }]);

    expect(queries.map(([name]) => name)).toEqual(['ext_x_load', 'ext_x_load_2', 'ext_x_load_3']);
  });

  it.each([
    [{ select: 'uniques(host)' }, '"nrql" selects uniques, which gives no number'],
    [{ select: 'load' }, '"nrql" must select functions and nothing else: load is none'],
    [{ select: 'count(*), max(load)' }, '"as" must be a map: the query selects 2 functions'],
    [
      { select: 'average(load) TIMESERIES' },
      '"nrql" must not have TIMESERIES: a gauge has one value',
    ],
    [{ where: 'a = 1 SINCE 1 day ago' }, 'not one function'],
    [{ where: "a = 'b" }, '"nrql" has a quote or a comment that is not closed'],
    [{ facet: 'type' }, '"nrql" makes "type" the label "type"'],
    [{ from: '(SELECT count(*) FROM Evil)' }, 'it is not one function of one kind of data'],
    [
      { select: 'count(*) FROM Evil WHERE 1 = 1 FACET b LIMIT 9 SELECT count(*)' },
      'not one function',
    ],
    [{ unit: 'MS', select: '1 + max(a) FROM Evil' }, 'not one function'],
    [{ unit: 'MS', select: 'SELECT max(a)' }, 'not one function'],
    [{ where: '1 = 1) FACET evil LIMIT 5000 WHERE (a = 1' }, 'not one function'],
    [{ from: 'Sample WHERE a = 1' }, 'not one function'],
    [{ eventId: 'a LIMIT 5 FACET b' }, 'no facet of the query has that name'],
    [{ select: `sum(${'x'.repeat(1_000_000)})` }, 'it is too long'],
  ])('is left out, and the file says why: %o', async (metric, reason) => {
    const { text, queries } = await written([metric, { name: 'good' }]);

    expect(queries.map(([name]) => name)).toEqual(['ext_x_good']);
    expect(
      text.split('\n').filter((line) => line.startsWith('# "Load" is left out: ')),
    ).toHaveLength(1);
    expect(text).toContain(reason);
    expect(text.length).toBeLessThan(1000);
  });

  it('cannot be broken by what New Relic says', async () => {
    const hostile = [
      'a\n  - as: evil\n    nrql: SELECT count(*) FROM Evil',
      '"; queries: [{ as: evil }] #',
      "': }]\u2028- &a *a !!js %",
      '\uFEFF\u0000\u001B[31m\uD800\uFFFE\u{E0001}',
      'x'.repeat(1_000_000),
      '{{ .Values.key }} ${KEY} <your-key>',
      '`',
      "'",
      '',
    ];
    const keys = ['name', 'title', 'unit', 'select', 'from', 'where', 'facet', 'eventId'] as const;
    const metrics = hostile.flatMap((text) => keys.map((key) => ({ [key]: text })));

    const { text, queries } = await written(metrics);

    const lines = text.split('\n');
    expect(queries.filter(([name]) => !name.startsWith('ext_x'))).toEqual([]);
    expect(lines.filter((line) => /^ {2}- /u.test(line))).toHaveLength(queries.length);
    expect(lines.filter((line) => line.startsWith('# "')).length + queries.length).toBe(
      // Neither WHERE nor FACET is the same.
      metrics.length - 1,
    );
    expect(
      lines.filter(
        (line) => !/^(?:#|queries:$| {2}- as: | {4}(?:nrql|labels|help): |$)/u.test(line),
      ),
    ).toEqual([]);
    expect(text).not.toMatch(/(?!\n)\p{Cc}|[\u2028\uFEFF\uFFFE]/u);
  });
});
