import type { GraphqlAsked } from './graphql-asks.ts';

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

/** The requests that reached the simulator, the oldest first. Bounded. */
export interface Journal {
  entries(filter?: JournalFilter): readonly JournalEntry[];
  count(filter?: JournalFilter): number;
  /** The largest number of requests that arrived within an interval [t, t + windowMs). */
  maxInAnyWindow(windowMs: number, filter?: JournalFilter): number;
  /** The largest number of requests in flight at once. */
  maxInFlight(): number;
  clear(): void;
}

/** The writing side, only for the server. */
export interface JournalWriter extends Journal {
  /** Records an arrival. The returned function adds the status when it is known. */
  record(entry: Omit<JournalEntry, 'status'>): {
    readonly entry: JournalEntry;
    readonly answered: (status: number) => void;
  };
}

type OpenEntry = { -readonly [Key in keyof JournalEntry]: JournalEntry[Key] };

const everything: JournalFilter = () => true;

/** Keeps the newest `atMost` requests, at least one. */
export function createJournal(atMost: number): JournalWriter {
  const limit = Math.max(1, atMost);
  let kept: OpenEntry[] = [];

  const newest = (filter: JournalFilter): readonly JournalEntry[] =>
    kept.slice(-limit).filter((entry) => filter(entry));

  return {
    entries: (filter = everything) => newest(filter),
    count: (filter = everything) => newest(filter).length,
    maxInAnyWindow: (windowMs, filter = everything) => {
      const entries = newest(filter);
      let most = 0;
      let first = 0;
      for (const [index, entry] of entries.entries()) {
        while (entry.monotonicMs - (entries[first]?.monotonicMs ?? 0) >= windowMs) first += 1;
        most = Math.max(most, index - first + 1);
      }
      return most;
    },
    maxInFlight: () =>
      newest(everything).reduce((most, entry) => Math.max(most, entry.inFlight), 0),
    clear: () => {
      kept = [];
    },
    record: (arrival) => {
      const entry: OpenEntry = { ...arrival, status: undefined };
      // Dropping half at a time keeps the cost of one request constant.
      if (kept.length >= 2 * limit) kept = kept.slice(-limit);
      kept.push(entry);
      return {
        entry,
        answered: (status) => {
          entry.status = status;
        },
      };
    },
  };
}
