import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { PageContext } from '../../src/status/page-context.ts';
import { scrapeConfig } from '../../src/status/scrape-config.ts';
import { hostileText } from '../support/hostile-text.ts';

const context: PageContext = {
  telemetryPath: '/metrics',
  shardAddress: '',
  host: 'exporter.example:9126',
  hasTls: false,
  hasAuth: false,
};

const alone = { ordinal: 0, total: 1 };

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
    { host: '[::1]:9126', target: '[::1]:9126' },
    { host: 'exporter.example', target: 'exporter.example:80' },
    { host: undefined, target: 'ADDRESS-OF-THIS-EXPORTER:9126' },
    { host: 'evil"]\n- x', target: 'ADDRESS-OF-THIS-EXPORTER:9126' },
  ])('names $target for the host $host', ({ host, target }) => {
    expect(jobOf({ host })).toMatchObject({ static_configs: targets(target) });
  });

  it('names the port of HTTPS where the address has none', () => {
    expect(jobOf({ host: 'exporter.example', hasTls: true })).toMatchObject({
      static_configs: targets('exporter.example:443'),
    });
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
