import type { ListedMetric } from '../model/metric-list.ts';

/** Metrics as they arrive: each name once, with all the values that it came with. */
export interface ListedMetrics {
  add(metrics: readonly ListedMetric[]): void;
  size(): number;
  /** By name, and the values by name, too. */
  sorted(): readonly ListedMetric[];
}

export function createListedMetrics(): ListedMetrics {
  const found = new Map<string, ReadonlySet<string> | undefined>();
  return {
    add: (metrics) => {
      for (const { name, values } of metrics) {
        const known = found.get(name);
        found.set(name, values === undefined ? known : new Set([...(known ?? []), ...values]));
      }
    },
    size: () => found.size,
    sorted: () =>
      [...found]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, values]) => ({
          name,
          values: values === undefined ? undefined : [...values].toSorted(),
        })),
  };
}
