import { ApiError } from '../../model/api-error.ts';
import type { Clock } from '../../model/clock.ts';
import type { Query } from '../../model/config.ts';
import type { QueryReading } from '../../model/snapshot.ts';
import type { RequestContext } from '../../model/source.ts';
import type { ApiObserver, Operation } from '../../model/telemetry.ts';
import { minuteMs } from '../../model/time.ts';
import type { TimeWindow } from '../../model/window.ts';
import {
  countingFailures,
  entityIdOf,
  type InvalidSampleListener,
  isJsonObject,
  type JsonObject,
  parseJson,
  parseJsonKeepingIds,
  type UnexpectedAnswers,
} from '../answer.ts';
import type { AnswerSize, ApiResponse, Transport } from '../calls/transport.ts';
import {
  answeredPartOf,
  askForLess,
  documentIn,
  mayLackRights,
  type NerdGraphPurpose,
  noticesIn,
  notWhole,
} from '../failures.ts';
import { type EntityPage, entityPageOf } from './entity-page.ts';
import { metricsNrql } from './nrql.ts';
import { type NrqlAnswer, type NrqlReading, nrqlAnswerOf } from './nrql-answer.ts';
import { queryReadingOf } from './query-answer.ts';

export interface NrqlQuestion extends Omit<NrqlReading, 'purpose' | 'unexpected' | 'onInvalid'> {
  readonly operation: Operation;
}

/** Which tags of entities to read. Default: none. */
export type EntitiesContext = RequestContext & { readonly tags?: readonly string[] | undefined };

/** NerdGraph for one account. Rejects with an `ApiError` or with the signal's reason. */
export interface GraphqlClient {
  nrql(question: NrqlQuestion, context: RequestContext): Promise<NrqlAnswer>;
  /** Asks a query of the configuration. */
  query(query: Query, window: TimeWindow, context: RequestContext): Promise<QueryReading>;
  /**
   * One page of a search for entities.
   *
   * @param cursor as the page before gave it; `undefined` for the first page
   */
  entities(
    search: string,
    cursor: string | undefined,
    context: EntitiesContext,
  ): Promise<EntityPage>;
}

export interface AskedAccount {
  readonly accountId: number;
  /** How long a whole call may take; a query is given a little less. */
  readonly timeoutMs: () => number;
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed' | 'invalidSample'>;
  readonly unexpected: UnexpectedAnswers;
  readonly clock: Clock;
}

/** One query a request: a query that fails is a call that fails, and all others are kept. */
export const nrqlDocument =
  'query Nrql($account: Int!, $nrql: Nrql!, $timeout: Seconds) { actor { account(id: $account) { nrql(query: $nrql, timeout: $timeout) { results otherResult totalResult metadata { facets messages timeWindow { begin end } } } } } }';

/** A page has 200 entities; New Relic allows no more. */
export const entitiesQuery =
  'query Applications($search: String!, $cursor: String) { actor { entitySearch(query: $search, sortByWithDirection: {attribute: NAME, direction: ASC}) { count results(cursor: $cursor) { nextCursor entities { guid name accountId reporting alertSeverity ... on ApmApplicationEntityOutline { applicationId language settings { apdexTarget } apmSummary { throughput responseTimeAverage apdexScore hostCount instanceCount } } } } } } }';

/** Tags are many: they are asked for only where one is wanted. */
export const taggedEntitiesDocument: string = entitiesQuery.replace(
  'guid',
  'guid tags { key values }',
);

/** The only query that needs no account. */
export const accountsDocument = '{ actor { accounts { id name } } }';

interface GraphqlCall {
  readonly purpose: NerdGraphPurpose;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly answerSize: AnswerSize;
  readonly parse: typeof parseJson;
}

type Rights = (signal: AbortSignal) => Promise<boolean>;

/**
 * Returns a function that says whether the key sees the account, for a field that has failed without a reason:
 * New Relic says the same to a key without rights. Asked once a minute at most.
 */
function createRights({ accountId, send, clock }: AskedAccount): Rights {
  let known: { readonly atMs: number; readonly seesAccount: Promise<boolean> } | undefined;
  const isSeen: Rights = async (signal) => {
    const operation = 'list_applications';
    const body = JSON.stringify({ query: accountsDocument });
    // What has failed waits for this: it is not tried again.
    const answerSize = 'medium';
    const request = { operation, answerSize, target: '/graphql', body, mayRetry: false } as const;
    const accounts = accountsIn(await send(request, signal), { operation, accountId });
    return accounts.some(({ id }) => entityIdOf(id) === String(accountId));
  };
  return async (signal) => {
    const nowMs = clock.monotonicMs();
    if (known === undefined || nowMs - known.atMs >= minuteMs) {
      // Who gets no answer to that either is not told to lack rights.
      known = { atMs: nowMs, seesAccount: isSeen(signal).catch(() => true) };
    }
    return known.seesAccount;
  };
}

