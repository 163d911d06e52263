import { describe, expect, it } from 'vitest';
import { printed, threeApplications } from './ask-bench.ts';

const place = 'base_url: "http://127.0.0.1"';
const keyed = `{ name: main, ${place}, api_key_env: KEY, source: nerdgraph`;
const apps = 'apps: [{ name: shop }]';

describe('check-config --online, for the ids of accounts', () => {
  it('proposes the id that is all that is wrong with a file, and still ends with 2', async () => {
    const { exitCode, stdout, stderr, calls } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${keyed} }]\n${apps}` },
      threeApplications,
    );

    expect({ exitCode, stdout, calls }).toEqual({ exitCode: 2, stdout: '', calls: 1 });
    expect(stderr).toContain('c.yaml:1:');
    expect(stderr).toContain(
      '"source: nerdgraph" needs "account_id", the id of the New Relic account\n',
    );
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      'account main: add this line: account_id: 1234567  # Simulated account',
    );
  });

  it.each([
    { what: 'without --online', args: [], config: `accounts: [${keyed} }]\n${apps}` },
    {
      what: 'when more is wrong with the file',
      args: ['--online'],
      config: `accounts: [${keyed}, retries: 1 }]\n${apps}`,
    },
  ])('asks nobody $what', async ({ args, config }) => {
    const { exitCode, calls, stderr } = await printed(['check-config', ...args, 'c.yaml'], {
      'c.yaml': config,
    });

    expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: 0 });
    expect(stderr).not.toContain('add this line');
  });

  it.each([
    { what: 'an id that the key sees', id: 1_234_567, exitCode: 0, said: [] },
    {
      what: 'an id that the key does not see',
      id: 7,
      exitCode: 1,
      said: [
        'error   account main: the API key does not see the account with account_id 7',
        '    = help: correct it, or use a key of a user who may see that account; this key sees:',
        '          account_id: 1234567  # Simulated account',
      ],
    },
  ])('checks $what with REST', async ({ id, exitCode, said }) => {
    const account = `${keyed.replace('nerdgraph', 'rest')}, account_id: ${id} }`;

    const result = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${account}]\n${apps}` },
      threeApplications,
    );

    const about = result.stdout.split('\n').filter((line) => /account_id|this key/u.test(line));
    expect(result.exitCode).toBe(exitCode);
    expect(about.map((line) => line.replace(/^\d+ /u, ''))).toEqual(said);
  });

  it('checks the id with NerdGraph, too, and names what the key sees', async () => {
    const { exitCode, stdout } = await printed(
      ['check-config', '--online', 'c.yaml'],
      { 'c.yaml': `accounts: [${keyed}, account_id: 7 }]\n${apps}` },
      threeApplications,
    );

    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'account main: the API key does not see the account with account_id 7',
    );
    expect(stdout).toContain('    account_id: 1234567  # Simulated account\n');
  });

  it('does not ask again with a key that the REST API refuses', async () => {
    const { stdout, stderr } = await printed(
      ['check-config', '--online', 'c.yaml'],
      {
        'c.yaml': `accounts: [${keyed.replace('nerdgraph', 'rest').replace('KEY', 'WRONG_KEY')} }]\n${apps}`,
      },
      threeApplications,
    );

    expect(stdout).toContain('discovery failed');
    expect(stdout + stderr).not.toContain('account_id');
  });
});
