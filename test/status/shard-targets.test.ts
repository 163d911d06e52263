import { describe, expect, it } from 'vitest';
import { shardTargets } from '../../src/status/shard-targets.ts';

const alone = { ordinal: 0, total: 1 };
const telemetryPath = '/metrics';
const template = 'exporter-{shard}.exporter:9126';

describe('shardTargets', () => {
  it('names every shard, whichever of them is asked', () => {
    const options = { shard: { ordinal: 1, total: 3 }, shardAddress: template, telemetryPath };
    const asked = { host: 'whatever', isTls: true };

    expect(shardTargets(options, asked).groups).toEqual(
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

  it('puts the number wherever the address has its place', () => {
    const shardAddress = 'e-{shard}.zone-{shard}.example:9126';
    const options = { shard: { ordinal: 0, total: 2 }, shardAddress, telemetryPath };
    const { groups } = shardTargets(options, { host: undefined, isTls: false });

    expect(groups?.map(({ targets }) => targets)).toEqual([
      ['e-0.zone-0.example:9126'],
      ['e-1.zone-1.example:9126'],
    ]);
  });

  it.each([
    { host: 'exporter:9126', isTls: false, target: 'exporter:9126' },
    { host: '127.0.0.1:9126', isTls: false, target: '127.0.0.1:9126' },
    { host: '[::1]:9126', isTls: true, target: '[::1]:9126' },
    { host: 'exporter.example', isTls: false, target: 'exporter.example:80' },
    { host: 'exporter.example', isTls: true, target: 'exporter.example:443' },
    { host: '[2001:db8::1]', isTls: false, target: '[2001:db8::1]:80' },
  ])('without shards is the host that was asked: $host gives $target', ({ target, ...asked }) => {
    const { groups } = shardTargets({ shard: alone, shardAddress: '', telemetryPath }, asked);

    expect(groups?.map(({ targets }) => targets)).toEqual([[target]]);
    expect(groups?.[0]?.labels['__scheme__']).toBe(asked.isTls ? 'https' : 'http');
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
    const options = { shard: alone, shardAddress: '', telemetryPath };

    expect(shardTargets(options, { host, isTls: false })).toMatchObject({
      groups: undefined,
      status: 400,
      problem: expect.stringContaining('--web.shard-address') as unknown,
    });
  });

  it('does not know the other shards without addresses: 503, so that Prometheus keeps its targets', () => {
    const options = { shard: { ordinal: 2, total: 3 }, shardAddress: '', telemetryPath };

    expect(shardTargets(options, { host: 'exporter:9126', isTls: false })).toEqual({
      groups: undefined,
      status: 503,
      problem:
        'This is shard 2 of 3, and it does not know the addresses of the others. Give --web.shard-address, such as newrelic-exporter-{shard}.newrelic-exporter:9126.',
    });
  });
});
