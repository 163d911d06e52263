import type { ApiError } from '../../model/api-error.ts';
import { applicationScope, hostsScope, type PollOutcome } from '../../model/poll-outcome.ts';
import { isReadOf, type Values } from '../../model/polled-series.ts';
import {
  asksForApplication,
  choosesHost,
  hostSelectorOf,
  type SelectedApplication,
} from '../../model/selected-application.ts';
import type { ApplicationQuestion } from '../../model/source.ts';
import type { TimeWindow } from '../../model/window.ts';
import { type InvalidSampleListener, loggedSampleOf } from '../answer.ts';
import { type ColumnSubject, type ColumnValue, valueKeyOf } from './column-sets.ts';
import type { FacetRow, NrqlAnswer } from './nrql-answer.ts';
import { asksForHosts, type PlannedQuery } from './query-plan.ts';

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

/** A row about an application or a host, and the values that it has. */
interface ReadRow {
  readonly row: FacetRow;
  readonly values: readonly ColumnValue[];
}

export interface AnswersContext {
  readonly seen: Pick<SeenMetrics, 'has' | 'saw' | 'keepHosts'>;
  readonly onInvalid: InvalidSampleListener;
}

/** What the queries of one poll have brought. */
export class Answers {
  readonly #context: AnswersContext;
  /** The queries about each application that have not been answered. */
  readonly #open = new Map<string, readonly PlannedQuery[]>();
  readonly #rows = new Map<string, ReadRow[]>();
  readonly #errors = new Map<string, ApiError>();
  #window: TimeWindow | undefined;

  constructor(queries: readonly PlannedQuery[], context: AnswersContext) {
    this.#context = context;
    for (const query of queries) {
      for (const id of query.applicationIds) this.#open.set(id, [...this.#openOf(id), query]);
    }
  }

  /** Whether all answers so far are about this window. */
  isAbout(window: TimeWindow): boolean {
    this.#window ??= window;
    return this.#window.fromMs === window.fromMs && this.#window.toMs === window.toMs;
  }

  answered(query: PlannedQuery, { rows }: NrqlAnswer): void {
    for (const id of query.applicationIds) {
      const others = this.#openOf(id).filter((one) => one !== query);
      this.#open.set(id, others);
    }
    const { values } = query;
    for (const row of rows) {
      const known = this.#rows.get(row.applicationId) ?? [];
      known.push({ row, values });
      this.#rows.set(row.applicationId, known);
    }
  }

  /** A query about these applications failed. A refused key comes before other reasons. */
  failed(ids: readonly string[], error: ApiError): void {
    for (const id of ids) {
      if (error.status === 401 || !this.#errors.has(id)) this.#errors.set(id, error);
    }
  }

  /** Whether the application answers, but none of its hosts has sent a heartbeat. */
  isWithoutHeartbeat(id: string): boolean {
    const own = this.#rowsByHost(id).get(undefined) ?? [];
    return own.some(({ row }) => row.calls > 0) && !own.some(({ row }) => row.isLive);
  }

  /**
   * The outcome for one application. Everything that was asked for and did not arrive has failed. Its
   * hosts are those that the answers name: they are in the order of their names, so that two polls
   * render alike.
   *
   * @param late why what did not arrive is not waited for
   */
  outcome({ selected }: ApplicationQuestion, late: ApiError): PollOutcome {
    const { id } = selected.application;
    const byHost = this.#rowsByHost(id);
    const { names, hosts, failed } = this.#hostsOf(selected, byHost);
    const isOwnAsked = asksForApplication(selected);
    const hasOwn = isOwnAsked && this.#isWhole(id, 'applications');
    if (isOwnAsked && !hasOwn) failed.add(applicationScope);
    const error = failed.size > 0 ? (this.#errors.get(id) ?? late) : undefined;
    const own = hasOwn ? (byHost.get(undefined) ?? []) : undefined;
    return {
      reading: this.#readingOf(selected, own, hosts),
      error,
      failed,
      partCount: (hasOwn ? 1 : 0) + hosts.size + failed.size,
      gone: false,
      unauthorized: error?.status === 401,
      hostIds: this.#hostListOf(selected, names),
      // The name of a host is its id.
      hosts: new Map(names.map((name) => [name, name])),
    };
  }

  #rowsByHost(id: string): ReadonlyMap<string | undefined, readonly ReadRow[]> {
    const byHost = new Map<string | undefined, ReadRow[]>();
    for (const one of this.#rows.get(id) ?? []) {
      byHost.set(one.row.host, [...(byHost.get(one.row.host) ?? []), one]);
    }
    return byHost;
  }

  #readingOf(
    selected: SelectedApplication,
    own: readonly ReadRow[] | undefined,
    hosts: ReadonlyMap<string, Values>,
  ): PollOutcome['reading'] {
    if (own === undefined && hosts.size === 0) return undefined;
    const { series } = selected.entry;
    const application = own ? this.#readerOf('applications', selected)(own, undefined) : [];
    return { windowEndMs: this.#window?.toMs, series, application, hosts };
  }

  #openOf(id: string): readonly PlannedQuery[] {
    return this.#open.get(id) ?? [];
  }

