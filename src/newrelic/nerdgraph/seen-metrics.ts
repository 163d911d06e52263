type MetricsByHost = Map<string | undefined, ReadonlySet<string>>;

/**
 * Remembers which metrics an application and its hosts have had calls of, since this process began. A
 * metric without calls in a window is not in an answer: if the subject is there and has had it before,
 * that means 0, otherwise there is no value.
 */
export class SeenMetrics {
  readonly #seen = new Map<string, MetricsByHost>();
  /** A set for each host of its own would be megabytes for thousands of them. */
  readonly #shared = new Map<string, ReadonlySet<string>>();

  /** @param host its name; `undefined` for the application as a whole */
  has(applicationId: string, host: string | undefined, metric: string): boolean {
    return this.#seen.get(applicationId)?.get(host)?.has(metric) === true;
  }

  saw(applicationId: string, host: string | undefined, metric: string): void {
    const ofApplication: MetricsByHost = this.#seen.get(applicationId) ?? new Map();
    const before = ofApplication.get(host);
    if (before?.has(metric) === true) return;
    const metrics = new Set([...(before ?? []), metric]);
    const key = JSON.stringify([...metrics].toSorted());
    const set = this.#shared.get(key) ?? metrics;
    this.#shared.set(key, set);
    this.#seen.set(applicationId, ofApplication.set(host, set));
  }

  /** Forgets all other applications. */
  keepOnly(applicationIds: ReadonlySet<string>): void {
    for (const id of this.#seen.keys()) if (!applicationIds.has(id)) this.#seen.delete(id);
    const used = new Set([...this.#seen.values()].flatMap((byHost) => [...byHost.values()]));
    for (const [key, set] of this.#shared) if (!used.has(set)) this.#shared.delete(key);
  }

  /** Forgets all other hosts of the application. */
  keepHosts(applicationId: string, hosts: ReadonlySet<string>): void {
    const ofApplication = this.#seen.get(applicationId);
    for (const host of ofApplication?.keys() ?? []) {
      if (host !== undefined && !hosts.has(host)) ofApplication?.delete(host);
    }
  }
}
