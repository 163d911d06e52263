/**
 * Remembers which metrics an application has at all. A metric without calls in a window is not in an
 * answer: if the application has the metric, that means 0, otherwise there is no value.
 */
export interface RecordedMetrics {
  /** Whether New Relic was asked which of these metrics the application has had in the last day. */
  isKnown(applicationId: string, metrics: readonly string[]): boolean;
  /** New Relic was asked. */
  known(applicationIds: Iterable<string>, metrics: readonly string[]): void;
  has(applicationId: string, metric: string): boolean;
  saw(applicationId: string, metric: string): void;
  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void;
}

/** Sets of metrics by application. Applications that are alike share one set. */
interface MetricsByApplication {
  has(applicationId: string, metric: string): boolean;
  has(applicationId: string, metric: string): boolean;
  hasAll(applicationId: string, metrics: readonly string[]): boolean;
  add(applicationId: string, metrics: readonly string[]): void;
  keepOnly(applicationIds: ReadonlySet<string>): void;
}

export function createRecordedMetrics(): RecordedMetrics {
  const recorded = createMetricsByApplication();
  const askedFor = createMetricsByApplication();

  return {
    isKnown: (applicationId, metrics) => askedFor.hasAll(applicationId, metrics),
    known: (applicationIds, metrics) => {
      for (const id of applicationIds) askedFor.add(id, metrics);
    },
    has: (applicationId, metric) => recorded.has(applicationId, metric),
    saw: (applicationId, metric) => {
      if (!recorded.has(applicationId, metric)) recorded.add(applicationId, [metric]);
    },
    keepOnly: (applicationIds) => {
      recorded.keepOnly(applicationIds);
      askedFor.keepOnly(applicationIds);
    },
  };
}

function createMetricsByApplication(): MetricsByApplication {
  const sets = new Map<string, ReadonlySet<string>>();
  /** A set for each application of its own would be megabytes for thousands of them. */
  const shared = new Map<string, ReadonlySet<string>>();

  const hasAll = (applicationId: string, metrics: readonly string[]): boolean => {
    const set = sets.get(applicationId);
    return set !== undefined && metrics.every((metric) => set.has(metric));
  };

  return {
    has: (applicationId, metric) => sets.get(applicationId)?.has(metric) === true,
    hasAll,
    add: (applicationId, metrics) => {
      if (hasAll(applicationId, metrics)) return;
      const all = new Set([...(sets.get(applicationId) ?? []), ...metrics]);
      const key = JSON.stringify([...all].toSorted());
      const set = shared.get(key) ?? all;
      shared.set(key, set);
      sets.set(applicationId, set);
    },
    keepOnly: (applicationIds) => {
      for (const id of sets.keys()) if (!applicationIds.has(id)) sets.delete(id);
      const used = new Set(sets.values());
      for (const [key, set] of shared) if (!used.has(set)) shared.delete(key);
    },
  };
}
