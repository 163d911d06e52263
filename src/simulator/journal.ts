import type { GraphqlAsked } from './graphql.ts';

/** One request as it arrived, and the status of its answer. Never holds the key itself. */
export interface JournalEntry {
  readonly monotonicMs: number;
  readonly wallMs: number;
  readonly method: string;
  readonly path: string;
  /** The text after the question mark, still encoded; empty without one. */
  readonly query: string;
  /** The ids are as in the path. */
  readonly applicationId: string | undefined;
  readonly hostId: string | undefined;
  /** What a request to NerdGraph asked for; `undefined` for one that cannot be read. */
  readonly graphql?: GraphqlAsked | undefined;
  readonly remotePort: number | undefined;
  /** The position of its key among the configured ones; `undefined` for none or a wrong one. */
  readonly keyIndex: number | undefined;
  /** Requests in flight when it arrived, itself included. */
  readonly inFlight: number;
  /** `undefined` until it is answered, and for good if it was cut off. */
  readonly status: number | undefined;
}

export type JournalFilter = (entry: JournalEntry) => boolean;

/** An entry whose request may be answered later. */
type OpenEntry = { -readonly [Key in keyof JournalEntry]: JournalEntry[Key] };

/** The requests that reached the simulator, the oldest first: the newest `atMost`, at least one. */
export class Journal {
  readonly #limit: number;
  #kept: OpenEntry[] = [];

  constructor(atMost: number) {
    this.#limit = Math.max(1, atMost);
  }

  entries(filter: JournalFilter = () => true): readonly JournalEntry[] {
    return this.#kept.slice(-this.#limit).filter((entry) => filter(entry));
  }

  count(filter?: JournalFilter): number {
    return this.entries(filter).length;
  }

  /** The largest number of requests that arrived within an interval [t, t + windowMs). */
  maxInAnyWindow(windowMs: number, filter?: JournalFilter): number {
    const entries = this.entries(filter);
    let most = 0;
    let first = 0;
    for (const [index, entry] of entries.entries()) {
      while (entry.monotonicMs - (entries[first]?.monotonicMs ?? 0) >= windowMs) first += 1;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }

  /** The largest number of requests in flight at once. */
  maxInFlight(): number {
    return this.entries().reduce((most, entry) => Math.max(most, entry.inFlight), 0);
  }

  clear(): void {
    this.#kept = [];
  }

  /** Only for the server: records an arrival. The server states the status when it is known. */
  record(arrival: Omit<JournalEntry, 'status'>): OpenEntry {
    const entry: OpenEntry = { ...arrival, status: undefined };
    // Dropping half at a time keeps the cost of one request constant.
    if (this.#kept.length >= 2 * this.#limit) this.#kept = this.#kept.slice(-this.#limit);
    this.#kept.push(entry);
    return entry;
  }
}
