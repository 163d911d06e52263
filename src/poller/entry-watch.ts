import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import type { MissingMetric } from '../model/missing-metric.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import { hasValueOf, isChanceFor, type WatchedMetric, watchedMetrics } from './watched-metrics.ts';

/** So many complete polls of each application, and so many that should have brought a value. */
const enoughPolls = 2;

/** Which metrics of one entry have had a value. Once all have, nothing more is remembered. */
export class EntryWatch {
  readonly entry: AppEntry;
  readonly #selector: string;
  /** Metrics without a value so far, with how many polls should have brought one. */
  readonly #open: Map<WatchedMetric, number>;
  readonly #missing: Map<string, MissingMetric>;
  /** Complete polls by the id of the application, as far as they count. */
  #polls: Map<string, number>;

  /** @param before what was known of the entry before a reload */
  constructor(entry: AppEntry, before?: EntryWatch) {
    const metrics = watchedMetrics(entry);
    const keys = new Set(metrics.map(({ key }) => key));
    const seen = before === undefined ? new Set<string>() : before.#seen();
    const missing = before === undefined ? [] : [...before.#missing];
    this.entry = entry;
    this.#selector = selectorText(entry.selector);
    this.#open = new Map(metrics.filter(({ key }) => !seen.has(key)).map((one) => [one, 0]));
    this.#missing = new Map(missing.filter(([key]) => keys.has(key)));
    const isSame = before !== undefined && isSameQuestion(before.entry, entry);
    this.#polls = isSame ? before.#polls : new Map();
  }

  get missing(): Iterable<MissingMetric> {
    return this.#missing.values();
  }

  /** Whether enough polls should have brought a value of a metric that is not called missing so far. */
  get hasSuspects(): boolean {
    for (const [{ key }, chances] of this.#open) {
      if (chances >= enoughPolls && !this.#missing.has(key)) return true;
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
    if (this.#open.size === 0 || !isDeepStrictEqual(reading.series, this.entry.series)) return [];
    const arrived = this.#arrived(reading);
    if (isComplete) this.#count(selected, reading);
    if (this.#open.size === 0) this.#polls = new Map();
    return arrived.flatMap(({ key }) => {
      const missing = this.#missing.get(key);
      this.#missing.delete(key);
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
    const polls = this.#polls.get(id) ?? 0;
    if (polls < enoughPolls) this.#polls.set(id, polls + 1);
  }

  /** Whether the application may still bring a value that no other one has. */
  isAwaited(applicationId: string): boolean {
    return (this.#polls.get(applicationId) ?? 0) < enoughPolls;
  }

  /** Calls missing what had enough polls, and returns it. */
  judge(): readonly MissingMetric[] {
    return [...this.#open].flatMap(([{ key, name, metrics, value }, chances]) => {
      if (chances < enoughPolls || this.#missing.has(key)) return [];
      const missing = { selector: this.#selector, name, metric: metrics.join(', '), value };
      this.#missing.set(key, missing);
      return [missing];
    });
  }

  #seen(): ReadonlySet<string> {
    const open = new Set(Array.from(this.#open.keys(), ({ key }) => key));
    const keys = watchedMetrics(this.entry).map(({ key }) => key);
    return new Set(keys.filter((key) => !open.has(key)));
  }

  /** Forgets applications that are no longer there. */
  keepOnly(known: { has(id: string): boolean }): void {
    for (const id of this.#polls.keys()) if (!known.has(id)) this.#polls.delete(id);
  }
}

function isSameQuestion(left: AppEntry, right: AppEntry): boolean {
  return (
    left.application === right.application &&
    (left.hosts === false) === (right.hosts === false) &&
    isDeepStrictEqual(left.series, right.series)
  );
}
