import type { Fault } from './fault.ts';
import type { GraphqlOperation } from './graphql.ts';
import type { JournalEntry } from './journal.ts';
import { type EndpointKind, parseEndpoint } from './request.ts';

/** The requests that a fault is meant for. All stated conditions must hold. */
export interface FaultCondition {
  readonly endpoints?: readonly EndpointKind[] | undefined;
  /** As in the path; or NRQL that names it. */
  readonly applicationId?: string | undefined;
  /** As in the path. */
  readonly hostId?: string | undefined;
  /** The position of the request's key among the keys of the account, from 0. */
  readonly keyIndex?: number | undefined;
  /** What a request to NerdGraph reads, among other things perhaps. */
  readonly operation?: GraphqlOperation | undefined;
  /**
   * A part of the query, percent-decoded; for NerdGraph a part of the document or of the variables as
   * JSON, such as the NRQL.
   */
  readonly queryIncludes?: string | undefined;
  /** Whether an earlier request came over the same connection. Needs a socket. */
  readonly connection?: 'new' | 'reused' | undefined;
  /** Numbers among the requests that meet the conditions above; the first is 1. */
  readonly calls?:
    | {
        readonly first?: number | undefined;
        readonly last?: number | undefined;
        /** 2 means every other request, beginning with `first`. */
        readonly every?: number | undefined;
      }
    | undefined;
  /** Monotonic time since the faults were created. */
  readonly fromMs?: number | undefined;
  /** As `fromMs`; the fault ends at this moment. */
  readonly untilMs?: number | undefined;
  /** Only so long at the beginning of each period; the first period begins at `fromMs`. */
  readonly period?: { readonly everyMs: number; readonly lengthMs: number } | undefined;
}

export interface FaultRule {
  /** Without it the rule is for every request. */
  readonly when?: FaultCondition | undefined;
  readonly fault: Fault;
}

function isAsked(condition: FaultCondition, { query, graphql }: JournalEntry): boolean {
  const { operation, queryIncludes } = condition;
  const isOperation =
    operation === undefined || graphql?.asks.some((ask) => ask.operation === operation) === true;
  const isIncluded =
    queryIncludes === undefined ||
    decodeURIComponent(query).includes(queryIncludes) ||
    graphql?.text.includes(queryIncludes) === true ||
    graphql?.asks.some(({ text }) => text.includes(queryIncludes)) === true;
  return isOperation && isIncluded;
}

function namesApplication(id: string, { applicationId, graphql }: JournalEntry): boolean {
  const named = new RegExp(String.raw`(?<!\d)${id}(?!\d)`);
  return (
    id === applicationId ||
    graphql?.asks.some(({ operation, text }) => operation === 'nrql' && named.test(text)) === true
  );
}

function isSubject(condition: FaultCondition, entry: JournalEntry): boolean {
  const { endpoints, applicationId, hostId, keyIndex } = condition;
  const kind = parseEndpoint(entry.path)?.kind;
  return (
    (endpoints === undefined || (kind !== undefined && endpoints.includes(kind))) &&
    (applicationId === undefined || namesApplication(applicationId, entry)) &&
    (hostId === undefined || hostId === entry.hostId) &&
    (keyIndex === undefined || keyIndex === entry.keyIndex) &&
    isAsked(condition, entry)
  );
}

function isNumberMeant({ calls }: FaultCondition, number: number): boolean {
  const { first = 1, last = Number.POSITIVE_INFINITY, every = 1 } = calls ?? {};
  return number >= first && number <= last && (number - first) % every === 0;
}

const always = { everyMs: Number.POSITIVE_INFINITY, lengthMs: Number.POSITIVE_INFINITY };

/**
 * Creates a function that tells whether the next request is meant. Call it once for each request,
 * because it counts them. `socket` tells connections apart: ports are used again.
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
    const { everyMs, lengthMs } = condition.period ?? always;
    if ((monotonicMs - fromMs) % everyMs >= lengthMs) return false;
    subjects += 1;
    return isNumberMeant(condition, subjects);
  };
}
