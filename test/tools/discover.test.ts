import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { printed, threeApplications } from './ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const config = `accounts: [${account}]\napps: [{ id: 11 }]`;

describe('discover', () => {
  it('lists everything that the account has, whatever the entries choose', async () => {
    const { exitCode, stdout, stderr, calls } = await printed(
      ['discover', 'c.yaml'],
      { 'c.yaml': config },
      threeApplications,
    );

    expect({ exitCode, stderr, calls }).toEqual({ exitCode: 0, stderr: '', calls: 1 });
    expect(stdout).toBe(`account  id  language  reporting  hosts  name
main     12  java      yes            1  billing: #1
main     13  go        no             0  old
main     11  ruby      yes            2  shop
`);
  });

  it('shows with NerdGraph the first tags that not all applications have, and in JSON all', async () => {
    const other = account.replace('}', ', source: nerdgraph, account_id: 1234567 }');
    const long = 'x'.repeat(100);
    const fleet = {
      applications: [
        { id: 1, name: 'shop', tags: { team: 'payments', cost: '7', env: 'prod', [long]: '' } },
        { id: 2, name: 'bare' },
        { id: 3, name: 'cart', tags: { 'a\n': '', [long]: '' } },
      ],
    };
    const printedAs = async (format: string) =>
      printed(
        ['discover', '-o', format, 'c.yaml'],
        { 'c.yaml': `accounts: [${other}]\napps: [{ id: 1 }]` },
        fleet,
      );

    const { stdout } = await printedAs('text');
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/u).slice(-2));
    expect(rows).toEqual([
      ['tags', 'name'],
      ['-', 'bare'],
      [`a\\u{a}, ${'x'.repeat(23)}…`, 'cart'],
      ['cost, env, team, 1 more', 'shop'],
    ]);
    const listed: unknown = JSON.parse((await printedAs('json')).stdout);
    expect(listed).toContainEqual(
      expect.objectContaining({
        id: '1',
        tags: expect.objectContaining({
          account: 'Simulated account',
          team: 'payments',
        }) as unknown,
      }),
    );
  });

  it.each(['self', '{ match: "^web" }'])(
    'asks for no host, whatever the entries choose: %s',
    async (hosts) => {
      const { calls } = await printed(
        ['discover', 'c.yaml'],
        { 'c.yaml': `accounts: [${account}]\napps: [{ id: 11, hosts: ${hosts} }]` },
        threeApplications,
      );

      expect(calls).toBe(1);
    },
  );

  it('leaves what is excluded out of the YAML', async () => {
    const apps = 'apps: [{ match: "^sh", exclude: true }, { match: "." }]';

    const { stdout } = await printed(
      ['discover', '-o', 'yaml', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\n${apps}` },
      threeApplications,
    );

    expect(stdout).toContain('  # - id: 11 # shop, excluded\n');
    expect(stdout).toContain('  - id: 12 #');
  });

  it('gives JSON', async () => {
    const { stdout } = await printed(
      ['discover', '-o', 'json', 'c.yaml'],
      { 'c.yaml': config },
      threeApplications,
    );

    expect(JSON.parse(stdout)).toContainEqual({
      account: 'main',
      id: '13',
      name: 'old',
      language: 'go',
      reporting: false,
      hosts: 0,
      excluded: false,
    });
  });

  it('gives YAML that is the apps of a configuration', async () => {
    const second = account.replace('main', 'second');
    const two = `accounts: [${account}, ${second}]\napps: [{ id: 1, account: main }, { id: 1, account: second }]`;

    const { stdout } = await printed(
      ['discover', '--output=yaml', 'c.yaml'],
      { 'c.yaml': two },
      threeApplications,
    );

    const pasted = `accounts: [${account}, ${second}]\n${stdout}`;
    const parsed = await parseConfig(pasted, { fileName: 'c.yaml', directory: '/' });
    expect(stdout).toContain('  - id: 13 # old, not reporting\n    account: "main"\n');
    expect(parsed.config.apps.map((entry) => [entry.account, entry.selector])).toEqual(
      ['main', 'second'].flatMap((name) =>
        ['12', '13', '11'].map((id) => [name, { kind: 'id', id }]),
      ),
    );
  });

  it('keeps a name with line breaks and control characters on one line', async () => {
    const fleet = { applications: [{ id: 1, name: 'a\nb\u001B[31m\u2028c', hosts: 0 }] };

    const outputs = await Promise.all(
      ['text', 'yaml'].map(async (output) =>
        printed(['discover', '-o', output, 'c.yaml'], { 'c.yaml': config }, fleet),
      ),
    );

    expect(outputs.map(({ stdout }) => stdout.trimEnd().split('\n').length)).toEqual([2, 2]);
    expect(outputs.map(({ stdout }) => stdout).join('')).not.toContain('\u001B');
  });

  it('needs no configuration file for an account with its key in the usual variable', async () => {
    const { exitCode, stdout } = await printed(['discover'], {}, threeApplications);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('default  11  ruby');
  });

  it('exits with 2 for a file that is named but not there, and with 1 for a refused key', async () => {
    const missing = await printed(['discover', 'other.yaml'], {});
    const refused = await printed(['discover', 'c.yaml'], {
      'c.yaml': config.replace('KEY', 'WRONG_KEY'),
    });

    expect(missing.exitCode).toBe(2);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('account main: discovery failed: ');
  });

  it.each(['text', 'json', 'yaml'])(
    'prints no empty %s if every discovery failed',
    async (format) => {
      const { stdout } = await printed(['discover', '-o', format, 'c.yaml'], {
        'c.yaml': config.replace('KEY', 'WRONG_KEY'),
      });

      expect(stdout).toBe('');
    },
  );
});
