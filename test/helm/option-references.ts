import { containersOf, type Manifest, ofKind, podsIn } from './manifests.ts';

interface BackendRef {
  readonly name: string;
  readonly port: number;
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

function serviceAt(manifests: readonly Manifest[], name: string, port: number): boolean {
  return ofKind(manifests, 'Service').some(
    ({ metadata, spec }) =>
      metadata.name === name &&
      (spec as { ports: readonly { port: number }[] }).ports.some((one) => one.port === port),
  );
}

function routeProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'HTTPRoute').flatMap((route) => {
    const { rules } = route.spec as {
      rules: readonly { readonly backendRefs?: readonly BackendRef[] }[];
    };
    const backends = rules.flatMap(({ backendRefs = [] }) => backendRefs);
    return [
      ...(backends.length === 0 ? [`${nameOf(route)} leads nowhere`] : []),
      ...backends
        .filter(({ name, port }) => !serviceAt(manifests, name, port))
        .map(({ name, port }) => `${nameOf(route)}: no Service ${name} with the port ${port}`),
    ];
  });
}

function scalerProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'VerticalPodAutoscaler').flatMap((scaler) => {
    const { targetRef, resourcePolicy } = scaler.spec as {
      targetRef: { kind: string; name: string };
      resourcePolicy: { containerPolicies: readonly { containerName: string }[] };
    };
    const pod = podsIn(manifests).find(({ of }) => of === `${targetRef.kind} ${targetRef.name}`);
    if (pod === undefined) return [`${nameOf(scaler)}: no ${targetRef.kind} ${targetRef.name}`];
    const containers = new Set(containersOf(pod.spec).map(({ name }) => name));
    return resourcePolicy.containerPolicies
      .filter(({ containerName }) => !containers.has(containerName))
      .map(({ containerName }) => `${nameOf(scaler)}: no container ${containerName}`);
  });
}

function podMonitoringProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'PodMonitoring').flatMap((monitoring) => {
    const { selector, endpoints } = monitoring.spec as {
      selector: { matchLabels: Readonly<Record<string, string>> };
      endpoints: readonly { port: string }[];
    };
    const selected = podsIn(manifests).filter(({ metadata }) =>
      Object.entries(selector.matchLabels).every(
        ([key, value]) => metadata.labels?.[key] === value,
      ),
    );
    const ports = new Set(
      selected.flatMap(({ spec }) =>
        containersOf(spec).flatMap((container) => (container.ports ?? []).map(({ name }) => name)),
      ),
    );
    const runs = podsIn(manifests).length > 0;
    return [
      ...(runs && selected.length === 0 ? [`${nameOf(monitoring)} selects no pod`] : []),
      ...endpoints
        .filter(({ port }) => selected.length > 0 && !ports.has(port))
        .map(({ port }) => `${nameOf(monitoring)}: no pod has the port ${port}`),
    ];
  });
}

/** The DNS names of Services, and of the pods of a StatefulSet below its headless Service, with their ports. */
function addressesIn(manifests: readonly Manifest[]): ReadonlySet<string> {
  const services = ofKind(manifests, 'Service').flatMap(({ metadata, spec }) => {
    const { ports, clusterIP } = spec as { ports: readonly { port: number }[]; clusterIP?: string };
    const suffix = `${metadata.name}.${metadata.namespace}.svc`;
    const sets = ofKind(manifests, 'StatefulSet').filter(
      (set) => (set.spec as { serviceName: string }).serviceName === metadata.name,
    );
    const pods = sets.flatMap((set) => {
      const { replicas } = set.spec as { replicas: number };
      return Array.from(
        { length: replicas },
        (_, index) => `${set.metadata.name}-${index}.${suffix}`,
      );
    });
    const names = clusterIP === 'None' ? pods : [suffix];
    return ports.flatMap(({ port }) => names.map((name) => `${name}:${port}`));
  });
  return new Set(services);
}

function scrapeConfigProblems(manifests: readonly Manifest[]): readonly string[] {
  const addresses = addressesIn(manifests);
  return ofKind(manifests, 'ScrapeConfig').flatMap((config) => {
    const { staticConfigs } = config.spec as {
      staticConfigs: readonly { targets: readonly string[] }[];
    };
    return staticConfigs
      .flatMap(({ targets }) => targets)
      .filter((target) => !addresses.has(target))
      .map((target) => `${nameOf(config)}: nothing is at ${target}`);
  });
}

/** References of objects that are off by default, which lead nowhere. */
export function optionReferenceProblems(manifests: readonly Manifest[]): readonly string[] {
  return [
    ...routeProblems(manifests),
    ...scalerProblems(manifests),
    ...podMonitoringProblems(manifests),
    ...scrapeConfigProblems(manifests),
  ];
}
