import { validate } from 'graphql/validation/validate.js';
import type { Answer } from './answer.ts';
import type { AccountDependencies } from './application-routes.ts';
import { createEntitySearch } from './entity-search.ts';
import { badKeyAnswer, graphqlAnswer, graphqlRefusal } from './graphql-answers.ts';
import { asksOf } from './graphql-asks.ts';
import { executeGraphql, type GraphqlArguments, type GraphqlObject } from './graphql-execution.ts';
import { GraphqlFailure } from './graphql-failure.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import type { GraphqlRequest } from './graphql-request.ts';
import { nerdgraphSchema } from './graphql-schema.ts';
import { createMinuteCounter } from './minute-counter.ts';
import { createNrqlField } from './nrql-container.ts';
import { createNrqlEvents } from './nrql-events.ts';
import { createNrqlRows } from './nrql-rows.ts';

/** Makes another text of one. */
export type Rewrite = (text: string) => string;

/** NerdGraph of the account. */
export interface GraphqlRoutes {
  /**
   * Counts a request with a valid key as it arrives. `inFlight` counts those of NerdGraph, this one
   * included. The returned function answers it; it may be called later. With `rewrite` it answers as if
   * each text among the variables had been rewritten.
   */
  accept(request: GraphqlRequest, inFlight: number): (rewrite?: Rewrite) => Answer;
  /** The answer to a request without a valid key. */
  refuse(): Answer;
  /** The number of queries and requests that were over a limit. */
  violations(): number;
}

/** The limits that refuse the whole request, and the one that refuses a field. */
interface Limits {
  /** Whether a field may run; counts it. */
  mayQuery(): boolean;
  /** The refusal of a request; `undefined` if it may go on. */
  refusal(request: GraphqlRequest, inFlight: number): Answer | undefined;
  violations(): number;
}

function createLimits(settings: GraphqlSettings, { clock }: AccountDependencies): Limits {
  const queries = createMinuteCounter({ clock });
  const texts = createMinuteCounter({ clock });
  let violations = 0;
  const counted = (allowed: boolean): boolean => {
    violations += allowed ? 0 : 1;
    return allowed;
  };
  return {
    mayQuery: () => counted(queries.add('nrql') <= settings.nrqlPerMinute),
    refusal: (request, inFlight) => {
      if (!counted(inFlight <= settings.concurrency)) {
        return graphqlRefusal(429, 'Too many concurrent requests', {
          errorClass: 'TOO_MANY_REQUESTS',
        });
      }
      const highest = asksOf(request)
        .filter(({ operation }) => operation === 'nrql')
        .reduce((most, { text }) => Math.max(most, texts.add(text)), 0);
      if (counted(highest <= settings.repeatsPerMinute)) return undefined;
      return graphqlRefusal(429, 'Too many repetitive queries', {
        errorClass: 'TOO_MANY_REQUESTS',
      });
    },
    violations: () => violations,
  };
}

function tooManyQueries(): GraphqlFailure {
  return new GraphqlFailure(
    'TOO_MANY_REQUESTS',
    'The account has made too many NRQL queries in this minute',
  );
}

/** What the key of a user gets for an account that it may not see, or that does not exist. */
function noAccess(id: unknown): GraphqlFailure {
  return new GraphqlFailure(
    'SERVER_ERROR',
    `Exception while fetching data: no access to the account ${String(id)}`,
    'DataFetchingException',
  );
}

function createRoot(
  settings: GraphqlSettings,
  limits: Limits,
  dependencies: AccountDependencies,
): GraphqlObject {
  const { clock } = dependencies;
  const account = { id: settings.accountId, name: settings.accountName };
  const rows = createNrqlRows(settings, dependencies);
  const events = createNrqlEvents(settings, dependencies);
  const query = createNrqlField(settings, { rows, events, clock });
  const search = createEntitySearch({ account, pageSize: settings.entityPageSize }, dependencies);

  const nrql = (args: GraphqlArguments): GraphqlObject => {
    if (!limits.mayQuery()) throw tooManyQueries();
    return query(args);
  };
  return {
    actor: {
      user: { id: 1, name: 'Simulated user', email: 'user@simulated.invalid' },
      accounts: [account],
      account: ({ id }: GraphqlArguments) => {
        if (id !== account.id) throw noAccess(id);
        return { ...account, nrql };
      },
      nrql: (args: GraphqlArguments) => {
        const ids = Array.isArray(args['accounts']) ? args['accounts'] : [args['accounts']];
        const foreign: unknown = ids.find((id: unknown) => id !== account.id);
        if (foreign !== undefined) throw noAccess(foreign);
        return nrql(args);
      },
      entitySearch: (args: GraphqlArguments) => search.search(args),
      entities: ({ guids }: GraphqlArguments) =>
        search.entities(Array.isArray(guids) ? guids.map(String) : []),
      entity: ({ guid }: GraphqlArguments) => search.entities([String(guid)])[0],
    },
  };
}

function rewrittenBy(rewrite: Rewrite | undefined, request: GraphqlRequest): GraphqlRequest {
  if (rewrite === undefined) return request;
  const variables = Object.entries(request.variables).map(([name, value]) => [
    name,
    typeof value === 'string' ? rewrite(value) : value,
  ]);
  return { ...request, variables: Object.fromEntries(variables) };
}

export function createGraphqlRoutes(
  settings: GraphqlSettings,
  dependencies: AccountDependencies,
): GraphqlRoutes {
  const limits = createLimits(settings, dependencies);
  const root = createRoot(settings, limits, dependencies);
  const answerTo = (request: GraphqlRequest): Answer => {
    const errors = settings.checksDocuments ? validate(nerdgraphSchema, request.document) : [];
    return graphqlAnswer(errors.length > 0 ? { errors } : executeGraphql(request, root));
  };
  return {
    accept: (request, inFlight) => {
      const refusal = limits.refusal(request, inFlight);
      return (rewrite) => refusal ?? answerTo(rewrittenBy(rewrite, request));
    },
    refuse: () => badKeyAnswer(settings.badKey === 'http_401' ? 401 : 200),
    violations: () => limits.violations(),
  };
}
