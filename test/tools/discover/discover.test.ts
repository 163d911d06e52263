import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/load-config.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { type Printed, printed, threeApplications } from '../survey/ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const config = `accounts: [${account}]\napps: [{ id: 11 }]`;

async function listed(
  text: string,
  format: string = 'text',
  fleet: FleetOptions = threeApplications,
): Promise<Printed> {
  return printed(['discover', '-o', format, 'c.yaml'], { 'c.yaml': text }, fleet);
}

describe('discover', () => {
  it('lists everything that the account has, whatever the entries choose', async () => {
    const result = await listed(config);

    expect(result).toMatchObject({ exitCode: 0, stderr: '', calls: 1, open: 0 });
    expect(result.stdout).toBe(`account  id  language  reporting  hosts  name
main     12  java      yes            1  billing: #1
main     13  go        no             0  old
main     11  ruby      yes            2  shop
`);
  });

  it.each(['self', '{ match: "^web" }'])(
    'asks for no host, whatever the entries choose: %s',
    async (hosts) => {
      const text = `accounts: [${account}]\napps: [{ id: 11, hosts: ${hosts} }]`;

      expect((await listed(text)).calls).toBe(1);
    },
  );

  it('shows with NerdGraph the first tags that not all applications have, and in JSON all', async () => {
    const text = config.replace('}', ', source: nerdgraph, account_id: 1234567 }');
    const long = 'x'.repeat(100);
    const fleet = {
      applications: [
        { id: 1, name: 'shop', tags: { team: 'payments', cost: '7', env: 'prod', [long]: '' } },
        { id: 2, name: 'bare' },
        { id: 3, name: 'cart', tags: { 'a\n': '', [long]: '' } },
      ],
    };

    const { stdout } = await listed(text, 'text', fleet);
    const document: unknown = JSON.parse((await listed(text, 'json', fleet)).stdout);

    const rows = stdout.trimEnd().split('\n');
    expect(rows.map((line) => line.split(/ {2,}/u).slice(-2))).toEqual([
      ['tags', 'name'],
      ['-', 'bare'],
      [`a\\u{a}, ${'x'.repeat(23)}…`, 'cart'],
      ['cost, env, team, 1 more', 'shop'],
    ]);
    const tags: unknown = expect.objectContaining({
      account: 'Simulated account',
      team: 'payments',
    });
    expect(document).toContainEqual(expect.objectContaining({ id: '1', tags }));
  });

  it('gives JSON', async () => {
    const { stdout } = await listed(config, 'json');

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
    const accounts = `accounts: [${account}, ${account.replace('main', 'second')}]`;
    const excluded = '{ match: "^sh", account: main, exclude: true }';
    const apps = `apps: [${excluded}, { id: 1, account: main }, { id: 1, account: second }]`;

    const { stdout } = await listed(`${accounts}\n${apps}`, 'yaml');

    const pasted = `${accounts}\n${stdout}`;
    const parsed = await parseConfig(pasted, { fileName: 'c.yaml', directory: '/' });
    expect(stdout).toContain('  - id: 13 # old, not reporting\n    account: "main"\n');
    expect(parsed.config.apps.map((entry) => [entry.account, entry.selector])).toEqual([
      ...['12', '13'].map((id) => ['main', { kind: 'id', id }]),
      ...['12', '13', '11'].map((id) => ['second', { kind: 'id', id }]),
    ]);
  });

  it('leaves what is excluded out of the YAML', async () => {
    const apps = 'apps: [{ match: "^sh", exclude: true }, { match: "." }]';

    const { stdout } = await listed(`accounts: [${account}]\n${apps}`, 'yaml');

    expect(stdout).toContain('  # - id: 11 # shop, excluded\n');
    expect(stdout).toContain('  - id: 12 #');
  });

  it.each(['text', 'yaml'])(
    'keeps a name with control characters on one line of %s',
    async (as) => {
      const fleet = { applications: [{ id: 1, name: 'a\nb\u001B[31m\u2028c', hosts: 0 }] };

      const { stdout } = await listed(config, as, fleet);

      expect(stdout.trimEnd().split('\n')).toHaveLength(2);
      expect(stdout).not.toContain('\u001B');
    },
  );

  it('needs no configuration file for an account with its key in the usual variable', async () => {
    const { exitCode, stdout } = await printed(['discover'], {}, threeApplications);

    expect(exitCode).toBe(0);
    expect(stdout).toContain('default  11  ruby');
  });

  it.each([
    {
      source: 'rest',
      says: 'with "source: rest" it sees the account in which it was created alone; is it the right one?',
    },
    { source: 'nerdgraph', says: 'is account_id right?' },
  ])('says what it means that $source lists no application', async ({ source, says }) => {
    const text = config.replace('}', `, source: ${source}, account_id: 1234567 }`);

    const { exitCode, stderr } = await listed(text, 'text', { applications: [] });

    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^account main: the key sees no application/u);
    expect(stderr).toContain(says);
  });

  it('exits with 2 for a file that is named but not there', async () => {
    expect((await printed(['discover', 'other.yaml'], {})).exitCode).toBe(2);
  });

  it.each(['text', 'json', 'yaml'])(
    'exits with 1 for a refused key, and prints no empty %s',
    async (format) => {
      const { exitCode, stdout, stderr } = await listed(config.replace('KEY', 'WRONG_KEY'), format);

      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toContain('account main: discovery failed: ');
    },
  );
});
