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
import { type InvalidSampleListener, sampleOf } from '../json.ts';
import { type ColumnSet, type ColumnValue, type Subject, valueKeyOf } from './column-sets.ts';
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

/** What arrived about an application or a host. */
interface Received {
  /** By their index in the column sets. */
  readonly values: (number | undefined)[];
  hasCalls: boolean;
  /** Whether it was there at all. */
  isLive: boolean;
}

/** What was asked about an application, and what became of it. */
interface ApplicationAnswers {
  readonly queries: PlannedQuery[];
  readonly own: Received;
  readonly hosts: Map<string, Received>;
  error: ApiError | undefined;
}

export interface AnswersContext {
  readonly seen: SeenMetrics;
  readonly onInvalid: InvalidSampleListener;
}

/** What the queries of one poll have brought. */
export class Answers {
  readonly #values: ReadonlyMap<string, ColumnValue>;
  readonly #context: AnswersContext;
  readonly #byApplication = new Map<string, ApplicationAnswers>();
  readonly #answered = new Set<PlannedQuery>();
  #window: TimeWindow | undefined;

  constructor(queries: readonly PlannedQuery[], context: AnswersContext) {
    this.#context = context;
    this.#values = new Map(
      queries.flatMap(({ subject, columns }) =>
        columns.values.map((value) => [`${subject} ${valueKeyOf(value)}`, value]),
      ),
    );
    for (const query of queries) {
      for (const id of query.applicationIds) this.#answersFor(id).queries.push(query);
    }
  }

  /** Whether all answers so far are about this window. */
  isAbout(window: TimeWindow): boolean {
    this.#window ??= window;
    return this.#window.fromMs === window.fromMs && this.#window.toMs === window.toMs;
  }

  answered(query: PlannedQuery, { rows, window }: NrqlAnswer): void {
    const seconds = (window.toMs - window.fromMs) / 1000;
    this.#answered.add(query);
    for (const row of rows) this.#add(row, query.columns, seconds);
  }

  /** A query about these applications failed. A refused key comes before other reasons. */
  failed(ids: readonly string[], error: ApiError): void {
    for (const id of ids) {
      const answers = this.#answersFor(id);
      if (error.status === 401 || answers.error === undefined) answers.error = error;
    }
  }

  /** Whether the application answers, but none of its hosts has sent a heartbeat. */
  isWithoutHeartbeat(id: string): boolean {
    const { own } = this.#answersFor(id);
    return own.hasCalls && !own.isLive;
  }

  /**
   * The outcome for one application. Everything that was asked for and did not arrive has failed. Its
   * hosts are those that the answers name: they are in the order of their names, so that two polls
   * render alike.
   *
   * @param late why what did not arrive is not waited for
   */
  outcome(
    { selected, askHostNames }: Pick<ApplicationQuestion, 'selected' | 'askHostNames'>,
    late: ApiError,
  ): PollOutcome {
    const { id, hostIds: known } = selected.application;
    const { own, error } = this.#answersFor(id);
    const { names, hosts, failed } = this.#hostsOf(selected);
    const hostIds = this.#hostListOf(selected, names);
    const isOwnAsked = asksForApplication(selected);
    const hasOwn = isOwnAsked && this.#isWhole(id, 'applications');
    if (isOwnAsked && !hasOwn) failed.add(applicationScope);
    const failure = failed.size > 0 ? (error ?? late) : undefined;
    const { series } = selected.entry;
    const application = hasOwn ? this.#readerOf('applications', selected)(own, undefined) : [];
    const hasArrived = hasOwn || hosts.size > 0;
    return {
      reading: hasArrived
        ? { windowEndMs: this.#window?.toMs, series, application, hosts }
        : undefined,
      error: failure,
      failed,
      partCount: (hasOwn ? 1 : 0) + hosts.size + failed.size,
      gone: false,
      unauthorized: failure?.status === 401,
      hostIds,
      // The name of a host is its id.
      hostNames:
        askHostNames || hostIds !== known ? new Map(names.map((name) => [name, name])) : undefined,
      hostNamesError: undefined,
      extraCalls: 0,
    };
  }

  #answersFor(id: string): ApplicationAnswers {
    const known = this.#byApplication.get(id);
    if (known !== undefined) return known;
    const answers: ApplicationAnswers = {
      queries: [],
      own: nothing(),
      hosts: new Map(),
      error: undefined,
    };
    this.#byApplication.set(id, answers);
    return answers;
  }

  /** Whether all queries were answered that could be about this host, or about the application itself. */
  #isWhole(id: string, subject: Subject, host?: string): boolean {
    return this.#answersFor(id).queries.every(
      (query) =>
        this.#answered.has(query) ||
        query.subject !== subject ||
        (host !== undefined && !query.hosts.has(host)),
    );
  }

  /** The hosts that the answers name, and those that an answer that did not come may have named. */
  #hostsOf(selected: SelectedApplication) {
    const { id, hostIds = [] } = selected.application;
    const hosts = new Map<string, Values>();
    const failed = new Set<string>();
    const isAllWhole = this.#isWhole(id, 'hosts');
    const received = this.#answersFor(id).hosts;
    const lost = hostIds.filter((name) => !this.#isWhole(id, 'hosts', name));
    const names = [...new Set([...received.keys(), ...lost])].toSorted();
    const selector = hostSelectorOf(selected);
    const valuesOf = this.#readerOf('hosts', selected);
    for (const name of names) {
      if (selector !== undefined && !choosesHost(selector, name)) continue;
      const values = received.get(name);
      const isWhole = values !== undefined && this.#isWhole(id, 'hosts', name);
      if (isWhole) hosts.set(name, valuesOf(values, name));
      else failed.add(name);
    }
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

  #add(row: FacetRow, { values }: ColumnSet, seconds: number): void {
    const { seen, onInvalid } = this.#context;
    const { applicationId, host } = row;
    const answers = this.#answersFor(applicationId);
    const received = host === undefined ? answers.own : (answers.hosts.get(host) ?? nothing());
    if (host !== undefined) answers.hosts.set(host, received);
    if (row.calls > 0) received.hasCalls = true;
    if (row.isLive) received.isLive = true;
    for (const value of values) {
      const found = value.valueOf(row.cells, seconds, onInvalid);
      received.values[value.index] = found;
      if (value.isAmount && found !== undefined && found !== 0) {
        seen.saw(applicationId, host, value.metric);
      }
    }
  }

  /**
   * Returns a function for the values of the series. An amount of nothing is 0 if the subject was there and has had
   * the metric before; else there is no value.
   */
  #readerOf(
    subject: Subject,
    { application, entry }: SelectedApplication,
  ): (received: Received, host: string | undefined) => Values {
    const { seen, onInvalid } = this.#context;
    const read = entry.series.map((one) => ({
      scale: one.scale,
      value: isReadOf(subject, one) ? this.#values.get(`${subject} ${valueKeyOf(one)}`) : undefined,
    }));
    return ({ values, isLive }, host) =>
      read.map(({ scale, value }) => {
        const found = value && values[value.index];
        if (value === undefined || found === undefined) return undefined;
        if (found !== 0 || !value.isAmount) {
          return sampleOf(found * scale, onInvalid, { mayBeNegative: true });
        }
        return isLive && seen.has(application.id, host, value.metric) ? 0 : undefined;
      });
  }
}

function nothing(): Received {
  return { values: [], hasCalls: false, isLive: false };
}

/** The known list if it is the same: comparing identities shows what has changed. */
function sameAs(known: readonly string[] | undefined, names: readonly string[]): readonly string[] {
  const isSame = known?.length === names.length && names.every((name, at) => known[at] === name);
  return isSame ? known : names;
}
