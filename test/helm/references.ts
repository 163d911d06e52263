import { containersOf, type Manifest, ofKind, type Pod, podsIn } from './manifests.ts';
import { optionReferenceProblems } from './option-references.ts';

type Labels = Readonly<Record<string, string>>;

interface ServicePort {
  readonly name: string;
  readonly port: number;
  readonly targetPort: string | number;
}

interface Endpoint {
  readonly port: string;
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.name}`;
}

function hasLabels(of: { readonly labels?: Labels }, selector: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => of.labels?.[key] === value);
}

/** The pods that run for long: not those of hooks, which nothing may select. */
function lastingPods(manifests: readonly Manifest[]): readonly Pod[] {
  return podsIn(manifests.filter(({ kind }) => kind !== 'Pod'));
}

function portsOf({ spec }: Pod): readonly (string | number | undefined)[] {
  return containersOf(spec).flatMap(({ ports = [] }) =>
    ports.flatMap(({ name, containerPort }) => [name, containerPort]),
  );
}

/** What is wrong with a selector of pods: it must select those that run for long, and nothing else. */
function selectorProblems(
  from: Manifest,
  manifests: readonly Manifest[],
  selector: Labels,
): readonly string[] {
  const all = lastingPods(manifests);
  const selected = all.filter(({ metadata }) => hasLabels(metadata, selector));
  const hooks = podsIn(ofKind(manifests, 'Pod')).filter(({ metadata }) =>
    hasLabels(metadata, selector),
  );
  return [
    ...(all.length > 0 && selected.length === 0 ? [`${nameOf(from)} selects no pod`] : []),
    ...hooks.map(({ of }) => `${nameOf(from)} selects the hook ${of}`),
  ];
}

function missingPorts(
  from: Manifest,
  pods: readonly Pod[],
  ports: readonly (string | number)[],
): readonly string[] {
  return pods.flatMap((pod) =>
    ports
      .filter((port) => !portsOf(pod).includes(port))
      .map((port) => `${nameOf(from)}: ${pod.of} has no port ${port}`),
  );
}

function serviceProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'Service').flatMap((service) => {
    const { selector, ports } = service.spec as { selector: Labels; ports: readonly ServicePort[] };
    const pods = lastingPods(manifests).filter(({ metadata }) => hasLabels(metadata, selector));
    return [
      ...selectorProblems(service, manifests, selector),
      ...missingPorts(
        service,
        pods,
        ports.map(({ targetPort }) => targetPort),
      ),
    ];
  });
}

/** Two Services that a ServiceMonitor selects mean that everything is scraped twice. */
function serviceMonitorProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'ServiceMonitor').flatMap((monitor) => {
    const { selector, endpoints, namespaceSelector } = monitor.spec as {
      selector: { matchLabels: Labels };
      endpoints: readonly Endpoint[];
      namespaceSelector: { matchNames: readonly string[] };
    };
    const services = ofKind(manifests, 'Service').filter(({ metadata }) =>
      hasLabels(metadata, selector.matchLabels),
    );
    const portNames = new Set(
      services.flatMap((service) =>
        (service.spec as { ports: readonly ServicePort[] }).ports.map(({ name }) => name),
      ),
    );
    return [
      ...(services.length === 1 ? [] : [`${nameOf(monitor)} selects ${services.length} Services`]),
      ...services
        .filter(({ metadata }) => !namespaceSelector.matchNames.includes(metadata.namespace ?? ''))
        .map((service) => `${nameOf(monitor)} does not look where ${nameOf(service)} is`),
      ...endpoints
        .filter(({ port }) => !portNames.has(port))
        .map(({ port }) => `${nameOf(monitor)}: no Service has the port ${port}`),
    ];
  });
}

function podMonitorProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'PodMonitor').flatMap((monitor) => {
    const { selector, podMetricsEndpoints } = monitor.spec as {
      selector: { matchLabels: Labels };
      podMetricsEndpoints: readonly Endpoint[];
    };
    const pods = lastingPods(manifests).filter(({ metadata }) =>
      hasLabels(metadata, selector.matchLabels),
    );
    return [
      ...selectorProblems(monitor, manifests, selector.matchLabels),
      ...missingPorts(
        monitor,
        pods,
        podMetricsEndpoints.map(({ port }) => port),
      ),
    ];
  });
}

function policyProblems(manifests: readonly Manifest[]): readonly string[] {
  const budgets = ofKind(manifests, 'PodDisruptionBudget').flatMap((budget) =>
    selectorProblems(
      budget,
      manifests,
      (budget.spec as { selector: { matchLabels: Labels } }).selector.matchLabels,
    ),
  );
  const policies = ofKind(manifests, 'NetworkPolicy').flatMap((policy) =>
    selectorProblems(
      policy,
      manifests,
      (policy.spec as { podSelector: { matchLabels: Labels } }).podSelector.matchLabels,
    ),
  );
  return [...budgets, ...policies];
}

function statefulSetProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'StatefulSet').flatMap((set) => {
    const { serviceName } = set.spec as { serviceName: string };
    const service = ofKind(manifests, 'Service').find(
      ({ metadata }) => metadata.name === serviceName,
    );
    const isHeadless =
      service !== undefined && (service.spec as { clusterIP?: string }).clusterIP === 'None';
    return isHeadless ? [] : [`${nameOf(set)}: no headless Service ${serviceName}`];
  });
}

function ingressProblems(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'Ingress').flatMap((ingress) => {
    const { rules } = ingress.spec as {
      rules: readonly {
        http: { paths: readonly { backend: { service: { name: string; port: Endpoint } } }[] };
      }[];
    };
    const known = new Set(ofKind(manifests, 'Service').map(({ metadata }) => metadata.name));
    const named = rules.flatMap(({ http }) =>
      http.paths.map(({ backend }) => backend.service.name),
    );
    return [
      ...(named.length === 0 ? [`${nameOf(ingress)} leads nowhere`] : []),
      ...named
        .filter((name) => !known.has(name))
        .map((name) => `${nameOf(ingress)}: no Service ${name}`),
    ];
  });
}

/** Workloads must select their own pods, and never by what changes with a version. */
function workloadProblems(manifests: readonly Manifest[]): readonly string[] {
  return manifests
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
    .flatMap((workload) => {
      const { matchLabels } = (workload.spec as { selector: { matchLabels: Labels } }).selector;
      return [
        ...selectorProblems(workload, manifests, matchLabels),
        ...Object.keys(matchLabels)
          .filter((label) => /helm\.sh\/chart|version|managed-by/u.test(label))
          .map((label) => `${nameOf(workload)} selects by ${label}`),
      ];
    });
}

/** Mounts need volumes, and names must be unique. */
function volumeProblems(manifests: readonly Manifest[]): readonly string[] {
  return podsIn(manifests).flatMap(({ of, spec }) => {
    const names = (spec.volumes ?? []).map(({ name }) => name);
    return [
      ...names
        .filter((name, index) => names.indexOf(name) !== index)
        .map((name) => `${of} has the volume ${name} twice`),
      ...containersOf(spec).flatMap((container) =>
        (container.volumeMounts ?? []).flatMap(({ name, subPath }) => [
          ...(names.includes(name) ? [] : [`${of}: ${container.name} mounts no volume ${name}`]),
          ...(subPath === undefined ? [] : [`${of}: ${name} is never updated, because of subPath`]),
        ]),
      ),
    ];
  });
}

/** Selectors, ports and names that lead nowhere, or to too much. */
export function referenceProblems(manifests: readonly Manifest[]): readonly string[] {
  return [
    ...serviceProblems(manifests),
    ...serviceMonitorProblems(manifests),
    ...podMonitorProblems(manifests),
    ...policyProblems(manifests),
    ...statefulSetProblems(manifests),
    ...ingressProblems(manifests),
    ...workloadProblems(manifests),
    ...volumeProblems(manifests),
    ...optionReferenceProblems(manifests),
  ];
}
