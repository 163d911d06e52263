import type { Answer } from '../../src/simulator/answer.ts';
import { createCallCounter } from '../../src/simulator/call-counter.ts';
import { createFleet, type Fleet } from '../../src/simulator/fleet.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { type GraphqlOptions, graphqlSettingsOf } from '../../src/simulator/graphql-options.ts';
import { parseGraphqlRequest } from '../../src/simulator/graphql-request.ts';
import { createGraphqlRoutes } from '../../src/simulator/graphql-routes.ts';
import { createTimeslices } from '../../src/simulator/timeslices.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

/** The document for a query, as a client of the vendor would write it. */
const nrqlDocument = `query Nrql($account: Int!, $nrql: Nrql!, $timeout: Seconds) {
  actor {
    account(id: $account) {
      nrql(query: $nrql, timeout: $timeout) {
        results
        otherResult
        totalResult
        metadata { facets messages timeWindow { begin end } }
      }
    }
  }
}`;

/** NerdGraph without HTTP, with a clock that starts at 2026-09-01T10:00:30Z. */
export interface NerdgraphAccount {
  readonly clock: FakeClock;
  readonly fleet: Fleet;
  readonly answer: (query: string, inFlight: number) => Answer;
  readonly violations: () => number;
  /** The document of the answer, which must be a 200. */
  readonly ask: (query: string, variables?: Readonly<Record<string, unknown>>) => unknown;
  /** The field `nrql` of the account 1234567, which must have no errors. */
  readonly nrql: (text: string) => NrqlContainer;
}

/** As much of an answer to NRQL as tests look at. */
export interface NrqlContainer {
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly otherResult: Readonly<Record<string, unknown>> | null;
  readonly totalResult: Readonly<Record<string, unknown>> | null;
  readonly metadata: {
    readonly facets: readonly string[] | null;
    readonly messages: readonly string[];
    readonly timeWindow: { readonly begin: number; readonly end: number };
  };
}

interface NrqlAnswer {
  readonly data: { readonly actor: { readonly account: { readonly nrql: NrqlContainer } } };
  readonly errors?: unknown;
}

/** As much of a page of `entitySearch` as tests look at. */
export interface Listed {
  readonly count: number;
  readonly names: readonly string[];
  readonly accounts: readonly number[];
  readonly nextCursor: string | null;
}

interface SearchAnswer {
  readonly data: {
    readonly actor: {
      readonly entitySearch: {
        readonly count: number;
        readonly results: {
          readonly nextCursor: string | null;
          readonly entities: readonly { readonly name: string; readonly accountId: number }[];
        };
      };
    };
  };
}

/** What an answer lists. */
export function listedIn(answer: unknown): Listed {
  const { count, results } = (answer as SearchAnswer).data.actor.entitySearch;
  const { entities, nextCursor } = results;
  return {
    count,
    names: entities.map(({ name }) => name),
    accounts: entities.map(({ accountId }) => accountId),
    nextCursor,
  };
}

export function aNerdgraphAccount(
  fleetOptions: FleetOptions = {},
  options: GraphqlOptions = {},
): NerdgraphAccount {
  const clock = createFakeClock();
  const fleet = createFleet(fleetOptions, { clock });
  const counting = {
    seed: fleetOptions.seed ?? 1,
    traffic: fleetOptions.traffic ?? 'daily',
    ingestDelayMs: 180_000,
  };
  const calls = createCallCounter(counting, { clock });
  const timeslices = createTimeslices(counting, { calls, clock });
  const routes = createGraphqlRoutes(graphqlSettingsOf(options), {
    fleet,
    calls,
    timeslices,
    clock,
  });
  const answerTo = (query: string, variables: unknown, inFlight: number): Answer => {
    const request = parseGraphqlRequest(JSON.stringify({ query, variables }));
    if (request === undefined) throw new Error(`not a GraphQL document: ${query}`);
    return routes.accept(request, inFlight)();
  };
  const ask = (query: string, variables: Readonly<Record<string, unknown>> = {}): unknown => {
    const answer = answerTo(query, variables, 1);
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
    const document: unknown = JSON.parse(answer.body);
    return document;
  };
  return {
    clock,
    fleet,
    answer: (query, inFlight) => answerTo(query, {}, inFlight),
    violations: () => routes.violations(),
    ask,
    nrql: (text) => {
      const variables = { account: 1_234_567, nrql: text, timeout: 30 };
      const answer = ask(nrqlDocument, variables) as NrqlAnswer;
      if (answer.errors !== undefined) throw new Error(JSON.stringify(answer.errors));
      return answer.data.actor.account.nrql;
    },
  };
}

/** Two applications: 100 with web requests on two hosts, 200 with both on one. */
export function twoApplications(): NerdgraphAccount {
  return aNerdgraphAccount({
    traffic: 'flat',
    applications: [
      {
        id: 100,
        name: 'shop',
        kind: 'web',
        webRpm: 120,
        hosts: [
          { id: 11, name: 'web-1' },
          { id: 12, name: 'web-2' },
        ],
      },
      {
        id: 200,
        name: 'mail',
        kind: 'both',
        webRpm: 10,
        otherRpm: 40,
        hosts: [{ id: 21, name: 'mail-1' }],
      },
    ],
  });
}
