import type { AppEntry } from '../model/config.ts';
import type { MissingMetric } from '../model/missing-metric.ts';
import { areSameSeries } from '../model/polled-series.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import { hasValueOf, isChanceFor, type WatchedMetric } from './watched-metrics.ts';

/** So many complete polls of each application, and so many that should have brought a value. */
const enoughPolls = 2;

/** Which metrics of one entry have had a value. Once all have, nothing more is remembered. */
export class EntryWatch {
  readonly entry: AppEntry;
  readonly #selector: string;
  /** Metrics without a value so far, with how many polls should have brought one. */
  readonly #open: Map<WatchedMetric, number>;
  /** Those of them that are called missing; most entries never need it. */
  #missing: Map<string, MissingMetric> | undefined;
  /** Complete polls by the id of the application, as far as they count. */
  #polls: Map<string, number> | undefined;

  readonly #metrics: readonly WatchedMetric[];

  /** @param before what was known of the entry before a reload */
  constructor(entry: AppEntry, metrics: readonly WatchedMetric[], before: EntryWatch | undefined) {
    this.entry = entry;
    this.#selector = selectorText(entry.selector);
    this.#metrics = metrics;
    this.#open = new Map(metrics.map((metric) => [metric, 0]));
    // Polls of another question prove nothing.
    this.#polls = before !== undefined && before.#asksFor(metrics) ? before.#polls : undefined;
    if (before !== undefined) this.#take(before);
  }

  #asksFor(metrics: readonly WatchedMetric[]): boolean {
    return (
      metrics.length === this.#metrics.length &&
      metrics.every(({ key }, index) => key === this.#metrics[index]?.key)
    );
  }

  #take(before: EntryWatch): void {
    const open = new Set(Array.from(before.#open.keys(), ({ key }) => key));
    const asked = new Set(before.#metrics.map(({ key }) => key));
    for (const metric of this.#metrics) {
      const { key } = metric;
      if (asked.has(key) && !open.has(key)) this.#open.delete(metric);
      const missing = before.#missing?.get(key);
      if (missing !== undefined) this.#call(key, missing);
    }
  }

  get missing(): Iterable<MissingMetric> {
    return this.#missing?.values() ?? [];
  }

  /** Whether enough polls should have brought a value of a metric that is not called missing so far. */
  get hasSuspects(): boolean {
    for (const [{ key }, chances] of this.#open) {
      if (chances >= enoughPolls && !(this.#missing?.has(key) ?? false)) return true;
    }
    return false;
  }

  /**
   * Returns what was missing and has a value now.
   *
   * @param isComplete whether the poll got everything that it asked for
   */
  polled(
    selected: SelectedApplication,
    reading: AppReading,
    isComplete: boolean,
  ): readonly MissingMetric[] {
    // A poll that began before a reload may have asked for something else.
    if (this.#open.size === 0 || !areSameSeries(reading.series, this.entry.series)) return [];
    const arrived = this.#arrived(reading);
    if (isComplete) this.#count(selected, reading);
    if (this.#open.size === 0) this.#polls = undefined;
    return arrived.flatMap(({ key }) => {
      const missing = this.#missing?.get(key);
      this.#missing?.delete(key);
      return missing ?? [];
    });
  }

  #arrived(reading: AppReading): readonly WatchedMetric[] {
    const arrived = [...this.#open.keys()].filter((metric) => hasValueOf(metric, reading));
    for (const metric of arrived) this.#open.delete(metric);
    return arrived;
  }

  #count(selected: SelectedApplication, reading: AppReading): void {
    const isChance = isChanceFor(reading, selected);
    for (const [metric, chances] of this.#open) {
      if (chances < enoughPolls && isChance(metric)) this.#open.set(metric, chances + 1);
    }
    const { id } = selected.application;
    this.#polls ??= new Map();
    const polls = this.#polls.get(id) ?? 0;
    if (polls < enoughPolls) this.#polls.set(id, polls + 1);
  }

  /** Whether the application may still bring a value that no other one has. */
  isAwaited(applicationId: string): boolean {
    return (this.#polls?.get(applicationId) ?? 0) < enoughPolls;
  }

  /** Calls missing what had enough polls, and returns it. */
  judge(): readonly MissingMetric[] {
    return [...this.#open].flatMap(([{ key, name, metrics, value }, chances]) => {
      if (chances < enoughPolls || this.#missing?.has(key) === true) return [];
      const missing = { selector: this.#selector, name, metric: metrics.join(', '), value };
      this.#call(key, missing);
      return [missing];
    });
  }

  #call(key: string, missing: MissingMetric): void {
    this.#missing ??= new Map();
    this.#missing.set(key, missing);
  }

  /** Forgets applications that are no longer there. */
  keepOnly(known: { has(id: string): boolean }): void {
    for (const id of this.#polls?.keys() ?? []) if (!known.has(id)) this.#polls?.delete(id);
  }
}
