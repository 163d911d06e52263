import { containersOf, type Manifest, ofKind, type Pod, podsIn } from './manifests.ts';

type Labels = Readonly<Record<string, string>>;

interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string; readonly targetPort: string | number }[];
}

/** What selects pods, with the ports of theirs that it names. */
interface Selection {
  readonly from: string;
  readonly labels: Labels;
  readonly ports: readonly (string | number)[];
}

function hasLabels(of: { readonly labels?: Labels }, selector: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => of.labels?.[key] === value);
}

function portsOf({ spec }: Pod): readonly (string | number | undefined)[] {
  return containersOf(spec).flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort }) => [name, containerPort]),
  );
}

function selectionOf({ kind, metadata, spec = {} }: Manifest): Selection | undefined {
  const from = `${kind} ${metadata.name}`;
  const { selector } = spec as { readonly selector: { readonly matchLabels: Labels } };
  switch (kind) {
    case 'Service': {
      const { selector: labels, ports } = spec as unknown as ServiceSpec;
      return { from, labels, ports: ports.map(({ targetPort }) => targetPort) };
    }
    case 'PodMonitor':
    case 'PodMonitoring': {
      const endpoints = (spec['podMetricsEndpoints'] ?? spec['endpoints']) as { port: string }[];
      return { from, labels: selector.matchLabels, ports: endpoints.map(({ port }) => port) };
    }
    case 'Deployment':
    case 'StatefulSet':
    case 'PodDisruptionBudget':
      return { from, labels: selector.matchLabels, ports: [] };
    case 'NetworkPolicy': {
      const { podSelector } = spec as { podSelector: { matchLabels: Labels } };
      return { from, labels: podSelector.matchLabels, ports: [] };
    }
    default:
      return undefined;
  }
}

/** Selectors must select the pods that run for long, not those of `helm test`, and these have the ports. */
function selectionProblems(manifests: readonly Manifest[]): readonly string[] {
  const lasting = podsIn(manifests.filter(({ kind }) => kind !== 'Pod'));
  const hooks = podsIn(ofKind(manifests, 'Pod'));
  return manifests.flatMap((manifest) => {
    const selection = selectionOf(manifest);
    if (selection === undefined || lasting.length === 0) return [];
    const { from, labels, ports } = selection;
    const selected = lasting.filter(({ metadata }) => hasLabels(metadata, labels));
    return [
      ...(selected.length === 0 ? [`${from} selects no pod`] : []),
      ...(hooks.some(({ metadata }) => hasLabels(metadata, labels))
        ? [`${from} selects a hook`]
        : []),
      ...ports
        .filter((port) => selected.some((pod) => !portsOf(pod).includes(port)))
        .map((port) => `${from}: no pod has the port ${port}`),
    ];
  });
}

/** Two Services that a ServiceMonitor selects mean that everything is scraped twice. */
function serviceMonitorProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'ServiceMonitor').flatMap(({ metadata, spec }) => {
    const { selector, endpoints } = spec as {
      readonly selector: { readonly matchLabels: Labels };
      readonly endpoints: readonly { readonly port: string }[];
    };
    const services = ofKind(manifests, 'Service').filter((service) =>
      hasLabels(service.metadata, selector.matchLabels),
    );
    const ports = services.flatMap((service) => (service.spec as unknown as ServiceSpec).ports);
    const isThere = endpoints.every(({ port }) => ports.some(({ name }) => name === port));
    return services.length === 1 && isThere
      ? []
      : [`ServiceMonitor ${metadata.name} selects ${services.length} Services, port: ${isThere}`];
  });
}

/** A file that is mounted by itself is never updated. */
function mountProblems(manifests: readonly Manifest[]): readonly string[] {
  return podsIn(manifests).flatMap(({ of, spec }) =>
    containersOf(spec).flatMap(({ volumeMounts = [] }) =>
      volumeMounts
        .filter(({ subPath }) => subPath !== undefined)
        .map(({ name }) => `${of}: ${name} is never updated, because of subPath`),
    ),
  );
}

/** Selectors and ports that lead nowhere, or to too much: no API server objects to these. */
export function referenceProblems(manifests: readonly Manifest[]): readonly string[] {
  return [
    ...selectionProblems(manifests),
    ...serviceMonitorProblems(manifests),
    ...mountProblems(manifests),
  ];
}
