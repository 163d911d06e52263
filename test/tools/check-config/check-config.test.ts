import { describe, expect, it } from 'vitest';
import { anyRegion } from '../../../src/model/region.ts';
import { type Printed, printed, printedOn } from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const wrong = '{ name: wrong, base_url: "http://127.0.0.1", api_key_env: WRONG_KEY }';

const remedy =
  'newrelic-exporter compare shows whether the values agree; see https://github.com/newrelic-exporter/newrelic-exporter/blob/main/docs/nerdgraph.md';
const endOfRest = `"source: rest" asks the REST API v2, which New Relic ends on 2027-07-31: change to "source: nerdgraph" before then: ${remedy}`;
const endedRest = `"source: rest" asks the REST API v2, which New Relic ended on 2027-07-31: change to "source: nerdgraph" now: ${remedy}`;

describe('check-config', () => {
  it.each([
    { at: '2026-11-22T00:00:00Z', warnings: 0, note: endOfRest, warning: undefined },
    { at: '2027-01-31T23:59:59Z', warnings: 0, note: endOfRest, warning: undefined },
    { at: '2027-02-01T00:00:00Z', warnings: 1, note: undefined, warning: endOfRest },
    { at: '2027-07-31T23:59:59Z', warnings: 1, note: undefined, warning: endOfRest },
    { at: '2027-08-01T00:00:00Z', warnings: 1, note: undefined, warning: endedRest },
  ])('names the end of the REST API, at first as a note: $at', async (row) => {
    const { exitCode, stdout, stderr } = await printed(
      ['check-config', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\napps: [{ id: 1 }]` },
      {},
      row.at,
    );

    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout:
        `c.yaml: ok, 1 account, 1 entry of apps, ${row.warnings} warning${row.warnings === 1 ? '' : 's'}\n` +
        (row.note === undefined ? '' : `c.yaml: note: account main: ${row.note}\n`),
      stderr: row.warning === undefined ? '' : `c.yaml: warning: account main: ${row.warning}\n`,
    });
  });

  it('names the end of the REST API once for several accounts', async () => {
    const accounts = [account, account.replace('main', 'other')].join(', ');
    const apps = 'apps: [{ id: 1, account: main }, { id: 1, account: other }]';

    const { stdout } = await printed(['check-config', 'c.yaml'], {
      'c.yaml': `accounts: [${accounts}]\n${apps}`,
    });

    expect(stdout.match(/"source: rest" asks the REST API v2/gu)).toHaveLength(1);
    expect(stdout).toContain('c.yaml: note: accounts main, other: "source: rest" asks');
  });

  it('says nothing of the REST API to those who do not use it', async () => {
    const nerdgraph = account.replace('}', ', source: nerdgraph, account_id: 1 }');

    const { stdout, stderr } = await printed(
      ['check-config', 'c.yaml'],
      { 'c.yaml': `accounts: [${nerdgraph}]\napps: [{ id: 1 }]` },
      {},
      '2027-08-01T00:00:00Z',
    );

    expect({ stdout, stderr }).toEqual({
      stdout: 'c.yaml: ok, 1 account, 1 entry of apps, 0 warnings\n',
      stderr: '',
    });
  });

  it('asks nobody', async () => {
    const { exitCode, calls } = await printed(['check-config', 'c.yaml'], {
      'c.yaml': `accounts: [${account}, ${wrong}]\napps: [{ id: 1, account: main }, { id: 1, account: wrong }]`,
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 0, calls: 0 });
  });

  it.each([
    { what: 'errors', args: [], entry: 'nmae: shop', exitCode: 2 },
    { what: 'warnings', args: [], entry: 'name: "shop-*"', exitCode: 0 },
    {
      what: 'warnings, with what New Relic says,',
      args: ['--online'],
      entry: 'match: "^zz-.*"',
      exitCode: 1,
    },
  ])('shows each of some hundred $what', async ({ args, entry, exitCode }) => {
    const apps = Array.from({ length: 120 }, () => `  - { ${entry}, interval: 59s }`);
    const config = `accounts: [${account}]\napps:\n${apps.join('\n')}`;

    const result = await printed(['check-config', 'c.yaml', ...args], { 'c.yaml': config });

    const printedText = result.stdout + result.stderr;
    const lines = new Set(printedText.match(/c\.yaml:\d+(?=:)/gu));
    expect({ exitCode: result.exitCode, lines: lines.size }).toEqual({ exitCode, lines: 120 });
    expect(printedText).not.toMatch(/and \d+ more/u);
  });

  it('shows the errors of the file and of everything that it names in one run', async () => {
    const config = [
      'accounts:',
      '  - { name: a, api_key_file: nokey, ca_file: noca, region: ue }',
      '  - { name: b, api_key_env: NOVAR }',
      'apps:',
      '  - { nmae: shop, account: a }',
    ].join('\n');

    const { exitCode, stdout, stderr } = await printed(['check-config', 'c.yaml'], {
      'c.yaml': config,
    });

    const headlines = stderr
      .replaceAll(/file \S*\/(\w+)/gu, 'file /$1')
      .split('\n')
      .filter((line) => line.startsWith('c.yaml'));
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(headlines).toEqual([
      'c.yaml:2:30: the API key file /nokey does not exist',
      'c.yaml:2:46: the CA file /noca does not exist',
      `c.yaml:2:60: "region" must be ${anyRegion}, not "ue"`,
      'c.yaml:3:29: the environment variable NOVAR is not set',
      'c.yaml:5:7: unknown key "nmae"',
    ]);
  });

  it('never shows a key that looks wrong', async () => {
    const { exitCode, stdout, stderr } = await printed(['check-config', 'c.yaml'], {
      'c.yaml': 'accounts: [{ name: a, api_key_file: /key }]\napps: [{ id: 1 }]',
      '/key': 'NRII-secretsecretsecret',
    });

    expect(exitCode).toBe(0);
    expect(stdout).toContain('1 account, 1 entry of apps, 1 warning\n');
    expect(stderr).toContain(
      'warning: the API key in /key is an insert key, which only sends data to New Relic\n',
    );
    expect(stdout + stderr).not.toContain('secret');
  });

  it('says when the file cannot be read', async () => {
    const { exitCode, stdout, stderr } = await printed(['check-config', 'c.yaml'], {});

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toBe(
      'c.yaml: the configuration file does not exist\n    = help: create it, or name another one, here or with --config.file\n',
    );
  });

  const file = `accounts: [${account.replace('KEY', 'NEWRELIC_EXPORTER_KEY')}]\napps: [{ id: 1 }]`;

  it.each([
    { name: 'NEWRELIC_EXPORTER_LOGLEVEL', help: 'did you mean NEWRELIC_EXPORTER_LOG_LEVEL?' },
    { name: 'NEWRELIC_EXPORTER_CONFIGFILE', help: 'did you mean NEWRELIC_EXPORTER_CONFIG_FILE?' },
    { name: 'NEWRELIC_EXPORTER_PORT', help: 'serve --help names those that are read' },
  ])('warns of the variable $name, which nothing reads', async ({ name, help }) => {
    const env = { NEWRELIC_EXPORTER_KEY: 'key', [name]: '9126' };

    const good = await printedOn({ env }, {}, ['check-config', 'c.yaml'], { 'c.yaml': file });
    const online = await printedOn({ env }, {}, ['check-config', '--online', 'c.yaml'], {
      'c.yaml': file,
    });
    const missing = await printedOn({ env }, {}, ['check-config'], {});

    const warning = `environment: warning: nothing reads the variable ${name}\n    = help: ${help}\n`;
    expect(good).toMatchObject({ exitCode: 0, stderr: warning });
    expect(good.stdout).toContain('1 warning\n');
    expect(online.stdout).toContain(`environment: nothing reads the variable ${name}\n`);
    expect(missing.exitCode).toBe(2);
    expect(missing.stderr.includes(warning.trimEnd())).toBe(help.startsWith('did'));
    expect(missing.stderr).not.toContain('NEWRELIC_EXPORTER_KEY');
  });

  it.each([
    { name: 'NEWRELIC_EXPORTER_LOG_LEVEL', value: 'info' },
    { name: 'NEWRELIC_EXPORTER_REVISION', value: 'abc' },
    { name: 'NEWRELIC_EXPORTER_PORT', value: 'tcp://10.0.0.1:9126' },
    { name: 'NEWRELIC_EXPORTER_SERVICE_HOST', value: '10.0.0.1' },
    { name: 'NEWRELIC_EXPORTER_TEAM_SERVICE_PORT_HTTP', value: '9126' },
    { name: 'NEWRELIC_EXPORTER_PORT_9126_TCP_ADDR', value: '10.0.0.1' },
    { name: 'NEW_RELIC_APP_NAME', value: 'x' },
  ])('does not mind $name=$value', async ({ name, value }) => {
    const env = { NEWRELIC_EXPORTER_KEY: 'key', [name]: value };

    const { stderr } = await printedOn({ env }, {}, ['check-config', 'c.yaml'], { 'c.yaml': file });

    expect(stderr).toBe('');
  });

  it('does not mind that of the URL of a proxy', async () => {
    const env = { NEWRELIC_EXPORTER_KEY: 'key', NEWRELIC_EXPORTER_PROXY: 'http://u:p@proxy:3128' };
    const proxied = file.replace(' }]', ', proxy_url_env: NEWRELIC_EXPORTER_PROXY }]');
    const files = { 'c.yaml': proxied };

    const { exitCode, stderr } = await printedOn({ env }, {}, ['check-config', 'c.yaml'], files);

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  });
});

describe('check-config with a web configuration file', () => {
  const good = 'apps: [{id: 1}]\n';
  const check = async (config: string, web: string): Promise<Printed> =>
    printedOn(
      { env: { NEW_RELIC_API_KEY: `NRAK-${'A'.repeat(27)}` } },
      {},
      ['check-config', '--web.config.file=web.yaml', 'c.yaml'],
      { 'c.yaml': config, 'web.yaml': web },
    );

  it('says that both are good', async () => {
    const { exitCode, stdout, stderr } = await check(good, 'http_server_config: {}');

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^c\.yaml: ok, [^]*\nweb\.yaml: ok, no TLS, 0 users, 0 warnings\n$/u);
  });

  it('names what is wrong with either of them, in one run', async () => {
    const { exitCode, stderr } = await check('apps: []\n', 'http_server_configs: {}');

    expect(exitCode).toBe(2);
    expect(stderr.split('\n').filter((line) => /^\w+\.yaml/u.test(line))).toEqual([
      'c.yaml:1:7: "apps" must not be empty',
      'web.yaml:1:1: unknown key "http_server_configs"',
    ]);
  });

  it('fails if only the web configuration is wrong', async () => {
    const { exitCode, stdout, stderr } = await check(good, 'http_server_configs: {}');

    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain('did you mean "http_server_config"?');
  });

  it('warns of what is probably not meant', async () => {
    const hash = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG';

    const { exitCode, stdout, stderr } = await check(good, `basic_auth_users: {a: "${hash}"}`);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('web.yaml: ok, no TLS, 1 user, 1 warning\n');
    expect(stderr).toContain('passwords cross the network in clear');
    expect(stderr).not.toContain(hash);
  });
});
