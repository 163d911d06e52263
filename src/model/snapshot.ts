import type { Application, TransactionType } from './application.ts';

/** Requests per minute by transaction type. A type the vendor gave no value for is not in the map. */
export type Throughput = ReadonlyMap<TransactionType, number>;

/** What one poll of one application brought: everything describes the same window. */
export interface AppReading {
  /** End of the averaged range; `undefined` when the vendor's own window held no data at all. */
  readonly windowEndMs: number | undefined;
  readonly application: Throughput;
  readonly hosts: ReadonlyMap<string, Throughput>;
}

/** All that is published of one application: immutable, replaced as a whole. */
export interface AppSnapshot {
  readonly account: string;
  readonly application: Application;
  /** Whether only the hosts are shown, and nothing of the application itself. */
  readonly hostsOnly: boolean;
  /** Extra labels from the configuration. */
  readonly labels: Readonly<Record<string, string>>;
  /** Host id to host name; an id that is missing is shown as its own name. */
  readonly hostNames: ReadonlyMap<string, string>;
  /** The last published reading; `undefined` before the first and after it became stale. */
  readonly reading: AppReading | undefined;
  /** Whether the last poll got all that was asked for; `undefined` before the first poll ended. */
  readonly pollSucceeded: boolean | undefined;
  /** Wall time of the last poll that got all that was asked for. */
  readonly lastSuccessMs: number | undefined;
}

/** What the poller hands its results to. Every call replaces what was there. */
export interface SnapshotSink {
  publish(snapshot: AppSnapshot): void;
  remove(account: string, applicationId: string): void;
  /** Whether the account's last discovery succeeded. */
  accountUp(account: string, up: boolean): void;
  removeAccount(account: string): void;
}
