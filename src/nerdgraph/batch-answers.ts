import type { ApiError } from '../model/api-error.ts';
import {
  applicationScope,
  hostsScope,
  type PollOutcome,
  unlistedError,
} from '../model/poll-outcome.ts';
import { isReadOf, type PolledSeries, type Values } from '../model/polled-series.ts';
import { type InvalidSampleListener, sampleOf } from '../newrelic/json.ts';
import {
  type BatchColumns,
  type ColumnSet,
  type ColumnValue,
  type Subject,
  valueKeyOf,
  valuesByKey,
} from './column-sets.ts';
import type { FacetRow, NrqlAnswer } from './nrql-answer.ts';
import type { RecordedMetrics } from './recorded-metrics.ts';

/** What arrived about an application or a host. */
interface Received {
  /** By their index in the column sets. */
  readonly values: (number | undefined)[];
  hasCalls: boolean;
  /** Whether it was there at all. */
  isLive: boolean;
}

/** What a poll was to ask for. */
export interface Asked {
  readonly applicationId: string;
  readonly application: boolean;
  /** Only those that are still listed. */
  readonly hosts: readonly string[];
  /** Whether hosts are wanted, and none were listed because that has failed so far. */
  readonly areHostsUnknown?: boolean;
  readonly series: readonly PolledSeries[];
}

export interface BatchAnswersDependencies {
  readonly recorded: RecordedMetrics;
  readonly onInvalid: InvalidSampleListener;
}

/** A query about hosts that was answered. */
interface AnsweredHosts {
  readonly columns: ColumnSet;
  readonly isAsked: (name: string) => boolean;
}

/** Collects the answers of one batch. */
export class BatchAnswers {
  readonly #columns: BatchColumns;
  readonly #valuesByKey: Readonly<Record<Subject, ReadonlyMap<string, ColumnValue>>>;
  readonly #dependencies: BatchAnswersDependencies;
  readonly #applications = new Map<string, Received>();
  /** By application and by the name of the host. */
  readonly #hosts = new Map<string, Map<string, Received>>();
  /** The columns that were answered, by application. */
  readonly #answeredApplications = new Map<string, ColumnSet[]>();
  readonly #answeredHosts = new Map<string, AnsweredHosts[]>();
  readonly #errors = new Map<string, ApiError>();
  #givenUp: ApiError | undefined;
  #windowEndMs: number | undefined;

