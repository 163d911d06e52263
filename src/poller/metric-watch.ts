import type { Clock } from '../model/clock.ts';
import type { AppEntry } from '../model/config.ts';
import type { MissingMetric } from '../model/missing-metric.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';
import { EntryWatch } from './entry-watch.ts';
import { createWatchedMetrics, type WatchedMetric } from './watched-metrics.ts';

export interface MetricWatchDependencies {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly states: { readonly all: ReadonlyMap<string, AppState> };
  readonly log: {
    /** Called with metrics that turn out to be missing, or that have a value after all. */
    metrics(metrics: readonly MissingMetric[], isMissing: boolean): void;
  };
}

/**
 * Finds the metrics of which no application of an entry ever had a value: a misspelt name must not look like
 * an idle application. A metric counts as missing once two polls should have brought a value, and every
 * application of the entry that does not fail has been polled completely twice.
 */
export interface MetricWatch {
  /** All missing metrics; the same array as long as nothing in it changes. */
  readonly missing: readonly MissingMetric[];
  polled(after: AppState, reading: AppReading | undefined): void;
  /** Must be called after applications or their entries have changed. */
  followStates(): void;
}

/** All applications are looked through to find out whether one may still bring a value. */
const judgeEveryMs = 30_000;

/** What is found at once: some milliseconds. The rest is found the next time. */
const mostAtOnce = 5000;

export function createMetricWatch(dependencies: MetricWatchDependencies): MetricWatch {
  return new Watch(dependencies);
}

class Watch implements MetricWatch {
  readonly #dependencies: MetricWatchDependencies;
  /** Entries that watch nothing are not in it. */
  readonly #entries = new Map<string, EntryWatch>();
  /** Most entries watch nothing, because they ask for nothing but throughput. */
  readonly #known = new WeakMap<AppEntry, { readonly watch: EntryWatch | undefined }>();
  readonly #metricsOf = createWatchedMetrics();
  #missing: readonly MissingMetric[] | undefined = [];
  #judgedMs = Number.NEGATIVE_INFINITY;

  constructor(dependencies: MetricWatchDependencies) {
    this.#dependencies = dependencies;
  }

  get missing(): readonly MissingMetric[] {
    this.#missing ??= Array.from(this.#entries.values(), ({ missing }) => [...missing]).flat();
    return this.#missing;
  }

  polled(after: AppState, reading: AppReading | undefined): void {
    const { selected, pollSucceeded, gone } = after;
    const entry = this.#watchOf(selected.entry);
    if (entry === undefined || reading === undefined || gone || !isWorthPolling(selected)) return;
    const arrived = entry.polled(selected, reading, pollSucceeded === true);
    if (arrived.length > 0) this.#tell(arrived, false);
    if (entry.hasSuspects) this.#judge();
  }

  followStates(): void {
    const { states } = this.#dependencies;
    const kept = new Set<EntryWatch>();
    // What nobody watches yet, its first poll will create.
    if (this.#entries.size === 0) return;
    for (const { selected } of states.all.values()) {
      const isKnown = this.#entries.has(selectorText(selected.entry.selector));
      const entry = isKnown ? this.#watchOf(selected.entry) : undefined;
      if (entry !== undefined) kept.add(entry);
    }
    for (const [selector, entry] of this.#entries) {
      if (kept.has(entry)) {
        entry.keepOnly(states.all);
      } else {
        this.#entries.delete(selector);
        this.#known.delete(entry.entry);
        this.#missing = undefined;
      }
    }
  }

  #watchOf(entry: AppEntry): EntryWatch | undefined {
    const known = this.#known.get(entry);
    if (known !== undefined) return known.watch;
    const metrics = this.#metricsOf(entry);
    const watch = metrics.length === 0 ? undefined : this.#created(entry, metrics);
    this.#known.set(entry, { watch });
    return watch;
  }

  #created(entry: AppEntry, metrics: readonly WatchedMetric[]): EntryWatch {
    const selector = selectorText(entry.selector);
    const watch = new EntryWatch(entry, metrics, this.#entries.get(selector));
    this.#entries.set(selector, watch);
    this.#missing = undefined;
    return watch;
  }

  #judge(): void {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (nowMs - this.#judgedMs < judgeEveryMs) return;
    this.#judgedMs = nowMs;
    const waiting = new Set<EntryWatch>();
    for (const [id, state] of this.#dependencies.states.all) {
      const entry = this.#watchOf(state.selected.entry);
      if (entry !== undefined && mayBring(state) && entry.isAwaited(id)) waiting.add(entry);
    }
    const found: MissingMetric[] = [];
    for (const entry of this.#entries.values()) {
      if (!waiting.has(entry)) found.push(...entry.judge());
      if (found.length >= mostAtOnce) break;
    }
    if (found.length > 0) this.#tell(found, true);
  }

  #tell(metrics: readonly MissingMetric[], isMissing: boolean): void {
    this.#missing = undefined;
    this.#dependencies.log.metrics(metrics, isMissing);
  }
}

/** Whether its next poll may bring something: one that fails must not hold back the others. */
function mayBring({ gone, pollSucceeded, selected }: AppState): boolean {
  return !gone && pollSucceeded !== false && isWorthPolling(selected);
}
