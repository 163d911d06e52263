import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const good = 'accounts: [{name: a, api_key_env: KEY}]\napps: [{id: 1}]\n';

interface Checked {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function check(config: string, web: string): Promise<Checked> {
  const platform = createFakePlatform({
    files: { '/config.yaml': config, '/web.yaml': web },
    env: { KEY: `NRAK-${'A'.repeat(27)}`, NEW_RELIC_API_KEY: `NRAK-${'B'.repeat(27)}` },
  });
  const exitCode = await run(
    ['check-config', '--config.file=/config.yaml', '--web.config.file=/web.yaml'],
    platform,
  );
  return { exitCode, stdout: platform.stdout.text(), stderr: platform.stderr.text() };
}

describe('check-config with a web configuration file', () => {
  it('says that both are good', async () => {
    const { exitCode, stdout, stderr } = await check(good, 'http_server_config: {}');

    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /^\/config\.yaml: ok, [^]*\n\/web\.yaml: ok, no TLS, 0 users, 0 warnings\n$/u,
    );
  });

  it('names what is wrong with either of them, in one run', async () => {
    const { exitCode, stderr } = await check('apps: []\n', 'http_server_configs: {}');

    expect(exitCode).toBe(2);
    expect(stderr.split('\n').filter((line) => line.startsWith('/'))).toEqual([
      '/config.yaml:1:7: "apps" must not be empty',
      '/web.yaml:1:1: unknown key "http_server_configs"',
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
    expect(stdout).toContain('/web.yaml: ok, no TLS, 1 user, 1 warning\n');
    expect(stderr).toContain('passwords cross the network in clear');
    expect(stderr).not.toContain(hash);
  });
});
