import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export type EndpointKind =
  | 'applications'
  | 'hosts'
  | 'application_metrics'
  | 'host_metrics'
  | 'application_metric_names'
  | 'host_metric_names'
  | 'graphql';

/** The endpoint that a path names. The ids are as in the path. */
export interface Endpoint {
  readonly kind: EndpointKind;
  readonly applicationId: string | undefined;
  readonly hostId: string | undefined;
}

const applicationPath =
  /^\/v2\/applications\/(?<applicationId>\d+)(?:\/hosts\/(?<hostId>\d+))?\/(?<what>hosts|metrics|metrics\/data)\.json$/;

/** Returns `undefined` for a path that the API does not have. */
export function parseEndpoint(path: string): Endpoint | undefined {
  const ofAccount = { applicationId: undefined, hostId: undefined };
  if (path === '/graphql') return { kind: 'graphql', ...ofAccount };
  if (path === '/v2/applications.json') return { kind: 'applications', ...ofAccount };
  const { applicationId, hostId, what } = applicationPath.exec(path)?.groups ?? {};
  const subject = hostId === undefined ? 'application' : 'host';
  if (what === 'metrics/data') return { kind: `${subject}_metrics`, applicationId, hostId };
  if (what === 'metrics') return { kind: `${subject}_metric_names`, applicationId, hostId };
  const listsHosts = what === 'hosts' && hostId === undefined;
  return listsHosts ? { kind: 'hosts', applicationId, hostId } : undefined;
}

/** Whether the path is that of a list of metrics. */
export function listsMetricNames(endpoint: Endpoint | undefined): boolean {
  return endpoint?.kind === 'application_metric_names' || endpoint?.kind === 'host_metric_names';
}

/** The value of a parameter; if it is repeated, the last one, like the vendor's framework. */
export function lastOf(query: URLSearchParams, name: string): string | undefined {
  return query.getAll(name).at(-1);
}

/** The credentials of a request. Only the quota sees the key itself. */
type Credentials =
  | { readonly kind: 'valid'; readonly key: string; readonly index: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' };

/** Reads the key from `Api-Key`, or else from `X-Api-Key`. */
function readCredentials(headers: IncomingHttpHeaders, apiKeys: readonly string[]): Credentials {
  const given = [headers['api-key'], headers['x-api-key']].flat();
  const key = given.find((text) => text !== undefined && text !== '');
  if (key === undefined) return { kind: 'missing' };
  const index = apiKeys.indexOf(key);
  return index < 0 ? { kind: 'invalid' } : { kind: 'valid', key, index };
}

/**
 * Whether the client accepts JSON. The vendor answers a request without an `Accept` header with 200
 * and an empty body.
 */
export function acceptsJson(accept = ''): boolean {
  return /(?:application|\*)\/\*|application\/json/i.test(accept);
}

/** A request as the simulator reads it. */
export interface ParsedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly endpoint: Endpoint | undefined;
  readonly accept: string | undefined;
  readonly remotePort: number | undefined;
  readonly credentials: Credentials;
}

export function parseRequest(incoming: IncomingMessage, apiKeys: readonly string[]): ParsedRequest {
  const target = incoming.url ?? '/';
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return {
    method: incoming.method ?? 'GET',
    path,
    query: mark < 0 ? '' : target.slice(mark + 1),
    endpoint: parseEndpoint(path),
    accept: incoming.headers.accept,
    remotePort: incoming.socket.remotePort,
    credentials: readCredentials(incoming.headers, apiKeys),
  };
}

/** Whether the request is for NerdGraph, not for the REST API. */
export function isGraphql({ endpoint }: ParsedRequest): boolean {
  return endpoint?.kind === 'graphql';
}

/** More than the vendor's own limits let a useful query be. */
const mostBodyBytes = 1_048_576;

/**
 * Reads a body as UTF-8, then calls `done` once: with the text, or with `undefined` if it is too large. A
 * client that goes away before the end is never heard of again.
 */
export function readBody(
  incoming: IncomingMessage,
  done: (body: string | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read but not kept, so that the client can read the answer.
    if (bytes <= mostBodyBytes) chunks.push(chunk);
  });
  incoming.on('end', () => {
    done(bytes > mostBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8'));
  });
}
