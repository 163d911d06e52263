import { type EndpointKind, parseEndpoint } from './endpoint.ts';
import type { Fault } from './fault.ts';
import type { JournalEntry } from './journal.ts';

/** Which requests are meant. What is left out does not matter; everything stated must be true. */
export interface FaultCondition {
  readonly endpoints?: readonly EndpointKind[] | undefined;
  /** As the path has it. */
  readonly applicationId?: string | undefined;
  /** As the path has it. */
  readonly hostId?: string | undefined;
  /** Which key of the account the request carries, counted from 0. */
  readonly keyIndex?: number | undefined;
  /** A part of the query, percent-decoded. */
  readonly queryIncludes?: string | undefined;
  /** Whether an earlier request came over the same connection. Sockets only. */
  readonly connection?: 'new' | 'reused' | undefined;
  /** Of the requests that meet the conditions above, by number: the first one is 1. */
  readonly calls?:
    | {
        readonly first?: number | undefined;
        readonly last?: number | undefined;
        /** 2: every other one, beginning with the first that is meant. */
        readonly every?: number | undefined;
      }
    | undefined;
  /** Monotonic time since the faults were created. */
  readonly fromMs?: number | undefined;
  /** The first moment that is not meant any more. */
  readonly untilMs?: number | undefined;
}

export interface FaultRule {
  /** Without it: every request. */
  readonly when?: FaultCondition | undefined;
  readonly fault: Fault;
}

function isSubject(condition: FaultCondition, entry: JournalEntry): boolean {
  const { endpoints, applicationId, hostId, keyIndex, queryIncludes } = condition;
  const kind = parseEndpoint(entry.path)?.kind;
  return (
    (endpoints === undefined || (kind !== undefined && endpoints.includes(kind))) &&
    (applicationId === undefined || applicationId === entry.applicationId) &&
    (hostId === undefined || hostId === entry.hostId) &&
    (keyIndex === undefined || keyIndex === entry.keyIndex) &&
    (queryIncludes === undefined || decodeURIComponent(entry.query).includes(queryIncludes))
  );
}

function isNumberMeant({ calls }: FaultCondition, number: number): boolean {
  const { first = 1, last = Number.POSITIVE_INFINITY, every = 1 } = calls ?? {};
  return number >= first && number <= last && (number - first) % every === 0;
}

/**
 * Whether the next request is meant: to be asked once for every request, for it counts them.
 * `socket` is what the request came over; its port may be that of an earlier one.
 */
export function createMatcher(
  condition: FaultCondition,
  startMs: number,
): (entry: JournalEntry, socket: object | null | undefined) => boolean {
  const fromMs = startMs + (condition.fromMs ?? 0);
  const untilMs = startMs + (condition.untilMs ?? Number.POSITIVE_INFINITY);
  const seenSockets = new WeakSet();
  let subjects = 0;
  return (entry, socket) => {
    const { monotonicMs } = entry;
    const connection = socket && seenSockets.has(socket) ? 'reused' : 'new';
    if (socket) seenSockets.add(socket);
    if (condition.connection !== undefined && condition.connection !== connection) return false;
    if (monotonicMs < fromMs || monotonicMs >= untilMs || !isSubject(condition, entry)) {
      return false;
    }
    subjects += 1;
    return isNumberMeant(condition, subjects);
  };
}
