import type { GraphQLError } from 'graphql/error/GraphQLError.js';
import { validate } from 'graphql/validation/validate.js';
import type { Answer } from './answer.ts';
import { searchEntities } from './entity-search.ts';
import type { SimulatedAccount } from './fleet.ts';
import {
  executeGraphql,
  type GraphqlArguments,
  type GraphqlAsk,
  GraphqlFailure,
  type GraphqlObject,
  type GraphqlRequest,
  graphqlAnswer,
  graphqlRefusal,
} from './graphql.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import { nerdgraphSchema } from './graphql-schema.ts';
import { MinuteCounter } from './minute-counter.ts';
import { nrqlField } from './nrql-field.ts';

/** Makes another text of one. */
export type Rewrite = (text: string) => string;

/** Clients send a few documents again and again, and checking one takes longer than answering it. */
const mostChecked = 64;

function tooMany(what: string): Answer {
  return graphqlRefusal(429, `Too many ${what}`, { errorClass: 'TOO_MANY_REQUESTS' });
}

function rewrittenBy(rewrite: Rewrite | undefined, request: GraphqlRequest): GraphqlRequest {
  if (rewrite === undefined) return request;
  const variables = Object.entries(request.variables).map(([name, value]) => [
    name,
    typeof value === 'string' ? rewrite(value) : value,
  ]);
  return { ...request, variables: Object.fromEntries(variables) };
}

/** NerdGraph of the account. */
export class GraphqlRoutes {
  readonly #settings: GraphqlSettings;
  readonly #account: SimulatedAccount;
  readonly #queries: MinuteCounter;
  readonly #texts: MinuteCounter;
  readonly #root: GraphqlObject;
  /** What is wrong with each document that was checked, by its text. */
  readonly #checked = new Map<string, readonly GraphQLError[]>();
  #violations = 0;

  constructor(settings: GraphqlSettings, account: SimulatedAccount) {
    this.#settings = settings;
    this.#account = account;
    this.#queries = new MinuteCounter(account.clock);
    this.#texts = new MinuteCounter(account.clock);
    this.#root = this.#makeRoot();
  }

  /** The number of queries and requests that were over a limit. */
  get violations(): number {
    return this.#violations;
  }

  /**
   * Counts a request with a valid key as it arrives. `asks` is what it asks for, `inFlight` counts those
   * of NerdGraph, this one included. The returned function answers it; it may be called later. With `rewrite` it answers as if
   * each text among the variables had been rewritten.
   */
  accept(
    request: GraphqlRequest,
    asks: readonly GraphqlAsk[],
    inFlight: number,
  ): (rewrite?: Rewrite) => Answer {
    const refusal = this.#refusal(asks, inFlight);
    return (rewrite) => refusal ?? this.#answer(rewrittenBy(rewrite, request));
  }

  /** The answer to a request without a valid key. */
  refuse(): Answer {
    const status = this.#settings.badKey === 'http_401' ? 401 : 200;
    const message = 'The API key provided is invalid';
    return graphqlRefusal(status, message, { error_code: 'BAD_API_KEY' });
  }

  #answer(request: GraphqlRequest): Answer {
    const errors = this.#settings.checksDocuments ? this.#check(request) : [];
    return graphqlAnswer(errors.length > 0 ? { errors } : executeGraphql(request, this.#root));
  }

  #check({ text, document }: GraphqlRequest): readonly GraphQLError[] {
    const known = this.#checked.get(text);
    if (known !== undefined) return known;
    const errors = validate(nerdgraphSchema, document);
    if (this.#checked.size >= mostChecked) this.#checked.clear();
    this.#checked.set(text, errors);
    return errors;
  }

  #counted(allowed: boolean): boolean {
    this.#violations += allowed ? 0 : 1;
    return allowed;
  }

  /** `undefined` if the request may go on. */
  #refusal(asks: readonly GraphqlAsk[], inFlight: number): Answer | undefined {
    const { concurrency, repeatsPerMinute } = this.#settings;
    if (!this.#counted(inFlight <= concurrency)) return tooMany('concurrent requests');
    const highest = asks
      .filter(({ operation }) => operation === 'nrql')
      .reduce((most, { text }) => Math.max(most, this.#texts.add(text)), 0);
    return this.#counted(highest <= repeatsPerMinute) ? undefined : tooMany('repetitive queries');
  }

  #makeRoot(): GraphqlObject {
    const { accountId: id, entityPageSize: pageSize } = this.#settings;
    const account = { id, name: 'Simulated account' };
    return {
      actor: {
        accounts: [account],
        account: ({ id: wanted }: GraphqlArguments) => {
          // What the key of a user gets for an account that it may not see, or that does not exist.
          if (wanted !== id) {
            const message = `Exception while fetching data: no access to the account ${String(wanted)}`;
            throw new GraphqlFailure('SERVER_ERROR', message, 'DataFetchingException');
          }
          return { ...account, nrql: (args: GraphqlArguments) => this.#nrql(args) };
        },
        entitySearch: (args: GraphqlArguments) =>
          searchEntities(args, this.#account, { account, pageSize }),
      },
    };
  }

  #nrql(args: GraphqlArguments): GraphqlObject {
    if (!this.#counted(this.#queries.add('nrql') <= this.#settings.nrqlPerMinute)) {
      throw new GraphqlFailure(
        'TOO_MANY_REQUESTS',
        'The account has made too many NRQL queries in this minute',
      );
    }
    return nrqlField(args, this.#settings, this.#account);
  }
}
