import { describe, expect, it } from 'vitest';
import { failureOf } from './config-failure.ts';

describe('parseConfig, with a large file', () => {
  it('looks for a similar account only for the errors that are shown', async () => {
    const names = Array.from({ length: 3000 }, (_, index) => `account${index}`);
    const accounts = names.map((name) => `  - { name: ${name}, api_key_env: KEY }\n`).join('');
    const apps = names.map((name) => `  - { id: 1, account: ${name}x }\n`).join('');

    const failure = await failureOf(`accounts:\n${accounts}apps:\n${apps}  - id: 1\n`);

    const rows = failure.split('\n');
    expect(rows.filter((row) => row.includes('= help: did you mean "account'))).toHaveLength(50);
    expect(rows.at(-1)).toBe('and 2951 more');
  });

  it('names at most ten accounts', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `account${index}`);
    const accounts = names.map((name) => `{ name: ${name}, api_key_env: KEY }`).join(', ');

    const missing = await failureOf(`accounts: [${accounts}]\napps: [{ id: 1 }]`);
    const unknown = await failureOf(`accounts: [${accounts}]\napps: [{ id: 1, account: x }]`);

    expect(missing).toMatch(/several accounts: "account0", .*"account9" and 2 more$/u);
    expect(unknown).toMatch(/the accounts are "account0", .*"account9" and 2 more$/u);
  });
});
