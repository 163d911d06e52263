import { describe, expect, it } from 'vitest';
import { printed } from './ask-bench.ts';

const good =
  'accounts: [{ name: a, base_url: "http://127.0.0.1", api_key_env: KEY }]\napps: [{ id: 1 }]';
const check = ['check-config', '--web.config.file=web.yaml', 'c.yaml'];

describe('check-config, with a web configuration file', () => {
  it('says that both files are good', async () => {
    const { exitCode, stdout, stderr } = await printed(check, { 'c.yaml': good, 'web.yaml': '{}' });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toContain('c.yaml: ok, 1 account');
    expect(stdout).toContain('\nweb.yaml: ok, no TLS, 0 users, 0 warnings\n');
  });

  it('shows the errors of both in one run', async () => {
    const { exitCode, stdout, stderr } = await printed(check, {
      'c.yaml': 'apps: []',
      'web.yaml': 'tls_server_confg: {}',
    });

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('c.yaml:1:7: "apps" must not be empty\n');
    expect(stderr).toContain('web.yaml:1:1: unknown key "tls_server_confg"\n');
  });

  it('exits with 2 if only the web configuration is wrong, also as JSON', async () => {
    const files = { 'c.yaml': good, 'web.yaml': 'x: 1' };

    const text = await printed(check, files);
    const json = await printed([...check, '-o', 'json'], files);

    expect([text.exitCode, json.exitCode]).toEqual([2, 2]);
    expect(text.stdout).toBe('');
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      findings: [{ check: 'file', severity: 'error', file: 'web.yaml', line: 1, column: 1 }],
    });
  });
});
