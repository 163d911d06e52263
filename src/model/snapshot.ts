import type { FailureReason } from './api-error.ts';
import type { Application, TransactionType } from './application.ts';
import type { Query } from './config.ts';
import { type PolledSeries, type Values, valuesByTransaction } from './polled-series.ts';
import type { InvalidSampleReason, SeriesDropReason } from './telemetry.ts';

export interface QuerySeries {
  /** Its gauge, as the index among those of the query. */
  readonly gauge: number;
  /** Without those of the configuration. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** What one poll of a query has brought. */
export interface QueryReading {
  /** End of the window that it asked for. */
  readonly windowEndMs: number;
  /** In the order of their labels, each once. */
  readonly series: readonly QuerySeries[];
  /** Rows of the answer. */
  readonly rows: number;
  /** Series of the rows beyond `max_series`. */
  readonly leftOut: number;
  /** How many values or rows became no series, by what was wrong with them. */
  readonly unusable: ReadonlyMap<InvalidSampleReason, number>;
  /** New Relic's notices on the answer: the beginnings of a few. */
  readonly notices: readonly string[];
}

/** The values from one poll of one application, all for the same window. */
export interface AppReading {
  /** End of the averaged range; `undefined` if the vendor's own window had no data at all. */
  readonly windowEndMs: number | undefined;
  /** What the values are of, in their order. */
  readonly series: readonly PolledSeries[];
  readonly application: Values;
  readonly hosts: ReadonlyMap<string, Values>;
}

/** Whether there is anything to hold or drop: not of an application without data, or a query without rows. */
export function hasValues(reading: AppReading | QueryReading | undefined): boolean {
  if (reading === undefined || !('hosts' in reading)) return (reading?.series.length ?? 0) > 0;
  return [reading.application, ...reading.hosts.values()].some((values) =>
    values.some((value) => value !== undefined),
  );
}

/** Requests per minute of the application itself, or of one of its hosts, by transaction type. */
export function throughputIn(
  reading: AppReading | undefined,
  hostId?: string,
): ReadonlyMap<TransactionType, number> {
  const values = hostId === undefined ? reading?.application : reading?.hosts.get(hostId);
  return valuesByTransaction('throughput', reading?.series ?? [], values);
}

/** Everything that is published of one application: immutable, replaced as a whole. */
export interface AppSnapshot {
  readonly account: string;
  readonly application: Application;
  /** Whether only the hosts are shown, and nothing of the application itself. */
  readonly hostsOnly: boolean;
  /** Extra labels from the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  /** Host names by host id. A host that is not in the map is shown by its id. */
  readonly hostNames: ReadonlyMap<string, string>;
  /** The last published reading; `undefined` before the first one and when it has become stale. */
  readonly reading: AppReading | undefined;
  /**
   * Whether the last poll got everything that it asked for; `undefined` before the first poll has
   * ended.
   */
  readonly pollSucceeded: boolean | undefined;
  /** Why the last poll did not; `undefined` unless `pollSucceeded` is false. */
  readonly failureReason: FailureReason | undefined;
  /** Wall time of the last poll that got everything that it asked for. */
  readonly lastSuccessMs: number | undefined;
}

/** The same of a query. */
export interface QuerySnapshot extends Pick<AppSnapshot, 'pollSucceeded' | 'lastSuccessMs'> {
  readonly query: Query;
  readonly reading: QueryReading | undefined;
}

export type Snapshot = AppSnapshot | QuerySnapshot;

export function isOfQuery(snapshot: Snapshot): snapshot is QuerySnapshot {
  return 'query' in snapshot;
}

/** Identifies what a snapshot is about among all of its account. The id of an application is a number. */
export function subjectIdOf(snapshot: Snapshot): string {
  return isOfQuery(snapshot) ? queryIdOf(snapshot.query) : snapshot.application.id;
}

export function queryIdOf({ name }: Query): string {
  return `query ${name}`;
}

/** Where the poller publishes its results. Every call replaces what was there. */
export interface SnapshotSink {
  publish(snapshot: Snapshot): void;
  /** @param id that of `subjectIdOf` */
  remove(account: string, id: string): void;
  /** Whether the account's last discovery succeeded; of one without applications, one of its last two queries. */
  accountUp(account: string, up: boolean): void;
  removeAccount(account: string): void;
  /** Series of the account that are not shown now, by reason. */
  leftOutOf(account: string): Readonly<Record<SeriesDropReason, number>>;
}
