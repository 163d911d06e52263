import { CallCounter } from '../../src/simulator/call-counter.ts';
import { Fleet } from '../../src/simulator/fleet.ts';
import type { FleetOptions } from '../../src/simulator/fleet-options.ts';
import { asksOf, parseGraphqlRequest } from '../../src/simulator/graphql.ts';
import { type GraphqlOptions, graphqlSettingsOf } from '../../src/simulator/graphql-options.ts';
import { GraphqlRoutes } from '../../src/simulator/graphql-routes.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const nrqlDocument =
  'query ($nrql: Nrql!) { actor { account(id: 1234567) { nrql(query: $nrql, timeout: 30) { results otherResult totalResult } } } }';

/** NerdGraph without HTTP, with a clock that starts at 2026-09-01T10:00:30Z. */
export interface NerdgraphAccount {
  readonly clock: FakeClock;
  readonly fleet: Fleet;
  readonly violations: () => number;
  /** The document of the answer, which must be a 200. */
  readonly ask: (query: string, variables?: Readonly<Record<string, unknown>>) => unknown;
  /** The field `nrql` of the account 1234567, which must have no errors. */
  readonly nrql: (text: string) => NrqlContainer;
}

type Row = Readonly<Record<string, unknown>>;

/** As much of an answer to NRQL as tests look at. */
export interface NrqlContainer {
  readonly results: readonly Row[];
  readonly otherResult: Row | null;
  readonly totalResult: Row | null;
}

interface NrqlAnswer {
  readonly data: { readonly actor: { readonly account: { readonly nrql: NrqlContainer } } };
  readonly errors?: unknown;
}

export function aNerdgraphAccount(
  fleetOptions: FleetOptions = {},
  options: GraphqlOptions = {},
): NerdgraphAccount {
  const clock = createFakeClock();
  const fleet = new Fleet(fleetOptions, clock);
  const counting = {
    seed: fleetOptions.seed ?? 1,
    traffic: fleetOptions.traffic ?? 'daily',
    ingestDelayMs: 180_000,
  };
  const calls = new CallCounter(counting, clock);
  const routes = new GraphqlRoutes(graphqlSettingsOf(options), { fleet, calls, clock });
  const ask = (query: string, variables: Readonly<Record<string, unknown>> = {}): unknown => {
    const request = parseGraphqlRequest(JSON.stringify({ query, variables }));
    if (request === undefined) throw new Error(`not a GraphQL document: ${query}`);
    const answer = routes.accept(request, asksOf(request), 1)();
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
    const document: unknown = JSON.parse(answer.body);
    return document;
  };
  return {
    clock,
    fleet,
    violations: () => routes.violations,
    ask,
    nrql: (text) => {
      const answer = ask(nrqlDocument, { nrql: text }) as NrqlAnswer;
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
