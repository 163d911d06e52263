import { Gauge, type Registry } from 'prom-client';

export interface ShardMetrics {
  sharded(shard: number, totalShards: number): void;
}

/** As long as nobody says otherwise, this process is the only one. */
export function createShardMetrics(registry: Registry): ShardMetrics {
  const registers = [registry];
  const ordinal = new Gauge({
    name: 'newrelic_exporter_shard',
    help: 'Which part of the applications this process polls, counted from 0.',
    registers,
  });
  const total = new Gauge({
    name: 'newrelic_exporter_total_shards',
    help: 'Number of processes that share the applications.',
    registers,
  });
  const sharded = (shard: number, totalShards: number): void => {
    ordinal.set(shard);
    total.set(totalShards);
  };
  sharded(0, 1);
  return { sharded };
}