/** The accounts that a key sees. Throws an `ApiError` if the answer has no list of them. */
export function accountsIn(
  response: ApiResponse,
  purpose: NerdGraphPurpose,
): readonly JsonObject[] {
  const accounts = answeredPartOf(documentIn(response, purpose, parseJsonKeepingIds));
  if (!Array.isArray(accounts)) throw notWhole(purpose, 'the answer has no list of accounts');
  return accounts.filter(isJsonObject);
}

async function ask<Value>(
  { send, observer, unexpected }: AskedAccount,
  rights: Rights,
  { purpose, query, variables, answerSize, parse }: GraphqlCall,
  { signal, ...call }: RequestContext,
  use: (part: unknown) => Value,
): Promise<Value> {
  const { operation } = purpose;
  const body = JSON.stringify({ query, variables });
  const request = { operation, answerSize, target: '/graphql', body, ...call };
  let response = await send(request, signal);
  if (mayLackRights(response) && !(await rights(signal))) {
    observer.failed(operation, 'auth');
    response = { ...response, status: 403 };
  }
  return countingFailures(response, purpose, observer, () => {
    const document = documentIn(response, purpose, parse);
    for (const notice of noticesIn(document)) unexpected.noticed(notice, operation);
    const part = answeredPartOf(document);
    if (part !== undefined) return use(part);
    const remedy = 'Check that base_url is the address of New Relic';
    throw notWhole(purpose, 'the answer has nothing of what was asked for', remedy);
  });
}

export function createGraphqlClient(account: AskedAccount): GraphqlClient {
  const { accountId, timeoutMs, observer, unexpected } = account;
  const rights = createRights(account);
  const onInvalid: InvalidSampleListener = (reason) => observer.invalidSample(reason);
  const nrqlRequest = (purpose: NerdGraphPurpose, nrql: string): GraphqlCall => ({
    purpose,
    query: nrqlDocument,
    variables: { account: accountId, nrql, timeout: nrqlTimeoutSeconds(timeoutMs()) },
    // May have 5000 rows. The database behind NRQL has no exact number beyond 2^53.
    answerSize: 'large',
    parse: parseJson,
  });

  return {
    nrql: async ({ operation, ...question }, context) => {
      const purpose = { operation, applications: question.applicationIds.length, accountId };
      return ask(account, rights, nrqlRequest(purpose, metricsNrql(question)), context, (part) =>
        nrqlAnswerOf(part, { ...question, purpose, unexpected, onInvalid }),
      );
    },
    query: async (query, window, context) => {
      const purpose = { operation: 'query', accountId } as const;
      const nrql = `${query.nrql} SINCE ${window.fromMs} UNTIL ${window.toMs}`;
      const reading = { purpose, window, unexpected, onInvalid };
      try {
        return await ask(account, rights, nrqlRequest(purpose, nrql), context, (part) =>
          queryReadingOf(part, query, reading),
        );
      } catch (error) {
        throw error instanceof ApiError ? inWrittenText(error, query) : error;
      }
    },
    entities: async (search, cursor, { tags = [], ...context }) => {
      const purpose = { operation: 'list_applications', accountId } as const;
      const isTagged = tags.length > 0;
      const request = {
        purpose,
        query: isTagged ? taggedEntitiesDocument : entitiesQuery,
        variables: { search, cursor: cursor ?? null },
        // Names no hosts.
        answerSize: isTagged ? 'large' : 'medium',
        parse: parseJsonKeepingIds,
      } as const;
      return ask(account, rights, request, context, (part) =>
        entityPageOf(part, { purpose, unexpected, onInvalid, tags }),
      );
    },
  };
}

/**
 * The error with New Relic's positions as those in the text that the user wrote, and if the answer has no
 * room in memory, with what makes it smaller.
 */
function inWrittenText({ reason, message, status }: ApiError, { written, added }: Query): ApiError {
  if (reason === 'too_large' && status === undefined) {
    return new ApiError(reason, `query: ${message.split(';')[0]}. ${askForLess}.`);
  }
  const { at, length } = added ?? { at: Number.POSITIVE_INFINITY, length: 0 };
  const text = message.replaceAll(/(?<=\bposition )\d+/gu, (digits) => {
    const position = Number(digits);
    const own = position > at ? Math.max(at, position - length) : position;
    return String(Math.min(own, written.length));
  });
  return new ApiError(reason, text, status === undefined ? {} : { status });
}

/** What NerdGraph accepts. */
const nrqlTimeout = { least: 5, most: 120 };
/** For the way there and back: an answer that names its timeout tells more than a call cut off. */
const marginSeconds = 5;

export function nrqlTimeoutSeconds(timeoutMs: number): number {
  const seconds = Math.floor(timeoutMs / 1000) - marginSeconds;
  return Math.min(nrqlTimeout.most, Math.max(nrqlTimeout.least, seconds));
}