  constructor(columns: BatchColumns, dependencies: BatchAnswersDependencies) {
    this.#columns = columns;
    this.#valuesByKey = {
      applications: valuesByKey(columns.applications),
      hosts: valuesByKey(columns.hosts),
    };
    this.#dependencies = dependencies;
  }

  /** The values of whole applications in one column set. */
  applications(ids: readonly string[], columns: ColumnSet, answer: NrqlAnswer): void {
    for (const id of ids) {
      addTo(this.#answeredApplications, id, columns);
      if (!this.#applications.has(id)) this.#applications.set(id, nothingReceived());
    }
    this.#add(answer, columns, ({ applicationId }) => this.#applications.get(applicationId));
  }

  /**
   * The values of hosts in one column set.
   *
   * @param isAsked whether the query was about a host of this name
   */
  hosts(
    ids: readonly string[],
    isAsked: (name: string) => boolean,
    columns: ColumnSet,
    answer: NrqlAnswer,
  ): void {
    for (const id of ids) addTo(this.#answeredHosts, id, { columns, isAsked });
    this.#add(answer, columns, ({ applicationId, host }) =>
      host === undefined ? undefined : this.#hostOf(applicationId, host),
    );
  }

  /** A query about these applications failed, for good. A refused key comes before other reasons. */
  failed(ids: readonly string[], error: ApiError): void {
    for (const id of ids) {
      if (error.status === 401 || !this.#errors.has(id)) this.#errors.set(id, error);
    }
  }

  /** Notes why nothing more is waited for. */
  givenUp(error: ApiError): void {
    this.#givenUp = error;
  }

  /** Whether the application answers, but none of its hosts has sent a heartbeat. */
  isWithoutHeartbeat(id: string): boolean {
    const received = this.#applications.get(id);
    return received !== undefined && received.hasCalls && !received.isLive;
  }

  /**
   * The outcome for one application. Everything that was asked for and did not arrive has failed. Hosts
   * are in the order of the listing, so that two polls render alike.
   */
  outcome(asked: Asked, hostNames: PollOutcome['hostNames']): PollOutcome {
    const { applicationId } = asked;
    const { hosts, failed } = this.#hostsOf(asked);
    const application = asked.application ? this.#applicationOf(applicationId) : undefined;
    if (asked.application && application === undefined) failed.add(applicationScope);
    const values = this.#readerOf('applications', asked)(application);
    const hasReading = application !== undefined || hosts.size > 0;
    const failure = this.#errors.get(applicationId) ?? this.#givenUp ?? unlistedErrorOf(asked);
    const error = failed.size > 0 ? failure : undefined;
    return {
      reading: hasReading
        ? { windowEndMs: this.#windowEndMs, series: asked.series, application: values, hosts }
        : undefined,
      error,
      failed,
      askedParts: partsOf(asked),
      gone: false,
      unauthorized: error?.status === 401,
      hostNames,
      hostNamesError: undefined,
      extraCalls: 0,
    };
  }

  #hostsOf(asked: Asked): {
    readonly hosts: Map<string, Values>;
    readonly failed: Set<string>;
  } {
    const hosts = new Map<string, Values>();
    const failed = new Set<string>(asked.areHostsUnknown === true ? [hostsScope] : []);
    const received = this.#hosts.get(asked.applicationId);
    const answered = this.#answeredHosts.get(asked.applicationId) ?? [];
    const valuesOf = this.#readerOf('hosts', asked);
    for (const name of asked.hosts) {
      const isWhole = this.#columns.hosts.every((columns) =>
        answered.some((one) => one.columns === columns && one.isAsked(name)),
      );
      if (isWhole) hosts.set(name, valuesOf(received?.get(name)));
      else failed.add(name);
    }
    return { hosts, failed };
  }

  /** `undefined` unless all of its columns have arrived. */
  #applicationOf(id: string): Received | undefined {
    const answered = this.#answeredApplications.get(id) ?? [];
    const isWhole = this.#columns.applications.every((columns) => answered.includes(columns));
    return isWhole ? this.#applications.get(id) : undefined;
  }

  #add(
    { rows, window }: NrqlAnswer,
    { values }: ColumnSet,
    receivedOf: (row: FacetRow) => Received | undefined,
  ): void {
    const { recorded, onInvalid } = this.#dependencies;
    const seconds = (window.toMs - window.fromMs) / 1000;
    this.#windowEndMs = Math.min(this.#windowEndMs ?? window.toMs, window.toMs);
    for (const row of rows) {
      const received = receivedOf(row);
      if (received === undefined) continue;
      if (row.calls > 0) received.hasCalls = true;
      if (row.isLive === true) received.isLive = true;
      for (const value of values) {
        const found = value.valueOf(row.cells, seconds, onInvalid);
        received.values[value.index] = found;
        if (value.isAmount && found !== undefined && found !== 0) {
          recorded.saw(row.applicationId, value.metric);
        }
      }
    }
  }

  #hostOf(applicationId: string, host: string): Received {
    const hosts = this.#hosts.get(applicationId) ?? new Map<string, Received>();
    this.#hosts.set(applicationId, hosts);
    const received = hosts.get(host) ?? nothingReceived();
    hosts.set(host, received);
    return received;
  }

  /**
   * What tells the values of the series. An amount of nothing is 0 if the subject was there and the
   * application has the metric at all; else there is no value.
   */
  #readerOf(
    subject: Subject,
    { applicationId, series }: Asked,
  ): (received: Received | undefined) => Values {
    const { recorded, onInvalid } = this.#dependencies;
    const read = series.map((one) => ({
      scale: one.scale,
      value: isReadOf(subject, one) ? this.#valuesByKey[subject].get(valueKeyOf(one)) : undefined,
    }));
    return (received) => {
      if (received === undefined) return [];
      return read.map(({ scale, value }) => {
        const found = value && received.values[value.index];
        if (value === undefined || found === undefined) return undefined;
        if (found !== 0 || !value.isAmount) {
          return sampleOf(found * scale, onInvalid, { mayBeNegative: true });
        }
        return received.isLive && recorded.has(applicationId, value.metric) ? 0 : undefined;
      });
    };
  }
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function partsOf({ application, hosts, areHostsUnknown }: Asked): number {
  return (application ? 1 : 0) + hosts.length + (areHostsUnknown === true ? 1 : 0);
}

function unlistedErrorOf({ areHostsUnknown }: Asked): ApiError | undefined {
  return areHostsUnknown === true ? unlistedError : undefined;
}

function nothingReceived(): Received {
  return { values: [], hasCalls: false, isLive: false };
}
