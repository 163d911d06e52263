import { type Answer, errorAnswer, overQuotaAnswer, withoutBody } from './answer.ts';
import { graphqlRefusal } from './graphql-answers.ts';
import { askedOf, type GraphqlAsked } from './graphql-asks.ts';
import { parseGraphqlRequest } from './graphql-request.ts';
import type { GraphqlRoutes, Rewrite } from './graphql-routes.ts';
import type { Quota } from './quota.ts';
import { acceptsJson, isGraphql, type ParsedRequest } from './request.ts';
import type { Routes } from './routes.ts';

/** A request that was counted. */
export interface Admitted {
  /** What it asks NerdGraph for; `undefined` for the REST API, and if it cannot be read. */
  readonly asked: GraphqlAsked | undefined;
  /** Works out the answer; to be called when the latency is over. Only NerdGraph knows `rewrite`. */
  readonly answer: (rewrite?: Rewrite) => Answer;
}

export interface AdmissionDependencies {
  readonly quota: Quota;
  readonly routes: Routes;
  readonly graphql: GraphqlRoutes;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
}

/**
 * Counts a request towards the limits of its API when it arrives. `body` is `undefined` for one that was
 * too large. `inFlight` counts the requests to NerdGraph, this one included.
 */
export type Admission = (
  request: ParsedRequest,
  body: string | undefined,
  inFlight: number,
) => Admitted;

function restAnswer(request: ParsedRequest, routes: Routes): Answer {
  if (request.method !== 'GET') return errorAnswer(405, 'Method Not Allowed', { Allow: 'GET' });
  const answer = routes(request.endpoint, request.path, request.query);
  return answer.status === 200 && !acceptsJson(request.accept) ? withoutBody(answer) : answer;
}

function always(answer: Answer): Admitted {
  return { asked: undefined, answer: () => answer };
}

export function createAdmission({
  quota,
  routes,
  graphql,
  hide,
}: AdmissionDependencies): Admission {
  const toRest = (request: ParsedRequest): Admitted => {
    const { credentials } = request;
    if (credentials.kind === 'missing') return always(errorAnswer(401, 'No API key specified'));
    if (credentials.kind === 'invalid') return always(errorAnswer(401, 'Invalid API key'));
    const verdict = quota.acquire(credentials.key);
    if (!verdict.allowed) return always(overQuotaAnswer(verdict));
    return { asked: undefined, answer: () => restAnswer(request, routes) };
  };

  const toGraphql = (
    request: ParsedRequest,
    body: string | undefined,
    inFlight: number,
  ): Admitted => {
    if (request.method !== 'POST') {
      return always(errorAnswer(405, 'Method Not Allowed', { Allow: 'POST' }));
    }
    if (body === undefined) return always(graphqlRefusal(413, 'The request is too large'));
    const parsed = parseGraphqlRequest(body);
    const asked = parsed === undefined ? undefined : askedOf(parsed, hide);
    if (request.credentials.kind !== 'valid') return { asked, answer: () => graphql.refuse() };
    if (parsed === undefined)
      return always(graphqlRefusal(400, 'The body is not a GraphQL request'));
    return { asked, answer: graphql.accept(parsed, inFlight) };
  };

  return (request, body, inFlight) =>
    isGraphql(request) ? toGraphql(request, body, inFlight) : toRest(request);
}
