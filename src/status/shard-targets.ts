import type { Shard } from '../model/shard.ts';
import { hasPort, isHostAddress, shardAddressOf } from '../model/shard-address.ts';

export interface ShardTargetsOptions {
  readonly shard: Shard;
  /** Addresses of the shards, with `{shard}` for the number; empty if they are not known. */
  readonly shardAddress: string;
  readonly telemetryPath: string;
}

/** How the question arrived. */
export interface Asked {
  /** The header `Host`. */
  readonly host: string | undefined;
  readonly isTls: boolean;
}

/** One group of targets, as Prometheus' HTTP service discovery wants it. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The groups, never none of them; or why they are not known, and the HTTP status that fits. */
export type ShardTargets =
  | { readonly groups: readonly TargetGroup[]; readonly problem: undefined }
  | { readonly groups: undefined; readonly problem: string; readonly status: 400 | 503 };

/**
 * The processes that share the applications, for Prometheus to scrape all of them. An empty list would
 * make it forget its targets, and it keeps them when the answer is an error.
 */
export function shardTargets(options: ShardTargetsOptions, asked: Asked): ShardTargets {
  const { shard, shardAddress } = options;
  if (shardAddress === '' && shard.total === 1) return ownTarget(options, asked);
  if (shardAddress === '') {
    return {
      groups: undefined,
      status: 503,
      problem:
        `This is shard ${shard.ordinal} of ${shard.total}, and it does not know the addresses of the others. ` +
        'Give --web.shard-address, such as newrelic-exporter-{shard}.newrelic-exporter:9126.',
    };
  }
  const groups = Array.from({ length: shard.total }, (_, ordinal): TargetGroup => {
    return groupOf(shardAddressOf(shardAddress, ordinal), ordinal, options, asked);
  });
  return { groups, problem: undefined };
}

function ownTarget(options: ShardTargetsOptions, asked: Asked): ShardTargets {
  const { host = '' } = asked;
  if (!isHostAddress(host)) {
    return {
      groups: undefined,
      status: 400,
      problem:
        'The request does not name the address of this exporter in its Host header. Ask by host name or address, or give --web.shard-address.',
    };
  }
  const port = asked.isTls ? 443 : 80;
  const address = hasPort(host) ? host : `${host}:${port}`;
  return { groups: [groupOf(address, options.shard.ordinal, options, asked)], problem: undefined };
}

function groupOf(
  address: string,
  ordinal: number,
  { shard, telemetryPath }: ShardTargetsOptions,
  { isTls }: Asked,
): TargetGroup {
  return {
    targets: [address],
    labels: {
      __metrics_path__: telemetryPath,
      __scheme__: isTls ? 'https' : 'http',
      __meta_newrelic_exporter_shard: String(ordinal),
      __meta_newrelic_exporter_total_shards: String(shard.total),
    },
  };
}
