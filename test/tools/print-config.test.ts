import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const config = `accounts:
  - name: production
    region: eu
    api_key_file: /run/key
    proxy_url: http://user:hunter2@proxy:3128 # a login here draws a warning
poll:
  interval: 2m
apps:
  - id: 12
  - match: ^shop-
    labels: { team: payments }
    hosts: { match: ^web }
    interval: 5m
`;

async function printed(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  file: string = config,
): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }> {
  const platform = createFakePlatform({ env, files: { 'c.yaml': file } });
  const exitCode = await run(['print-config', ...args], platform);
  return { exitCode, stdout: platform.stdout.text(), stderr: platform.stderr.text() };
}

describe('print-config', () => {
  it('prints every value, and no secret', async () => {
    const { exitCode, stdout, stderr } = await printed(['c.yaml']);

    const body = stdout.replaceAll(/^#.*\n/gmu, '').trimStart();
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"proxy_url" holds a login');
    expect(stderr).not.toContain('hunter2');
    expect(body).toBe(`accounts:
  - name: production
    source: rest
    region: eu
    api_key_file: /run/key
    api_key_header: Api-Key
    requests_per_minute: 800
    concurrency: 8
    timeout: 30s
    proxy_url: http://[redacted]@proxy:3128
poll:
  interval: 2m
  discovery_interval: 1m
  window: 5m
  delay: 3m
  stale_after: 15m
  host_names: true
  raw: false
  metrics:
    - throughput
apps:
  - id: 12
    labels: {}
    hosts: true
    application: true
    transactions:
      - web
      - other
  - match: ^shop-
    labels:
      team: payments
    hosts:
      match: ^web
    application: true
    transactions:
      - web
      - other
    interval: 5m
`);
  });

  it('shows the flags of serve, and where each comes from', async () => {
    const { stdout } = await printed(['--config.file=c.yaml', '--log.level=debug'], {
      NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ':1,:2',
    });

    expect(stdout).toContain('#   --config.file=c.yaml  (flag)\n');
    expect(stdout).toContain('#   --log.level=debug  (flag)\n');
    expect(stdout).toContain(
      '#   --web.listen-address=:1,:2  (environment NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS)\n',
    );
    expect(stdout).toContain('#   --shard=auto  (default)\n');
    expect(stdout).not.toContain('--demo');
  });

  it('shows the errors of a file that has some, and exits with 2', async () => {
    const { exitCode, stdout, stderr } = await printed(['c.yaml'], {}, 'apps: []');

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('c.yaml:1:7: "apps" must not be empty');
  });
});
