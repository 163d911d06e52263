/**
 * Remembers which metrics an application and its hosts have had calls of, since this process began. A
 * metric without calls in a window is not in an answer: if the subject is there and has had it before,
 * that means 0, otherwise there is no value.
 */
export interface SeenMetrics {
  /** @param host its name; `undefined` for the application as a whole */
  has(applicationId: string, host: string | undefined, metric: string): boolean;
  saw(applicationId: string, host: string | undefined, metric: string): void;
  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void;
  /** Forgets all other hosts of the application. */
  keepHosts(applicationId: string, hosts: ReadonlySet<string>): void;
}

type MetricsByHost = Map<string | undefined, ReadonlySet<string>>;

export function createSeenMetrics(): SeenMetrics {
  const seen = new Map<string, MetricsByHost>();
  /** A set for each host of its own would be megabytes for thousands of them. */
  const shared = new Map<string, ReadonlySet<string>>();

  return {
    has: (applicationId, host, metric) => seen.get(applicationId)?.get(host)?.has(metric) === true,
    saw: (applicationId, host, metric) => {
      const ofApplication: MetricsByHost = seen.get(applicationId) ?? new Map();
      const before = ofApplication.get(host);
      if (before?.has(metric) === true) return;
      const metrics = new Set([...(before ?? []), metric]);
      const key = JSON.stringify([...metrics].toSorted());
      const set = shared.get(key) ?? metrics;
      shared.set(key, set);
      seen.set(applicationId, ofApplication.set(host, set));
    },
    keepOnly: (applicationIds) => {
      for (const id of seen.keys()) if (!applicationIds.has(id)) seen.delete(id);
      const used = new Set([...seen.values()].flatMap((byHost) => [...byHost.values()]));
      for (const [key, set] of shared) if (!used.has(set)) shared.delete(key);
    },
    keepHosts: (applicationId, hosts) => {
      const ofApplication = seen.get(applicationId);
      for (const host of ofApplication?.keys() ?? []) {
        if (host !== undefined && !hosts.has(host)) ofApplication?.delete(host);
      }
    },
  };
}
