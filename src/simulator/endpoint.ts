export type EndpointKind =
  | 'applications'
  | 'application'
  | 'hosts'
  | 'host'
  | 'application_metrics'
  | 'host_metrics';

/** What a path asks for. Ids are as the path has them. */
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
  { kind: 'applications', path: /^\/v2\/applications\.json$/ },
  { kind: 'hosts', path: new RegExp(`^/v2/applications/${id}/hosts\\.json$`) },
  { kind: 'host', path: new RegExp(`^/v2/applications/${id}/${host}\\.json$`) },
  { kind: 'application', path: new RegExp(`^/v2/applications/${id}\\.json$`) },
];

/** `undefined` for a path that the API does not have. */
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
