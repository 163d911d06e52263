import { Gauge, type Registry } from 'prom-client';
import type { Shard } from '../model/shard.ts';

export interface ShardMetrics {
  sharded(shard: Shard): void;
}

/** As long as nobody says otherwise, this process is the only one. */
export function createShardMetrics(registry: Registry): ShardMetrics {
  const registers = [registry];
  const number = new Gauge({
    name: 'newrelic_exporter_shard',
    help: 'Which part of the applications this process polls, counted from 0.',
    registers,
  });
  const count = new Gauge({
    name: 'newrelic_exporter_total_shards',
    help: 'Number of processes that share the applications.',
    registers,
  });
  const sharded = ({ ordinal, total }: Shard): void => {
    number.set(ordinal);
    count.set(total);
  };
  sharded({ ordinal: 0, total: 1 });
  return { sharded };
}
