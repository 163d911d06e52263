import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { PageContext } from '../../src/status/page-context.ts';
import { scrapeConfig } from '../../src/status/scrape-config.ts';
import { hostileText } from '../support/hostile-text.ts';

const context: PageContext = {
  telemetryPath: '/metrics',
  host: 'exporter.example:9126',
  hasTls: false,
  hasAuth: false,
};

const jobOf = (changes: Partial<PageContext>): unknown =>
  (parse(scrapeConfig({ ...context, ...changes })) as { scrape_configs: unknown[] })
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
});
