import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const good = 'accounts: [{name: a, api_key_env: KEY}]\napps: [{id: 1}]\n';

const reportSchema = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ check: z.string(), file: z.string().nullable(), line: z.number().nullable() }),
  ),
});

interface Checked {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function check(config: string, web: string, ...flags: readonly string[]): Promise<Checked> {
  const platform = createFakePlatform({
    files: { '/config.yaml': config, '/web.yaml': web },
    env: { KEY: `NRAK-${'A'.repeat(27)}`, NEW_RELIC_API_KEY: `NRAK-${'B'.repeat(27)}` },
  });
  const exitCode = await run(
    ['check-config', '--config.file=/config.yaml', '--web.config.file=/web.yaml', ...flags],
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

  it.each([
    { web: 'http_server_configs: {}', exitCode: 2, ok: false, places: ['/web.yaml 1'] },
    { web: '', exitCode: 0, ok: true, places: [] },
  ])('puts all of it into the document for machines: $web', async (row) => {
    const checked = await check(good, row.web, '--output=json');

    const { ok, findings } = reportSchema.parse(JSON.parse(checked.stdout));
    const inFiles = findings.filter(({ check: about }) => about === 'file');
    expect({ exitCode: checked.exitCode, ok }).toEqual({ exitCode: row.exitCode, ok: row.ok });
    expect(inFiles.map(({ file, line }) => `${file} ${line}`)).toEqual(row.places);
  });
});
