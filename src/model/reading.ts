import type { TransactionType } from './application.ts';
import type { TimeWindow } from './window.ts';

/** Requests per minute by transaction type. A type the vendor gave no value for is not in the map. */
export type Throughput = ReadonlyMap<TransactionType, number>;

/** One answer for one application or one host of it. */
export interface ThroughputAnswer {
  readonly throughput: Throughput;
  /** End of the averaged range as the answer states it; `undefined` if it holds no data. */
  readonly windowEndMs: number | undefined;
}

/** What one poll of one application brought: everything describes the same window. */
export interface AppReading {
  /** End of the averaged range; `undefined` when the vendor's own window held no data at all. */
  readonly windowEndMs: number | undefined;
  readonly application: Throughput;
  readonly hosts: ReadonlyMap<string, Throughput>;
}

/** The question put for one application and for each of its hosts. */
export interface ThroughputQuery {
  /** `undefined`: the vendor's own window. */
  readonly window: TimeWindow | undefined;
  readonly transactions: readonly TransactionType[];
  readonly raw: boolean;
}
