import { describe, expect, it } from 'vitest';
import { shardTargets } from '../../src/status/shard-targets.ts';

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
