import type { ServerResponse } from 'node:http';
import type { Shuffle } from './application-routes.ts';
import type { FleetOptions } from './fleet-options.ts';
import type { JournalEntry } from './journal.ts';
import type { LinkStyle } from './page.ts';

/** The key of an account for which none is named. */
export const demoApiKey = 'NRAK-SIMULATED0000000000000000000';

/**
 * Looks at a request before it is answered, after it was counted and entered in the journal.
 * `handled`: the response is now the interceptor's, which may also destroy the socket or leave it
 * hanging; `pass`: the normal answer follows.
 */
export type Intercept = (request: JournalEntry, response: ServerResponse) => 'handled' | 'pass';

/** What is left out is as with the vendor, as far as its documents tell. */
export interface SimulatorOptions {
  readonly fleet?: FleetOptions | undefined;
  /** Keys of the account. Each has a quota of its own. Default: `demoApiKey`. */
  readonly apiKeys?: readonly string[] | undefined;
  /** Time before each answer: fixed, or between two bounds. Default 0. */
  readonly latencyMs?: number | readonly [minMs: number, maxMs: number] | undefined;
  /** Default 1000. */
  readonly quotaPerMinute?: number | undefined;
  /** When, after the simulator was created, a quota window begins. Default 0. */
  readonly quotaPhaseMs?: number | undefined;
  /** Default 200. */
  readonly pageSize?: number | undefined;
  /** Default `observed`. */
  readonly linkStyle?: LinkStyle | undefined;
  /** Default `none`. `per_call` turns between the pages of one listing, which loses and repeats. */
  readonly shuffle?: Shuffle | undefined;
  /** Whether hosts.json exists. Default true. */
  readonly hostsEndpoint?: boolean | undefined;
  /** Metric answer for a host that stopped: 404, or 200 with what it left. Default `empty`. */
  readonly removedHost?: 'not_found' | 'empty' | undefined;
  /** A metric without calls in the range: found with 0, or not found. Default `zero`. */
  readonly idleMetric?: 'zero' | 'not_found' | undefined;
  /** How long after its end a minute is complete. Default three minutes. */
  readonly ingestDelayMs?: number | undefined;
  /** Default 127.0.0.1. */
  readonly listenHost?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Requests kept in the journal. Default 100,000. */
  readonly journalLimit?: number | undefined;
  readonly intercept?: Intercept | undefined;
}