  /** Whether all queries were answered that could be about this host, or about the application itself. */
  #isWhole(id: string, about: ColumnSubject, host?: string): boolean {
    return !this.#openOf(id).some(
      ({ subject, asksFor }) => subject === about && (host === undefined || asksFor(host)),
    );
  }

  /** The hosts that the answers name, and those that an answer that did not come may have named. */
  #hostsOf(
    selected: SelectedApplication,
    byHost: ReadonlyMap<string | undefined, readonly ReadRow[]>,
  ) {
    const { id, hostIds = [] } = selected.application;
    const hosts = new Map<string, Values>();
    const failed = new Set<string>();
    const named = [...byHost.keys()].filter((name) => name !== undefined);
    const lost = hostIds.filter((name) => !this.#isWhole(id, 'hosts', name));
    const names = [...new Set([...named, ...lost])].toSorted();
    const selector = hostSelectorOf(selected);
    const valuesOf = this.#readerOf('hosts', selected);
    for (const name of names) {
      if (selector !== undefined && !choosesHost(selector, name)) continue;
      if (this.#isWhole(id, 'hosts', name)) hosts.set(name, valuesOf(byHost.get(name) ?? [], name));
      else failed.add(name);
    }
    const isAllWhole = this.#isWhole(id, 'hosts');
    if (!isAllWhole && failed.size === 0) failed.add(hostsScope);
    if (isAllWhole) this.#context.seen.keepHosts(id, new Set(names));
    return { names, hosts, failed };
  }

  /** All hosts of the application, as far as they are known now. */
  #hostListOf(
    selected: SelectedApplication,
    names: readonly string[],
  ): readonly string[] | undefined {
    const { id, hostIds } = selected.application;
    // Hosts that are not known yet are not none because nothing was answered.
    const isListKnown = names.length > 0 || this.#isWhole(id, 'hosts');
    if (!asksForHosts(selected) || !isListKnown) return hostIds;
    if (hostSelectorOf(selected)?.kind !== 'self') return sameAs(hostIds, names);
    // The host of this process does not tell which others there are.
    return hostIds && sameAs(hostIds, [...new Set([...hostIds, ...names])]);
  }

  /**
   * Returns a function for the values of the series. An amount of nothing is 0 if the subject was there and has had
   * the metric before; else there is no value.
   */
  #readerOf(
    subject: ColumnSubject,
    { application: { id }, entry }: SelectedApplication,
  ): (rows: readonly ReadRow[], host: string | undefined) => Values {
    const { seen, onInvalid } = this.#context;
    const { fromMs, toMs } = this.#window ?? { fromMs: 0, toMs: 0 };
    const read = entry.series.map((one) => ({
      scale: one.scale,
      key: isReadOf(subject, one) ? valueKeyOf(one) : '',
    }));
    return (rows, host) => {
      const isLive = rows.some(({ row }) => row.isLive);
      const told = rows.flatMap(({ row, values }) =>
        values.flatMap((one) => {
          const value = one.valueOf(row.cells, (toMs - fromMs) / 1000, onInvalid);
          return value === undefined ? [] : [{ one, value }];
        }),
      );
      // All of them first: the metric may have calls, and 0 in a value that comes before.
      for (const { one, value } of told) {
        if (one.isAmount && value !== 0) seen.saw(id, host, one.metric);
      }
      const found = new Map<string, number>();
      for (const { one, value } of told) {
        const { key, metric, isAmount } = one;
        if (value !== 0 || !isAmount || (isLive && seen.has(id, host, metric))) {
          found.set(key, value);
        }
      }
      return read.map(({ scale, key }) => {
        const value = found.get(key);
        // Nothing stays nothing, whatever its scale.
        if (value === undefined || value === 0) return value;
        return loggedSampleOf(value * scale, onInvalid, { mayBeNegative: true });
      });
    };
  }
}

/** The known list if it is the same: comparing identities shows what has changed. */
function sameAs(known: readonly string[] | undefined, names: readonly string[]): readonly string[] {
  const isSame = known?.length === names.length && names.every((name, at) => known[at] === name);
  return isSame ? known : names;
}
