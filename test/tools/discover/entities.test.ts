import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import type {
  ApiRequest,
  ApiResponse,
  RawTransport,
} from '../../../src/newrelic/calls/transport.ts';
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
