import { describe, expect, it } from 'vitest';
import { createStatusSource } from '../../src/daemon/serve.ts';
import { minuteMs } from '../../src/model/time.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import { configOf, surfaces, told } from '../support/break-bench.ts';
import { answered, faulty } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';

const secret = 'NRAK-0123456789ABCDEFGHIJKLMNOPQ';

describe('a key that was pasted as the name of an application', () => {
  it('is shown nowhere', async () => {
    const bench = await aRunningDaemon(
      await configOf(
        `accounts: [{ name: one, api_key_file: /keys/one }]\napps: [{ match: . }, { name: ${secret} }]`,
      ),
      { files: { '/keys/one': secret }, apiKeys: [secret] },
    );
    await bench.platform.clock.advance(minuteMs);
    const reload = {
      configFile: 'c.yaml',
      includedFiles: [],
      inForceSinceMs: 0,
      lastAttemptMs: 0,
      problem: undefined,
    };
    const source = createStatusSource(bench.daemon, () => reload, bench.platform);
    const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
    const json = [
      ...targetsJson(source, { state: 'any', scrapePool: undefined, applicationId: undefined }),
    ].join('');

    expect(source.effectiveConfig()).not.toContain(secret);
    expect(html).not.toContain(secret);
    expect(json).not.toContain(secret);
  });
});

describe('hosts: self of several shards', () => {
  it('is missing in no shard while one application of the entry has the host', async () => {
    const text =
      'accounts: [{ name: one, api_key_env: KEY_A }]\napps: [{ match: ., application: false, hosts: self, discovery_interval: 60s }]';
    const parsed = await configOf(text);
    const hosts = { kind: 'self', names: ['own-pod'] } as const;
    const config = { ...parsed, apps: parsed.apps.map((entry) => ({ ...entry, hosts })) };
    const applications = Array.from({ length: 8 }, (_, index) => ({
      id: 101 + index,
      name: `shop ${index}`,
      kind: 'web' as const,
      webRpm: 60,
      hosts: [{ id: 900 + index, name: index === 0 ? 'own-pod' : `web-${index}` }],
    }));
    const kinds: string[] = [];
    for (const shard of [undefined, { ordinal: 0, total: 2 }, { ordinal: 1, total: 2 }]) {
      const bench = await aRunningDaemon(config, {
        ...(shard && { shard }),
        fleet: { traffic: 'flat', applications } as never,
      });
      await bench.platform.clock.advance(10 * minuteMs);
      kinds.push(
        surfaces(bench)
          .accounts[0]?.problems.map(({ kind }) => kind)
          .join() ?? '',
      );
    }

    expect(kinds).toEqual(['', '', '']);
  });
});

describe('a query that is renamed while it fails', () => {
  it('does not work again', async () => {
    const of = (name: string): string =>
      `accounts: [{ name: one, source: nerdgraph, account_id: 1234567, api_key_env: KEY_A }]\nqueries:\n  - { as: ${name}, nrql: "SELECT count(*) FROM Transaction" }\n  - { as: other, nrql: "SELECT max(duration) FROM Transaction" }`;
    const bench = await aRunningDaemon(
      await configOf(of('calls')),
      faulty({
        answer: ({ operation, body = '' }) =>
          operation === 'query' && body.includes('count') ? answered('{}', 400) : undefined,
      }),
    );
    await bench.platform.clock.advance(3 * minuteMs);
    expect(told(bench.logger)).toContain('poll failed');
    await bench.daemon.apply(await configOf(of('all_calls')));
    await bench.platform.clock.advance(20_000);

    expect(told(bench.logger)).not.toContain('poll works again');
  });
});

describe('an application that is gone (404)', () => {
  it('has the same health in the JSON as on the page', async () => {
    const bench = await aRunningDaemon(
      await configOf('accounts: [{ name: one, api_key_env: KEY_A }]\napps: [{ match: . }]'),
      faulty({
        answer: ({ operation, target }) =>
          bench.platform.clock.monotonicMs() > 2 * minuteMs &&
          operation.endsWith('_metrics') &&
          target.includes('102')
            ? answered('{}', 404)
            : undefined,
      }),
    );
    await bench.platform.clock.advance(5 * minuteMs);
    const source = createStatusSource(
      bench.daemon,
      () => ({
        configFile: 'c.yaml',
        includedFiles: [],
        inForceSinceMs: 0,
        lastAttemptMs: 0,
        problem: undefined,
      }),
      bench.platform,
    );
    const json = [
      ...targetsJson(source, { state: 'any', scrapePool: undefined, applicationId: undefined }),
    ].join('');
    const { tone } = surfaces(bench);

    expect(told(bench.logger)).toContain('application is gone');
    // A target that is down never stands behind a green banner.
    expect([tone, json.includes('"health":"down"')]).not.toEqual(['good', true]);
  });
});
