import type { ApiError } from '../model/api-error.ts';
import type { TransactionType } from '../model/application.ts';
import { transactionTypes } from '../model/application.ts';
import {
  applicationScope,
  hostsScope,
  type PollOutcome,
  unlistedError,
} from '../model/poll-outcome.ts';
import type { PolledSeries, Values } from '../model/polled-series.ts';
import { metricNames } from '../newrelic/metric-names.ts';
import { heartbeatMetric } from './nrql.ts';
import type { CountRow, NrqlAnswer } from './nrql-answer.ts';
import type { RecordedMetrics } from './recorded-metrics.ts';

const minuteMs = 60_000;

/** What arrived about an application or a host: calls a minute, and whether it was there at all. */
interface Counted {
  readonly perMinute: Map<TransactionType, number>;
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

const types: ReadonlyMap<string, TransactionType> = new Map(
  transactionTypes.map((type) => [metricNames[type], type]),
);

/** Collects the answers of one batch. */
export class BatchAnswers {
  readonly #recorded: RecordedMetrics;
  readonly #applications = new Map<string, Counted>();
  /** By application and by the name of the host. */
  readonly #hosts = new Map<string, Map<string, Counted>>();
  /** Hosts whose query was answered, by application. */
  readonly #answeredHosts = new Map<string, ((name: string) => boolean)[]>();
  readonly #errors = new Map<string, ApiError>();
  #givenUp: ApiError | undefined;
  #windowEndMs: number | undefined;

  constructor(recorded: RecordedMetrics) {
    this.#recorded = recorded;
  }

  /** The calls of whole applications. */
  applications(ids: readonly string[], answer: NrqlAnswer): void {
    for (const id of ids) this.#applications.set(id, nothingCounted());
    this.#add(answer, ({ applicationId }) => this.#applications.get(applicationId));
  }

  /**
   * The calls of hosts.
   *
   * @param isAsked whether the query was about a host of this name
   */
  hosts(ids: readonly string[], isAsked: (name: string) => boolean, answer: NrqlAnswer): void {
    for (const id of ids) {
      const answered = this.#answeredHosts.get(id);
      if (answered === undefined) this.#answeredHosts.set(id, [isAsked]);
      else answered.push(isAsked);
    }
    this.#add(answer, ({ applicationId, host }) =>
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
    const counted = this.#applications.get(id);
    return counted !== undefined && counted.perMinute.size > 0 && !counted.isLive;
  }

  /**
   * The outcome for one application. Everything that was asked for and did not arrive has failed. Hosts
   * are in the order of the listing, so that two polls render alike.
   */
  outcome(asked: Asked, hostNames: PollOutcome['hostNames']): PollOutcome {
    const { applicationId } = asked;
    const { hosts, failed } = this.#hostsOf(asked);
    const application = asked.application ? this.#applications.get(applicationId) : undefined;
    if (asked.application && application === undefined) failed.add(applicationScope);
    const values = this.#valuesOf(asked, application);
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
    const counted = this.#hosts.get(asked.applicationId);
    const answered = this.#answeredHosts.get(asked.applicationId) ?? [];
    for (const name of asked.hosts) {
      if (answered.some((isAsked) => isAsked(name))) {
        hosts.set(name, this.#valuesOf(asked, counted?.get(name)));
      } else {
        failed.add(name);
      }
    }
    return { hosts, failed };
  }

  #add({ rows, window }: NrqlAnswer, countedOf: (row: CountRow) => Counted | undefined): void {
    const minutes = (window.toMs - window.fromMs) / minuteMs;
    this.#windowEndMs = Math.min(this.#windowEndMs ?? window.toMs, window.toMs);
    for (const row of rows) {
      const counted = countedOf(row);
      if (counted === undefined) continue;
      const type = types.get(row.metric ?? '');
      if (row.metric === heartbeatMetric) counted.isLive = true;
      if (type === undefined) continue;
      counted.perMinute.set(type, row.calls / minutes);
      this.#recorded.saw(row.applicationId, type);
    }
  }

  #hostOf(applicationId: string, host: string): Counted {
    const hosts = this.#hosts.get(applicationId) ?? new Map<string, Counted>();
    this.#hosts.set(applicationId, hosts);
    const counted = hosts.get(host) ?? nothingCounted();
    hosts.set(host, counted);
    return counted;
  }

  /** What has no calls is 0 if it was there and the application has such calls at all, else absent. */
  #valuesOf({ applicationId, series }: Asked, counted: Counted | undefined): Values {
    if (counted === undefined) return [];
    return series.map(({ preset, transactionType: type }) => {
      if (preset !== 'throughput' || type === undefined) return undefined;
      const perMinute = counted.perMinute.get(type);
      if (perMinute !== undefined) return perMinute;
      return counted.isLive && this.#recorded.has(applicationId, type) ? 0 : undefined;
    });
  }
}

function partsOf({ application, hosts, areHostsUnknown }: Asked): number {
  return (application ? 1 : 0) + hosts.length + (areHostsUnknown === true ? 1 : 0);
}

function unlistedErrorOf({ areHostsUnknown }: Asked): ApiError | undefined {
  return areHostsUnknown === true ? unlistedError : undefined;
}

function nothingCounted(): Counted {
  return { perMinute: new Map(), isLive: false };
}
