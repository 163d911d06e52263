import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { PageContext } from '../../src/status/document.ts';
import { scrapeConfig, shardTargets } from '../../src/status/shard-targets.ts';
import { hostileText } from '../support/hostile-text.ts';

const alone = { ordinal: 0, total: 1 };
const telemetryPath = '/metrics';
const template = 'exporter-{shard}.exporter:9126';

describe('shardTargets', () => {
  it('names every shard, whichever of them is asked', () => {
    const context = { host: 'whatever', hasTls: true, shardAddress: template, telemetryPath };

    expect(shardTargets({ ordinal: 1, total: 3 }, context).groups).toEqual(
      ['0', '1', '2'].map((ordinal) => ({
        targets: [`exporter-${ordinal}.exporter:9126`],
        labels: {
          __metrics_path__: '/metrics',
          __scheme__: 'https',
          __meta_newrelic_exporter_shard: ordinal,
          __meta_newrelic_exporter_total_shards: '3',
        },
      })),
    );
  });

  it.each([
    { host: 'exporter:9126', hasTls: false, target: 'exporter:9126' },
    { host: '127.0.0.1:9126', hasTls: false, target: '127.0.0.1:9126' },
    { host: '[::1]:9126', hasTls: true, target: '[::1]:9126' },
    { host: 'exporter.example', hasTls: false, target: 'exporter.example:80' },
    { host: 'exporter.example', hasTls: true, target: 'exporter.example:443' },
    { host: '[2001:db8::1]', hasTls: false, target: '[2001:db8::1]:80' },
  ])('without shards is the host that was asked: $host gives $target', ({ target, ...asked }) => {
    const { groups } = shardTargets(alone, { shardAddress: '', telemetryPath, ...asked });

    expect(groups?.map(({ targets }) => targets)).toEqual([[target]]);
    expect(groups?.[0]?.labels['__scheme__']).toBe(asked.hasTls ? 'https' : 'http');
  });

  it.each([
    undefined,
    '',
    'a b:9126',
    'host:0',
    'host:99999',
    'host:x',
    'user@host:9126',
    'host/path',
    '<script>',
    'a,b',
    '-host',
    'x'.repeat(40) + '\n',
  ])('refuses the host %j: 400', (host) => {
    const context = { host, hasTls: false, shardAddress: '', telemetryPath };

    expect(shardTargets(alone, context)).toMatchObject({
      groups: undefined,
      status: 400,
      problem: expect.stringContaining('--web.shard-address') as unknown,
    });
  });

  it('does not know the other shards without addresses: 503, so that Prometheus keeps its targets', () => {
    const context = { host: 'exporter:9126', hasTls: false, shardAddress: '', telemetryPath };

    expect(shardTargets({ ordinal: 2, total: 3 }, context)).toMatchObject({
      groups: undefined,
      status: 503,
      problem: expect.stringMatching(/shard 2 of 3.*--web\.shard-address/u) as unknown,
    });
  });
});

const context: PageContext = {
  telemetryPath: '/metrics',
  shardAddress: '',
  host: 'exporter.example:9126',
  hasTls: false,
  hasAuth: false,
};

const jobOf = (changes: Partial<PageContext>, shard = alone): unknown =>
  (parse(scrapeConfig(shard, { ...context, ...changes })) as { scrape_configs: unknown[] })
    .scrape_configs[0];

const targets = (target: string): unknown => [{ targets: [target] }];

describe('scrapeConfig', () => {
  it.each([
    { what: 'a plain exporter', changes: {}, more: {} },
    {
      what: 'another path',
      changes: { telemetryPath: '/nr/metrics' },
      more: { metrics_path: '/nr/metrics' },
    },
    { what: 'TLS', changes: { hasTls: true }, more: { scheme: 'https' } },
    {
      what: 'a password',
      changes: { hasAuth: true },
      more: {
        basic_auth: {
          username: 'USER',
          password_file: '/etc/prometheus/newrelic-exporter-password',
        },
      },
    },
  ])('is what Prometheus needs for $what', ({ changes, more }) => {
    expect(jobOf(changes)).toEqual({
      job_name: 'newrelic',
      static_configs: targets('exporter.example:9126'),
      ...more,
    });
  });

  it.each([
    { host: undefined, target: 'ADDRESS-OF-THIS-EXPORTER:9126' },
    { host: 'evil"]\n- x', target: 'ADDRESS-OF-THIS-EXPORTER:9126' },
  ])('names $target for the host $host', ({ host, target }) => {
    expect(jobOf({ host })).toMatchObject({ static_configs: targets(target) });
  });

  it('is the same list of lines, whatever the request says', () => {
    fc.assert(
      fc.property(hostileText, (host) => {
        expect(Object.keys(jobOf({ host }) as object)).toEqual(['job_name', 'static_configs']);
      }),
    );
  });

  it('names all shards, if their addresses are known', () => {
    const shardAddress = 'exporter-{shard}.exporter:9126';

    expect(jobOf({ shardAddress }, { ordinal: 1, total: 3 })).toMatchObject({
      static_configs: [
        {
          targets: [
            'exporter-0.exporter:9126',
            'exporter-1.exporter:9126',
            'exporter-2.exporter:9126',
          ],
        },
      ],
    });
  });

  it('says how many shards are missing, if their addresses are not known', () => {
    expect(scrapeConfig({ ordinal: 1, total: 3 }, context)).toContain(
      'targets: ["exporter.example:9126"]  # and 2 more, one for each shard\n',
    );
  });
});
