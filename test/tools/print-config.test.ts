import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../../src/cli/run.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

const config = `accounts:
  - name: production
    region: eu
    api_key_file: /run/key
    proxy_url: http://user:hunter2@proxy:3128
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

const documentSchema = z.object({
  config: z.unknown(),
  values: z.array(
    z.object({ path: z.array(z.unknown()), value: z.unknown(), origin: z.looseObject({}) }),
  ),
  flags: z.array(z.object({ name: z.string(), value: z.string(), origin: z.string() })),
});

describe('print-config', () => {
  it('prints every value with its origin, and no secret', async () => {
    const { exitCode, stdout, stderr } = await printed(['c.yaml']);

    const body = stdout.replaceAll(/^#.*\n/gmu, '').trimStart();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(body).toBe(`accounts:
  - name: production # c.yaml:2
    source: rest # default
    base_url: https://api.eu.newrelic.com # c.yaml:3
    api_key_file: /run/key # c.yaml:4
    api_key_header: Api-Key # default
    requests_per_minute: 800 # default
    concurrency: 8 # default
    timeout: 30s # default
    proxy_url: http://[redacted]@proxy:3128 # c.yaml:5
poll:
  interval: 2m # c.yaml:7
  discovery_interval: 1m # default
  window: 5m # default
  delay: 3m # default
  stale_after: 15m # default
  host_names: true # default
  raw: false # default
  metrics: [ throughput ] # default
apps:
  - id: 12 # c.yaml:9
    labels: {} # default
    hosts: true # default
    application: true # default
    transactions: [ web, other ] # default
  - match: ^shop- # c.yaml:10
    labels:
      team: payments # c.yaml:11
    hosts: { match: ^web } # c.yaml:12
    application: true # default
    transactions: [ web, other ] # default
    interval: 5m # c.yaml:13
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

  it('takes the file as an operand, too', async () => {
    const { stdout } = await printed(['c.yaml']);

    expect(stdout).toContain('#   --config.file=c.yaml  (flag)\n');
  });

  it('gives the same as JSON', async () => {
    const { exitCode, stdout } = await printed(['-o', 'json', 'c.yaml']);

    const { values, flags, config: effective } = documentSchema.parse(JSON.parse(stdout));
    expect(exitCode).toBe(0);
    expect(effective).toMatchObject({ poll: { interval: '2m' }, apps: [{ id: 12 }, {}] });
    expect(values.find(({ path }) => path.join('.') === 'poll.interval')).toEqual({
      path: ['poll', 'interval'],
      value: '2m',
      origin: { kind: 'file', file: 'c.yaml', line: 7, column: 13 },
    });
    expect(values.find(({ path }) => path.join('.') === 'poll.raw')).toEqual({
      path: ['poll', 'raw'],
      value: false,
      origin: { kind: 'default' },
    });
    expect(flags.find(({ name }) => name === 'log.level')).toMatchObject({
      value: 'info',
      origin: 'default',
    });
    expect(stdout).not.toContain('hunter2');
  });

  it('finds the origin of settings that the entries set themselves', async () => {
    const file = 'apps:\n  - { id: 1, interval: 3m }\n  - { id: 2, interval: 3m }\n';

    const { stdout } = await printed(['c.yaml'], {}, file);

    expect(stdout).toContain('poll:\n  interval: 3m # c.yaml:2\n');
    expect(stdout).toContain('  - name: default # default\n');
    expect(stdout).toContain('    api_key_env: NEW_RELIC_API_KEY # default\n');
  });

  it('shows the errors of a file that has some, and exits with 2', async () => {
    const { exitCode, stdout, stderr } = await printed(['c.yaml'], {}, 'apps: []');

    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('c.yaml:1:7: "apps" must not be empty');
  });
});
