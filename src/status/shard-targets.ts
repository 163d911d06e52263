import type { Shard } from '../model/shard.ts';
import { hasPort, isHostAddress, shardAddressOf } from '../model/shard-address.ts';
import type { PageContext } from './document.ts';

/** What a request says of the addresses of this process and its shards. */
export type ShardContext = Pick<PageContext, 'host' | 'hasTls' | 'shardAddress' | 'telemetryPath'>;

/** One group of targets, as Prometheus' HTTP service discovery wants it. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The groups, never none of them; or why they are not known, and the HTTP status that fits. */
export type ShardTargets =
  | { readonly groups: readonly TargetGroup[]; readonly problem: undefined }
  | { readonly groups: undefined; readonly problem: string; readonly status: 400 | 503 };

/** The address of this process as the request names it, if it looks like one. */
function ownAddress({ host = '', hasTls }: ShardContext): string | undefined {
  if (!isHostAddress(host)) return undefined;
  return hasPort(host) ? host : `${host}:${hasTls ? 443 : 80}`;
}

/**
 * The processes that share the applications, for Prometheus to scrape all of them. An empty list would
 * make it forget its targets, and it keeps them when the answer is an error.
 */
export function shardTargets(shard: Shard, context: ShardContext): ShardTargets {
  const { shardAddress } = context;
  if (shardAddress === '' && shard.total > 1) {
    return {
      groups: undefined,
      status: 503,
      problem:
        `This is shard ${shard.ordinal} of ${shard.total}, and it does not know the addresses of the others. ` +
        'Give --web.shard-address, such as newrelic-exporter-{shard}.newrelic-exporter:9126.',
    };
  }
  if (shardAddress !== '') {
    const groups = Array.from({ length: shard.total }, (_, ordinal) =>
      groupOf(shardAddressOf(shardAddress, ordinal), ordinal, shard, context),
    );
    return { groups, problem: undefined };
  }
  const address = ownAddress(context);
  if (address !== undefined) {
    return { groups: [groupOf(address, shard.ordinal, shard, context)], problem: undefined };
  }
  return {
    groups: undefined,
    status: 400,
    problem:
      'The request does not name the address of this exporter in its Host header. Ask by host name or address, or give --web.shard-address.',
  };
}

function groupOf(
  address: string,
  ordinal: number,
  { total }: Shard,
  { telemetryPath, hasTls }: ShardContext,
): TargetGroup {
  return {
    targets: [address],
    labels: {
      __metrics_path__: telemetryPath,
      __scheme__: hasTls ? 'https' : 'http',
      __meta_newrelic_exporter_shard: String(ordinal),
      __meta_newrelic_exporter_total_shards: String(total),
    },
  };
}

/** More would be a list for a program, and `/api/v1/sd` is that. */
const mostShards = 50;

/** The addresses of all shards, by their numbers; `undefined` if they are not known. */
export function addressesOf(
  { total }: Shard,
  { shardAddress }: PageContext,
): readonly string[] | undefined {
  if (shardAddress === '' || total === 1 || total > mostShards) return undefined;
  return Array.from({ length: total }, (_, ordinal) => shardAddressOf(shardAddress, ordinal));
}
