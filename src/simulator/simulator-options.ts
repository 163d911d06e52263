import type { ServerResponse } from 'node:http';
import type { Answer } from './answer.ts';
import type { FleetOptions } from './fleet-options.ts';
import type { GraphqlOptions } from './graphql-options.ts';
import type { Rewrite } from './graphql-routes.ts';
import type { JournalEntry } from './journal.ts';

/** The key of an account without configured keys. */
export const demoApiKey = 'NRAK-SIMULATED0000000000000000000';

/**
 * Sees a request before it is answered, after it was counted and entered in the journal.
 * `handled`: the response now belongs to the interceptor, which may also destroy the socket or leave
 * it hanging. `pass`: the normal answer follows. A function: it makes another answer of the normal one, or
 * of what NerdGraph would answer if the texts of the request were others.
 */
export type Intercept = (
  request: JournalEntry,
  response: ServerResponse,
) => 'handled' | 'pass' | ((answer: Answer, ask: (rewrite: Rewrite) => Answer) => Answer);

/** The defaults follow the vendor, as far as it is documented. */
export interface SimulatorOptions {
  readonly fleet?: FleetOptions | undefined;
  /** The keys of the account. Each has its own quota. Default: `demoApiKey`. */
  readonly apiKeys?: readonly string[] | undefined;
  /** The latency of each answer: fixed, or between two bounds. Default 0. */
  readonly latencyMs?: number | readonly [minMs: number, maxMs: number] | undefined;
  /** Calls of the REST API by one key. Default 1000. */
  readonly quotaPerMinute?: number | undefined;
  /** When a quota window begins, after the creation of the simulator. Default 0. */
  readonly quotaPhaseMs?: number | undefined;
  /** Default 200. */
  readonly pageSize?: number | undefined;
  /** Names in a page of the list of metrics. Default 1000. */
  readonly metricNamesPageSize?: number | undefined;
  /** What a page of the list of metrics takes besides; with the vendor 6 s. Default 0. */
  readonly metricNamesLatencyMs?: number | undefined;
  /** Default `none`: always the same order. `per_call` rotates lists from page to page: some items are lost, some repeat. */
  readonly shuffle?: 'none' | 'per_call' | undefined;
  /** Whether hosts.json exists. Default true. */
  readonly hostsEndpoint?: boolean | undefined;
  /** The metric answer for a stopped host: 404, or 200 with the rest of its data. Default `empty`. */
  readonly removedHost?: 'not_found' | 'empty' | undefined;
  /** The answer for a metric without calls in the range: 0, or not found. Default `zero`. */
  readonly idleMetric?: 'zero' | 'not_found' | undefined;
  /** How long after its end a minute is complete. Default three minutes. */
  readonly ingestDelayMs?: number | undefined;
  /** NerdGraph, which serves the same account on `POST /graphql`. */
  readonly graphql?: GraphqlOptions | undefined;
  /** Default 127.0.0.1. */
  readonly listenHost?: string | undefined;
  /** Default 0, which means a free port. */
  readonly port?: number | undefined;
  /** Requests kept in the journal. Default 100,000. */
  readonly journalLimit?: number | undefined;
  readonly intercept?: Intercept | undefined;
}
