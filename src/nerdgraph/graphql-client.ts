import type { Query } from '../model/config.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { RequestContext } from '../model/source.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';
import type { TimeWindow } from '../model/window.ts';
import { countingFailures, excerptOf } from '../newrelic/answer.ts';
import { type InvalidSampleListener, parseJson, parseJsonKeepingIds } from '../newrelic/json.ts';
import type { AnswerSize, ApiResponse, Transport } from '../transport/transport.ts';
import { type EntityPage, entityPageOf } from './entity-page.ts';
import {
  answeredPartOf,
  type CallPurpose,
  failureIn,
  failureOf,
  type GraphqlError,
  graphqlErrorsOf,
  statusOfErrors,
} from './failures.ts';
import { type NrqlAnswer, type NrqlReading, nrqlAnswerOf } from './nrql-answer.ts';
import { queryReadingOf } from './query-answer.ts';
import type { UnexpectedAnswers } from './unexpected-answers.ts';

export interface NrqlQuestion extends Omit<NrqlReading, 'purpose' | 'unexpected' | 'onInvalid'> {
  readonly operation: Operation;
  readonly nrql: string;
}

/** Which tags of entities to read. Default: none. */
export type EntitiesContext = RequestContext & { readonly tags?: readonly string[] | undefined };

/** NerdGraph for one account. Rejects with an `ApiError` or with the signal's reason. */
export interface GraphqlClient {
  nrql(question: NrqlQuestion, context: RequestContext): Promise<NrqlAnswer>;
  /** Asks a query of the configuration. */
  query(query: Query, window: TimeWindow, context: RequestContext): Promise<AppReading>;
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

export interface GraphqlClientOptions {
  readonly accountId: number;
  /** How long a whole call may take; a query is given a little less. */
  readonly timeoutMs: () => number;
}

export interface GraphqlClientDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed' | 'invalidSample'>;
  readonly unexpected: UnexpectedAnswers;
}

/** One query a request: a query that fails is a call that fails, and all others are kept. */
export const nrqlDocument =
  'query Nrql($account: Int!, $nrql: Nrql!, $timeout: Seconds) { actor { account(id: $account) { nrql(query: $nrql, timeout: $timeout) { results otherResult totalResult metadata { facets messages timeWindow { begin end } } } } } }';

/** A page has 200 entities; New Relic allows no more. */
export const entitiesDocument =
  'query Applications($search: String!, $cursor: String) { actor { entitySearch(query: $search, sortByWithDirection: {attribute: NAME, direction: ASC}) { count results(cursor: $cursor) { nextCursor entities { guid name accountId reporting alertSeverity ... on ApmApplicationEntityOutline { applicationId language settings { apdexTarget } apmSummary { throughput responseTimeAverage apdexScore hostCount instanceCount } } } } } } }';

/** Tags are many: they are asked for only where one is wanted. */
export const taggedEntitiesDocument: string = entitiesDocument.replace(
  'guid',
  'guid tags { key values }',
);

export function createGraphqlClient(
  { accountId, timeoutMs }: GraphqlClientOptions,
  { send, observer, unexpected }: GraphqlClientDependencies,
): GraphqlClient {
  const ask = async <Value>(
    purpose: CallPurpose,
    document: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> },
    { signal, turn }: RequestContext,
    kind: AnswerKind,
    use: (part: unknown) => Value,
  ): Promise<Value> => {
    const { operation } = purpose;
    const body = JSON.stringify(document);
    const response = await send(
      { operation, answerSize: kind.size, target: '/graphql', body, turn },
      signal,
    );
    return countingFailures(response, purpose, observer, () => {
      const { part, errors } = answerOf(response, purpose, kind.parse);
      const [error] = errors;
      if (error === undefined) return use(part);
      unexpected.saw('partial', { error: error.message });
      try {
        return use(part);
      } catch (fault) {
        // What New Relic says about it tells more than what is missing.
        throw failureIn({ ...response, status: statusOfErrors(errors) }, purpose) ?? fault;
      }
    });
  };

  const onInvalid: InvalidSampleListener = (reason) => observer.invalidSample(reason);
  const nrqlRequest = (nrql: string) => ({
    query: nrqlDocument,
    variables: { account: accountId, nrql, timeout: nrqlTimeoutSeconds(timeoutMs()) },
  });

  return {
    nrql: async ({ operation, nrql, ...question }, context) => {
      const purpose = { operation, applications: question.applicationIds.length, accountId };
      return ask(purpose, nrqlRequest(nrql), context, rows, (part) =>
        nrqlAnswerOf(part, { ...question, purpose, unexpected, onInvalid }),
      );
    },
    query: async (query, window, context) => {
      const purpose = { operation: 'query', accountId } as const;
      const nrql = `${query.nrql} SINCE ${window.fromMs} UNTIL ${window.toMs}`;
      return ask(purpose, nrqlRequest(nrql), context, rows, (part) =>
        queryReadingOf(part, query, { purpose, window, unexpected, onInvalid }),
      );
    },
    entities: async (search, cursor, { tags = [], ...context }) => {
      const purpose = { operation: 'list_applications', accountId } as const;
      const variables = { search, cursor: cursor ?? null };
      const [query, kind] =
        tags.length > 0 ? [taggedEntitiesDocument, taggedPage] : [entitiesDocument, entityPage];
      return ask(purpose, { query, variables }, context, kind, (part) =>
        entityPageOf(part, { purpose, unexpected, onInvalid, tags }),
      );
    },
  };
}

interface AnswerKind {
  readonly size: AnswerSize;
  readonly parse: typeof parseJson;
}

/** May have 5000. The database behind NRQL has no exact number beyond 2^53. */
const rows: AnswerKind = { size: 'large', parse: parseJson };
/** Names no hosts. */
const entityPage: AnswerKind = { size: 'medium', parse: parseJsonKeepingIds };
const taggedPage: AnswerKind = { ...entityPage, size: 'large' };

/** What was asked for, and the errors that came beside it. Throws an `ApiError` if there is nothing of it. */
export function answerOf(
  response: ApiResponse,
  purpose: CallPurpose,
  parse: typeof parseJson,
): { readonly part: unknown; readonly errors: readonly GraphqlError[] } {
  const failure = failureIn(response, purpose);
  if (failure !== undefined) throw failure;
  const { status, body } = response;
  let document: unknown;
  try {
    document = parse(body);
  } catch {
    const start = excerptOf(body);
    const detail = start === '' ? 'the answer is empty' : `the answer is not JSON: "${start}"`;
    throw failureOf(purpose, 'not_json', detail, status);
  }
  const part = answeredPartOf(document);
  if (part !== undefined) return { part, errors: graphqlErrorsOf(document) };
  throw failureOf(purpose, 'schema', 'the answer has nothing of what was asked for', status);
}

/** What NerdGraph accepts. */
const nrqlTimeout = { least: 5, most: 120 };
/** For the way there and back: an answer that names its timeout tells more than a call cut off. */
const marginSeconds = 5;

export function nrqlTimeoutSeconds(timeoutMs: number): number {
  const seconds = Math.floor(timeoutMs / 1000) - marginSeconds;
  return Math.min(nrqlTimeout.most, Math.max(nrqlTimeout.least, seconds));
}
