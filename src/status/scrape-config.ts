import type { PageContext } from './page-context.ts';

/** A name or an address, and a port if there is one. */
const hostPattern = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

function targetOf(host: string | undefined, hasTls: boolean): string {
  if (host === undefined || !hostPattern.test(host)) return 'ADDRESS-OF-THIS-EXPORTER:9126';
  return /:\d+$/.test(host) ? host : `${host}:${hasTls ? 443 : 80}`;
}

/** What makes Prometheus scrape this exporter, to be pasted into its configuration. */
export function scrapeConfig({ telemetryPath, host, hasTls, hasAuth }: PageContext): string {
  return [
    'scrape_configs:',
    '  - job_name: newrelic',
    ...(telemetryPath === '/metrics' ? [] : [`    metrics_path: ${JSON.stringify(telemetryPath)}`]),
    ...(hasTls
      ? [
          '    scheme: https',
          '    # tls_config:',
          '    #   ca_file: /etc/prometheus/ca.crt  # for a certificate of a CA of your own',
        ]
      : []),
    ...(hasAuth
      ? [
          '    basic_auth:',
          '      username: USER',
          '      password_file: /etc/prometheus/newrelic-exporter-password',
        ]
      : []),
    '    static_configs:',
    `      - targets: [${JSON.stringify(targetOf(host, hasTls))}]`,
    '',
  ].join('\n');
}
