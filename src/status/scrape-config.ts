import type { Shard } from '../model/shard.ts';
import { hasPort, isHostAddress, shardAddressOf } from '../model/shard-address.ts';
import type { PageContext } from './page-context.ts';

/** More would be a list for a program, and `/api/v1/sd` is that. */
const mostShards = 50;

/** The address of this process as the request names it, if it looks like one. */
function ownAddress({ host, hasTls }: PageContext): string {
  if (host === undefined || !isHostAddress(host)) return 'ADDRESS-OF-THIS-EXPORTER:9126';
  return hasPort(host) ? host : `${host}:${hasTls ? 443 : 80}`;
}

/** The addresses of all shards, by their numbers; `undefined` if they are not known. */
export function addressesOf(
  { total }: Shard,
  { shardAddress }: PageContext,
): readonly string[] | undefined {
  if (shardAddress === '' || total === 1 || total > mostShards) return undefined;
  return Array.from({ length: total }, (_, ordinal) => shardAddressOf(shardAddress, ordinal));
}

/** What makes Prometheus scrape this exporter, with its shards, to be pasted into its configuration. */
export function scrapeConfig(shard: Shard, context: PageContext): string {
  const { telemetryPath, hasTls, hasAuth } = context;
  const all = addressesOf(shard, context);
  const targets = (all ?? [ownAddress(context)]).map((address) => JSON.stringify(address));
  const others = shard.total - targets.length;
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
    `      - targets: [${targets.join(', ')}]${others > 0 ? `  # and ${others} more, one for each shard` : ''}`,
    '',
  ].join('\n');
}
