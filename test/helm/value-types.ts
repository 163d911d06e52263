import type { JsonObject } from './json.ts';
import { kubernetesField, kubernetesType } from './kubernetes-types.ts';

type Types = Readonly<Record<string, JsonObject>>;

function listOf(items: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'array', items, ...rest };
}

function mapOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', additionalProperties: false, required, properties };
}

function under(path: string, types: Types): Types {
  return Object.fromEntries(Object.entries(types).map(([key, type]) => [`${path}.${key}`, type]));
}

function fields(type: string, names: readonly string[]): Types {
  return Object.fromEntries(names.map((name) => [name, kubernetesField(type, name)]));
}

/** A type, or an empty text for nothing. */
function optional(type: JsonObject): JsonObject {
  return { anyOf: [{ const: '' }, type] };
}

const notEmpty: JsonObject = { type: 'string', minLength: 1 };
const text: JsonObject = { type: 'string' };
const anyMap: JsonObject = { type: 'object' };
/** Labels, annotations: YAML makes a number of 1 and a boolean of "on", which Kubernetes refuses. */
const texts: JsonObject = { type: 'object', additionalProperties: text };
const portNumber: JsonObject = { type: 'integer', minimum: 1, maximum: 65_535 };
const amountOfPods: JsonObject = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^(100|[1-9]?[0-9])%$',
};
const metricLabel = '^[a-zA-Z_][a-zA-Z0-9_]*$';
const schemes: JsonObject = { enum: ['', 'http', 'https'] };

/** As other charts take it: the name alone, or as Kubernetes writes it. */
const pullSecrets = listOf({ anyOf: [notEmpty, mapOf({ name: notEmpty }, ['name'])] });

/** An entry that is null, or empty because Helm has not taken the null away, takes the chart's own out. */
function removable(type: JsonObject): JsonObject {
  return { anyOf: [{ enum: [null, ''] }, type] };
}

const sidecarSecurityContext: JsonObject = {
  type: ['object', 'null'],
  additionalProperties: false,
  properties: Object.fromEntries(
    [
      'allowPrivilegeEscalation',
      'appArmorProfile',
      'capabilities',
      'privileged',
      'procMount',
      'readOnlyRootFilesystem',
      'runAsGroup',
      'runAsNonRoot',
      'runAsUser',
      'seLinuxOptions',
      'seccompProfile',
    ].map((field) => [field, removable(kubernetesField('SecurityContext', field))]),
  ),
};

const scraped = ['interval', 'scrapeTimeout', 'tlsConfig', 'basicAuth'];
const relabeled = ['relabelings', 'metricRelabelings'];

/** What the monitors and the ScrapeConfig of the Prometheus Operator have under the same names. */
function monitorTypes(endpoint: string): Types {
  return {
    ...fields(endpoint, [...scraped, ...relabeled]),
    labels: texts,
    annotations: texts,
    scheme: schemes,
    proxyUrl: optional(kubernetesField('PodMonitorEndpoint', 'proxyUrl')),
    targetLabels: listOf(notEmpty),
    podTargetLabels: listOf(notEmpty),
    attachMetadata: kubernetesField('PodMonitorSpec', 'attachMetadata'),
  };
}

const pods: Types = {
  podSecurityContext: kubernetesType('PodSecurityContext'),
  securityContext: kubernetesType('SecurityContext'),
  resources: kubernetesType('ResourceRequirements'),
  startupProbe: kubernetesType('Probe'),
  livenessProbe: kubernetesType('Probe'),
  readinessProbe: kubernetesType('Probe'),
  lifecycle: kubernetesType('Lifecycle'),
  strategy: kubernetesType('DeploymentStrategy'),
  updateStrategy: kubernetesType('StatefulSetUpdateStrategy'),
  annotations: texts,
  podAnnotations: texts,
  podLabels: texts,
  nodeSelector: texts,
  tolerations: listOf(kubernetesType('Toleration')),
  affinity: kubernetesType('Affinity'),
  topologySpreadConstraints: listOf(kubernetesType('TopologySpreadConstraint')),
  dnsPolicy: { enum: ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] },
  dnsConfig: kubernetesType('PodDNSConfig'),
  hostAliases: listOf(kubernetesType('HostAlias')),
  extraArgs: listOf(text),
  extraEnv: listOf(kubernetesType('EnvVar')),
  extraEnvFrom: listOf(kubernetesType('EnvFromSource')),
  extraVolumes: listOf(kubernetesType('Volume')),
  extraVolumeMounts: listOf(kubernetesType('VolumeMount')),
  extraContainers: listOf(kubernetesType('Container')),
  extraInitContainers: listOf(kubernetesType('Container')),
};

