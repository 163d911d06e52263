import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export type EndpointKind =
  | 'applications'
  | 'application'
  | 'hosts'
  | 'host'
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

const id = String.raw`(?<applicationId>\d+)`;
const host = String.raw`hosts/(?<hostId>\d+)`;

const patterns: readonly { readonly kind: EndpointKind; readonly path: RegExp }[] = [
  {
    kind: 'host_metrics',
    path: new RegExp(`^/v2/applications/${id}/${host}/metrics/data\\.json$`),
  },
  { kind: 'application_metrics', path: new RegExp(`^/v2/applications/${id}/metrics/data\\.json$`) },
  {
    kind: 'host_metric_names',
    path: new RegExp(`^/v2/applications/${id}/${host}/metrics\\.json$`),
  },
  {
    kind: 'application_metric_names',
    path: new RegExp(`^/v2/applications/${id}/metrics\\.json$`),
  },
  { kind: 'applications', path: /^\/v2\/applications\.json$/ },
  { kind: 'hosts', path: new RegExp(`^/v2/applications/${id}/hosts\\.json$`) },
  { kind: 'host', path: new RegExp(`^/v2/applications/${id}/${host}\\.json$`) },
  { kind: 'application', path: new RegExp(`^/v2/applications/${id}\\.json$`) },
  { kind: 'graphql', path: /^\/graphql$/ },
];

/** Returns `undefined` for a path that the API does not have. */
export function parseEndpoint(path: string): Endpoint | undefined {
  for (const pattern of patterns) {
    const match = pattern.path.exec(path);
    if (match !== null) {
      const applicationId = match.groups?.['applicationId'];
      return { kind: pattern.kind, applicationId, hostId: match.groups?.['hostId'] };
    }
  }
  return undefined;
}

/** Whether the path is that of a list of metrics. */
export function listsMetricNames(endpoint: Endpoint | undefined): boolean {
  return endpoint?.kind === 'application_metric_names' || endpoint?.kind === 'host_metric_names';
}

/** The parameters of a request, decoded. */
export interface Query {
  /** The value of a parameter; if it is repeated, the last one, like the vendor's framework. */
  last(name: string): string | undefined;
  /** Every value of a list parameter such as `names[]`. */
  all(name: string): readonly string[];
  /** Whether the parameter is `true`. */
  flag(name: string): boolean;
}

export function parseQuery(text: string): Query {
  const parameters = new URLSearchParams(text);
  const last = (name: string): string | undefined => parameters.getAll(name).at(-1);
  return {
    last,
    all: (name) => parameters.getAll(name),
    flag: (name) => last(name) === 'true',
  };
}

/** The credentials of a request. Only the quota sees the key itself. */
type Credentials =
  | { readonly kind: 'valid'; readonly key: string; readonly index: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid' };

function single(value: string | readonly string[] | undefined): string | undefined {
  const first = typeof value === 'string' ? value : value?.[0];
  return first === '' ? undefined : first;
}

/** Reads the key from `Api-Key`, or else from `X-Api-Key`. */
function readCredentials(headers: IncomingHttpHeaders, apiKeys: readonly string[]): Credentials {
  const key = single(headers['api-key']) ?? single(headers['x-api-key']);
  if (key === undefined) return { kind: 'missing' };
  const index = apiKeys.indexOf(key);
  return index < 0 ? { kind: 'invalid' } : { kind: 'valid', key, index };
}

/**
 * Whether the client accepts JSON. The vendor answers a request without an `Accept` header with 200
 * and an empty body.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  return accept.split(',').some((range) => {
    const type = range.split(';')[0]?.trim().toLowerCase();
    return type === 'application/json' || type === 'application/*' || type === '*/*';
  });
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
export function isGraphql({ endpoint }: Pick<ParsedRequest, 'endpoint'>): boolean {
  return endpoint?.kind === 'graphql';
}
