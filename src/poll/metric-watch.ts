import { isDeepStrictEqual } from 'node:util';
import type { AppEntry } from '../model/config.ts';
import { isReadOf, valuesByTransaction } from '../model/polled-series.ts';
import type { PresetName } from '../model/presets.ts';
import { isWorthPolling, type SelectedApplication } from '../model/selected-application.ts';
import { selectorText } from '../model/selector.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { MissingMetric } from '../model/telemetry.ts';
import type { AppState } from './app-state.ts';

/** A gauge that must have a value at some time. That of a preset is one, whatever its transaction types. */
export interface WatchedGauge {
  readonly named: MissingMetric;
  /** Where its values are in a reading. */
  readonly indexes: readonly number[];
  readonly ofHostsAlone: boolean;
}

/** What is known about the gauges of one entry. */
interface EntryWatch {
  /** The same after a reload that leaves it as it is. */
  readonly key: string;
  /** What no application has had a value of so far, and whether a busy one lacked it. */
  readonly open: Map<WatchedGauge, boolean>;
  readonly polled: Set<string>;
}

/**
 * Finds the metrics of which no application of an entry ever had a value: a misspelt name must not look
 * like an idle application. An entry is judged at a discovery, once each of its applications that does
 * not fail has had a whole poll, if one of them had requests then. An entry that asks for something else
 * begins anew.
 */
export class MetricWatch {
  #watches: ReadonlyMap<AppEntry, EntryWatch> = new Map();
  #missing = new Set<MissingMetric>();

  /** All missing metrics. */
  get missing(): readonly MissingMetric[] {
    return [...this.#missing];
  }

  polled({ selected, pollSucceeded, gone }: AppState, reading: AppReading | undefined): void {
    const { entry, application } = selected;
    const watch = this.#watches.get(entry);
    if (watch === undefined || watch.open.size === 0 || reading === undefined || gone) return;
    // A poll from before a reload asked for something else, that of a silent application for nothing.
    if (!isDeepStrictEqual(reading.series, entry.series)) return;
    for (const gauge of [...watch.open.keys()].filter((one) => hasValueOf(one, reading))) {
      watch.open.delete(gauge);
      this.#missing.delete(gauge.named);
    }
    if (pollSucceeded !== true) return;
    watch.polled.add(application.id);
    if (!hasCalls(selected, reading)) return;
    for (const gauge of watch.open.keys()) {
      if (!gauge.ofHostsAlone || reading.hosts.size > 0) watch.open.set(gauge, true);
    }
  }

  /** Must be called after each discovery, and after entries have changed. */
  judge(states: ReadonlyMap<string, AppState>): void {
    const known = new Map(Array.from(this.#watches.values(), (watch) => [watch.key, watch]));
    const watches = new Map<AppEntry, EntryWatch>();
    const awaited = new Set<EntryWatch>();
    for (const [id, state] of states) {
      const { entry } = state.selected;
      const watch = watches.get(entry) ?? this.#watches.get(entry) ?? watchOf(entry, known);
      watches.set(entry, watch);
      // One that fails must not hold back the others.
      const mayBring =
        !state.gone && state.pollSucceeded !== false && isWorthPolling(state.selected);
      if (mayBring && !watch.polled.has(id)) awaited.add(watch);
    }
    this.#watches = watches;
    const missing = [...watches.values()].flatMap((watch) => {
      for (const id of watch.polled) if (!states.has(id)) watch.polled.delete(id);
      const lacked = [...watch.open].flatMap(([{ named }, isLacked]) => (isLacked ? named : []));
      return awaited.has(watch) ? lacked.filter((one) => this.#missing.has(one)) : lacked;
    });
    this.#missing = new Set(missing);
  }
}

function watchOf(entry: AppEntry, known: ReadonlyMap<string, EntryWatch>): EntryWatch {
  const gauges = watchedGauges(entry);
  const key = JSON.stringify([entry.hosts !== false, gauges]);
  const open = new Map(gauges.map((gauge) => [gauge, false]));
  return known.get(key) ?? { key, open, polled: new Set() };
}

/** Their names are right by construction, and an application without requests or errors is no mistake. */
const unwatched: ReadonlySet<PresetName | undefined> = new Set(['throughput', 'errors']);

/** What an entry asks for that must have a value at some time. */
export function watchedGauges(entry: AppEntry): readonly WatchedGauge[] {
  const selector = selectorText(entry.selector);
  const watched = new Map<string, WatchedGauge>();
  for (const [index, series] of entry.series.entries()) {
    const { gauge, metric, value, preset, scope } = series;
    const ofApplication = entry.application && isReadOf('applications', series);
    const isRead = ofApplication || (entry.hosts !== false && isReadOf('hosts', series));
    if (unwatched.has(preset) || !isRead) continue;
    const name = scope === 'hosts' ? gauge.hostName : gauge.name;
    // Of a preset, one transaction type with values is enough.
    const key = preset === undefined ? String(index) : name;
    const known = watched.get(key);
    const metrics = known === undefined ? metric : `${known.named.metric}, ${metric}`;
    watched.set(key, {
      named: { selector, name, metric: metrics, value },
      indexes: [...(known?.indexes ?? []), index],
      ofHostsAlone: !ofApplication,
    });
  }
  return [...watched.values()];
}

/** Whether the application or one of its hosts has one; 0 is a value. */
export function hasValueOf({ indexes }: WatchedGauge, { application, hosts }: AppReading): boolean {
  return [application, ...hosts.values()].some((values) =>
    indexes.some((index) => values[index] !== undefined),
  );
}

/** Whether the poll shows requests; or the list of applications, if the entry does not ask for throughput. */
function hasCalls({ application }: SelectedApplication, reading: AppReading): boolean {
  const { series } = reading;
  if (!series.some(({ preset }) => preset === 'throughput')) {
    return (application.summary?.requestsPerMinute ?? 0) > 0;
  }
  return [reading.application, ...reading.hosts.values()].some((values) =>
    [...valuesByTransaction('throughput', series, values).values()].some((value) => value > 0),
  );
}
