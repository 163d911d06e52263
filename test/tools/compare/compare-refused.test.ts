import { describe, expect, it } from 'vitest';
import { printed, threeApplications } from '../survey/ask-bench.ts';

const account =
  '{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567 }';

const withoutId = account.replace(', account_id: 1234567', '');
const usual = `accounts: [${account}]\napps: [{ match: "." }]`;

describe('compare', () => {
  it('compares the accounts whose id it knows, and names the others', async () => {
    const other = withoutId.replace('main', 'other');
    const two = `accounts: [${account}, ${other}]\napps: [{ match: ".", account: main }, { id: 1, account: other }]`;

    const { exitCode, stdout, stderr } = await printed(
      ['compare', 'c.yaml'],
      { 'c.yaml': two },
      threeApplications,
    );

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^account other: not compared: account_id is not in the .*: add it .* check-config --online/mu,
    );
    expect(stdout).toMatch(
      /\nSwitching cannot be judged: 1 of 2 accounts could not be compared\.\n$/u,
    );
  });

  it('exits with 2 for queries alone: there is nothing to compare', async () => {
    const queried = account.replace('}', ', source: nerdgraph }');
    const files = {
      'c.yaml': `accounts: [${queried}]\nqueries: [{ as: a, nrql: SELECT count(*) FROM Transaction }]`,
    };

    const { exitCode, stderr, calls } = await printed(['compare', 'c.yaml'], files);

    expect([exitCode, calls]).toEqual([2, 0]);
    expect(stderr).toContain('cannot be judged: there are no applications to compare');
  });

  it('exits with 1 if New Relic refuses the key', async () => {
    const { exitCode, stdout, stderr } = await printed(['compare', 'c.yaml'], {
      'c.yaml': usual.replace('KEY', 'WRONG_KEY'),
    });

    expect(exitCode).toBe(1);
    expect(stderr).toContain('account main: not compared: the discovery with ');
    expect(stdout).toBe('Switching cannot be judged: 1 of 1 account could not be compared.\n');
  });

  it.each([
    {
      what: 'no account has an id',
      args: ['compare', 'c.yaml'],
      accounts: withoutId,
      message: 'account main: not compared: account_id is not in the configuration',
    },
    {
      what: 'a key is not there',
      args: ['compare', 'c.yaml'],
      accounts: account.replace('KEY', 'NO_KEY'),
      message: 'the environment variable NO_KEY is not set',
    },
    {
      what: 'the file is not there',
      args: ['compare', 'missing.yaml'],
      accounts: account,
      message: 'the configuration file does not exist',
    },
  ])('exits with 2 and asks nobody if $what', async ({ args, accounts, message }) => {
    const { exitCode, stdout, stderr, calls } = await printed(args, {
      'c.yaml': `accounts: [${accounts}]\napps: [{ match: "." }]`,
    });

    expect({ exitCode, stdout, calls }).toEqual({ exitCode: 2, stdout: '', calls: 0 });
    expect(stderr).toContain(message);
  });
});
