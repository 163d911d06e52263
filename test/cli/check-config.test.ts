import { describe, expect, it } from 'vitest';
import { printed, threeApplications } from './ask-bench.ts';

const account = '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }';
const wrong = '{ name: wrong, base_url: "http://127.0.0.1", api_key_env: WRONG_KEY }';

const remedy =
  'as docs/migration-nerdgraph.md says; newrelic-exporter compare shows whether the values agree';
const endOfRest = `"source: rest" asks the REST API v2, which New Relic ends on 2027-07-31: change to "source: nerdgraph" before then, ${remedy}`;
const endedRest = `"source: rest" asks the REST API v2, which New Relic ended on 2027-07-31: change to "source: nerdgraph" now, ${remedy}`;

describe('check-config --online', () => {
  it('says what each key gives access to', async () => {
    const { exitCode, stdout, stderr, calls } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\napps: [{ name: shop }, { id: 12 }]` },
      threeApplications,
    );

    expect({ exitCode, stderr, calls }).toEqual({ exitCode: 0, stderr: '', calls: 2 });
    expect(stdout).toBe(
      'c.yaml: ok, 1 account, 2 entries of apps, 0 warnings\n' +
        `c.yaml: note: account main: ${endOfRest}\n` +
        'account main: key accepted, 3 applications found, 2 chosen\n' +
        'account main: for newrelic-exporter compare and "source: nerdgraph": add this line: account_id: 1234567  # Simulated account\n',
    );
  });

  it('names entries that match nothing and accounts that refuse the key, and exits with 1', async () => {
    const config = `accounts: [${account}, ${wrong}]
apps: [{ name: Shop, account: main }, { match: ".", account: wrong }]`;

    const { exitCode, stdout, stderr } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': config },
      threeApplications,
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain('account main: key accepted, 3 applications found, 0 chosen\n');
    expect(stderr).toContain('account main: name=Shop matches nothing: correct the entry');
    expect(stderr).toContain('account wrong: discovery failed: list_applications: status 401');
  });

  it.each([
    { what: 'an entry that matches nothing', accounts: account, apps: '[{ name: Shop }]' },
    { what: 'a refused key', accounts: wrong, apps: '[{ name: shop }]' },
  ])('exits with 1 for $what alone', async ({ accounts, apps }) => {
    const { exitCode } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${accounts}]\napps: ${apps}` },
      threeApplications,
    );

    expect(exitCode).toBe(1);
  });

  it('names ten of many ids that are not there, and counts the others', async () => {
    const apps = Array.from({ length: 15 }, (_, index) => `{ id: ${900 + index} }`).join(', ');

    const { exitCode, stderr } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\napps: [{ id: 12 }, ${apps}]` },
      threeApplications,
    );

    expect(exitCode).toBe(1);
    expect(stderr.match(/id=\d+ matches nothing/gu)).toHaveLength(10);
    expect(stderr).toContain('account main: 5 more ids not found so far: correct the entries');
  });

  it.each([
    {
      args: [],
      exitCode: 0,
      calls: 4,
      said: '12 has no host "own-pod" so far, as hosts: self wants',
    },
    { args: ['--host-name=node-7'], exitCode: 0, calls: 4, said: '11 has no host "node-7" so far' },
  ])(
    'names the applications without the host of this process: $args',
    async ({ args, exitCode, calls, said }) => {
      const applications = [
        { id: 11, name: 'shop', kind: 'both', hosts: [{ name: 'own-pod' }, { name: 'web-1' }] },
        { id: 12, name: 'billing', kind: 'both', hosts: [{ name: 'node-7' }] },
      ] as const;

      const result = await printed(
        ['check-config', '--online', ...args, 'c.yaml'],
        {
          'c.yaml': `accounts: [${account}]\napps: [{ match: ".", hosts: self, application: false }]`,
        },
        { applications },
      );

      expect({ exitCode: result.exitCode, calls: result.calls }).toEqual({ exitCode, calls });
      expect(result.stderr).toContain(`account main: application ${said}`);
      expect(result.stderr.trim().split('\n')).toHaveLength(1);
    },
  );

  it('looks for the host of this process in ten applications at most', async () => {
    const { calls, stderr } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\napps: [{ match: ".", hosts: self }]` },
      { applications: 30, kinds: ['both'] },
    );

    expect(calls).toBe(12);
    expect(stderr.match(/has no host/gu)).toHaveLength(10);
  });

  it('asks nobody when the file is wrong', async () => {
    const { exitCode, calls } = await printed(['check-config', '--online', 'c.yaml'], {
      'c.yaml': `accounts: [${account}]\napps: []`,
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
  });
});

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
});