const service: Types = {
  type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
  port: portNumber,
  annotations: texts,
  labels: texts,
  loadBalancerSourceRanges: listOf(notEmpty),
  externalTrafficPolicy: { enum: ['', 'Cluster', 'Local'] },
  ipFamilyPolicy: { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  ipFamilies: listOf({ enum: ['IPv4', 'IPv6'] }, { maxItems: 2, uniqueItems: true }),
};

const ingressPath = mapOf({
  path: { type: 'string', pattern: '^/' },
  pathType: { enum: ['Exact', 'Prefix', 'ImplementationSpecific'] },
});
const ingressHost = mapOf({ host: notEmpty, paths: listOf(ingressPath, { minItems: 1 }) }, [
  'host',
]);
/** The name of a host, or a template of it: what comes out of that is checked by the chart. */
const hostName: JsonObject = { type: 'string', pattern: String.raw`^[^/:]+$|\{\{` };

const httpRoute: Types = {
  labels: texts,
  annotations: texts,
  ...fields('HTTPRouteSpec', ['parentRefs']),
  hostnames: listOf(hostName, { maxItems: 16 }),
  matches: kubernetesField('HTTPRouteSpec', 'rules', 'matches'),
  filters: kubernetesField('HTTPRouteSpec', 'rules', 'filters'),
  additionalRules: kubernetesField('HTTPRouteSpec', 'rules'),
};

const scaled = mapOf({ cpu: kubernetesType('Quantity'), memory: kubernetesType('Quantity') });
const policies = ['VerticalPodAutoscalerSpec', 'resourcePolicy', 'containerPolicies'] as const;
const vpa: Types = {
  labels: texts,
  annotations: texts,
  recommenders: kubernetesField('VerticalPodAutoscalerSpec', 'recommenders'),
  updateMode: kubernetesField('VerticalPodAutoscalerSpec', 'updatePolicy', 'updateMode'),
  controlledResources: listOf({ enum: ['cpu', 'memory'] }, { uniqueItems: true }),
  controlledValues: kubernetesField(...policies, 'controlledValues'),
  minAllowed: scaled,
  maxAllowed: scaled,
};

/** Google's objects, whose schema is not to be had. */
const podMonitoring: Types = {
  labels: texts,
  annotations: texts,
  interval: notEmpty,
  tls: anyMap,
  basicAuth: anyMap,
  limits: anyMap,
  targetLabels: anyMap,
  metricRelabeling: listOf(anyMap),
};

/** An object as Kubernetes has it; it may be of a kind that nobody knows here. */
const extraManifest: JsonObject = {
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata'],
  properties: { apiVersion: notEmpty, kind: notEmpty, metadata: anyMap },
};

/** What a default does not tell of a value. Every map and every list is here. */
export const valueTypes: Types = {
  mode: { enum: ['deployment', 'statefulset', 'sidecar', 'none'] },
  'sharding.mode': { enum: ['none', 'static'] },
  configReload: { enum: ['hot', 'rollout'] },
  accounts: listOf(
    mapOf({ name: notEmpty, existingSecret: text, existingSecretKey: text, value: text }, ['name']),
  ),
  includeConfigMaps: listOf(mapOf({ name: notEmpty, optional: { type: 'boolean' } }, ['name'])),
  'image.digest': { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  'image.pullSecrets': pullSecrets,
  'global.imagePullSecrets': pullSecrets,
  commonLabels: texts,
  'web.port': portNumber,
  'web.telemetryPath': { type: 'string', pattern: '^(/[A-Za-z0-9_.~-]+)+$' },
  'web.scheme': { enum: ['http', 'https'] },
  'log.level': { enum: ['debug', 'info', 'warn', 'error'] },
  'log.format': { enum: ['json', 'pretty', 'auto'] },
  'sidecar.native': { enum: ['auto', true, false] },
  'sidecar.securityContext': sidecarSecurityContext,
  'sidecar.resources': kubernetesType('ResourceRequirements'),
  'serviceAccount.annotations': texts,
  ...pods,
  extraManifests: {
    type: ['array', 'object'],
    items: { anyOf: [notEmpty, extraManifest] },
    additionalProperties: { anyOf: [{ type: 'null' }, notEmpty, extraManifest] },
  },
  ...under('service', service),
  'ingress.annotations': texts,
  'ingress.hosts': listOf({ anyOf: [hostName, ingressHost] }),
  'ingress.tls': listOf(kubernetesType('IngressTLS')),
  ...under('httpRoute', httpRoute),
  ...under('serviceMonitor', monitorTypes('ServiceMonitorEndpoint')),
  ...under('podMonitor', monitorTypes('PodMonitorEndpoint')),
  ...under('scrapeConfig', {
    ...monitorTypes('PodMonitorEndpoint'),
    targetLabels: {
      type: 'object',
      additionalProperties: false,
      patternProperties: { [metricLabel]: text },
    },
  }),
  ...under('podMonitoring', podMonitoring),
  'prometheusRule.labels': texts,
  'prometheusRule.annotations': texts,
  'prometheusRule.disabled': listOf(notEmpty, { uniqueItems: true }),
  'prometheusRule.overrides': {
    type: 'object',
    additionalProperties: mapOf({
      for: kubernetesField('RuleGroup', 'rules', 'for'),
      labels: texts,
      annotations: texts,
    }),
  },
  'prometheusRule.grafanaUrl': { type: 'string', pattern: '^(https?://[^?#]+)?$' },
  'prometheusRule.extraGroups': listOf(kubernetesType('RuleGroup')),
  'dashboards.labels': texts,
  'dashboards.annotations': texts,
  'dashboards.grafanaOperator.instanceSelector': kubernetesType('LabelSelector'),
  'networkPolicy.ingressFrom': listOf(kubernetesType('NetworkPolicyPeer')),
  'networkPolicy.egress.extra': listOf(kubernetesType('NetworkPolicyEgressRule')),
  'pdb.maxUnavailable': amountOfPods,
  'pdb.minAvailable': optional(amountOfPods),
  'pdb.unhealthyPodEvictionPolicy': { enum: ['', 'AlwaysAllow', 'IfHealthyBudget'] },
  ...under('vpa', vpa),
};
