import { describe, expect, it, onTestFinished } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { type Ended, startProgram, withFiles } from '../support/daemon-process.ts';

const key = 'NRAK-ACCOUNTIDS';

/** Runs `check-config --online` for an account with NerdGraph and these keys. */
async function checked(keys: string): Promise<Ended> {
  const simulator = createSimulator(
    {
      apiKeys: [key],
      fleet: { applications: 1, hosts: 1 },
      graphql: { accountId: 42, accountName: 'Acme: production # 1' },
    },
    { clock: createSystemClock() },
  );
  const { baseUrl } = await simulator.start();
  onTestFinished(async () => simulator.stop());
  const config =
    `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_file: key, source: nerdgraph${keys} }\n` +
    'apps: [{ match: "." }]\n';
  return withFiles(
    { 'config.yaml': config, key },
    async (directory) =>
      startProgram(['check-config', '--online', `${directory}/config.yaml`]).ended,
  );
}

describe('check-config --online', () => {
  it('proposes a line that makes the file complete', async () => {
    const { code, stderr } = await checked('');
    const line = /add this line: (account_id: \d+)  # Acme: production # 1\n/u.exec(stderr)?.[1];

    expect(code).toBe(2);
    expect(line).toBe('account_id: 42');
    expect(await checked(`, ${line}`)).toMatchObject({ code: 0, stderr: '' });
  });

  it('names the accounts that the key sees when the id is wrong', async () => {
    const { code, stdout, stderr } = await checked(', account_id: 43');

    expect(code).toBe(1);
    expect(stdout).toContain('does not see the account with account_id 43');
    expect(stdout).toContain('    account_id: 42  # Acme: production # 1\n');
    expect(stdout + stderr).not.toContain(key);
  });
});
