import type { Clock } from '../model/clock.ts';
import type { AppEntry } from '../model/config.ts';
import type { MissingMetric } from '../model/missing-metric.ts';
import { isWorthPolling } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';
import { EntryWatch } from './entry-watch.ts';
import { watchedMetrics } from './watched-metrics.ts';

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

export function createMetricWatch(dependencies: MetricWatchDependencies): MetricWatch {
  return new Watch(dependencies);
}

class Watch implements MetricWatch {
  readonly #dependencies: MetricWatchDependencies;
  /** Entries that watch nothing are not in it. */
  readonly #entries = new Map<string, EntryWatch>();
  /** Whether an entry watches anything: most ask for nothing but throughput. */
  readonly #isWatching = new WeakMap<AppEntry, boolean>();
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
    for (const { selected } of states.all.values()) {
      const entry = this.#watchOf(selected.entry);
      if (entry !== undefined) kept.add(entry);
    }
    for (const [selector, entry] of this.#entries) {
      if (kept.has(entry)) {
        entry.keepOnly(states.all);
      } else {
        this.#entries.delete(selector);
        this.#missing = undefined;
      }
    }
  }

  #watchOf(entry: AppEntry): EntryWatch | undefined {
    const isWatching = this.#isWatching.get(entry) ?? watchedMetrics(entry).length > 0;
    this.#isWatching.set(entry, isWatching);
    if (!isWatching) return undefined;
    const selector = selectorText(entry.selector);
    const known = this.#entries.get(selector);
    if (known?.entry === entry) return known;
    const watch = new EntryWatch(entry, known);
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
    const found = Array.from(this.#entries.values(), (entry) =>
      waiting.has(entry) ? [] : entry.judge(),
    ).flat();
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
