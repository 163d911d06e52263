import { isObject, type JsonObject } from './json.ts';
import {
  amountOfPods,
  annotations,
  dataKey,
  dnsName,
  hostName,
  ipAddress,
  ipRange,
  labelKey,
  labels,
  optionalDnsLabel,
  quantity,
} from './kubernetes-names.ts';
import { lives } from './kubernetes-rules.ts';
import { kubernetesField, kubernetesType } from './kubernetes-types.ts';

type Types = Readonly<Record<string, JsonObject>>;

function listOf(items: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'array', items, ...rest };
}

function mapOf(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', additionalProperties: false, required, properties };
}

/** A type, or an empty text for nothing. */
function optional(type: JsonObject): JsonObject {
  return { anyOf: [{ const: '' }, type] };
}

/** The type of the field of an entry, if the field of the type is a list of maps. */
function fieldOfEntry(list: JsonObject, field: string): JsonObject {
  const { items } = list;
  const properties = isObject(items) ? items['properties'] : undefined;
  const type = isObject(properties) ? properties[field] : undefined;
  if (!isObject(type)) throw new Error(`no entry has the field ${field}`);
  return type;
}

function fieldOf(type: JsonObject, field: string): JsonObject {
  return fieldOfEntry({ items: type }, field);
}

function under(path: string, types: Types): Types {
  return Object.fromEntries(Object.entries(types).map(([key, type]) => [`${path}.${key}`, type]));
}

function fields(type: string, names: readonly string[]): Types {
  return Object.fromEntries(names.map((name) => [name, kubernetesField(type, name)]));
}

const count: JsonObject = { type: 'integer', minimum: 0, maximum: 2_147_483_647 };
const notEmpty: JsonObject = { type: 'string', minLength: 1 };
const metricLabel = '^[a-zA-Z_][a-zA-Z0-9_]*$';
const durationParts = '([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?';
const limits = [
  'sampleLimit',
  'targetLimit',
  'labelLimit',
  'labelNameLengthLimit',
  'labelValueLengthLimit',
];

/** What a monitor and a ScrapeConfig have in common, beside what monitors have had from the first. */
const scraping: Types = {
  scheme: { enum: ['', 'http', 'https'] },
  proxyUrl: optional(kubernetesField('PodMonitorEndpoint', 'proxyUrl')),
  ...fields('PodMonitorSpec', limits),
};

const monitor: Types = {
  ...scraping,
  jobLabel: optional(labelKey),
  targetLabels: listOf(labelKey),
  podTargetLabels: listOf(labelKey),
  attachMetadata: kubernetesField('PodMonitorSpec', 'attachMetadata'),
};

const scrapeConfig: Types = {
  ...scraping,
  ...fields('PodMonitorEndpoint', [
    'interval',
    'scrapeTimeout',
    'tlsConfig',
    'basicAuth',
    'relabelings',
    'metricRelabelings',
  ]),
  labels,
  namespace: optionalDnsLabel,
  targetLabels: {
    type: 'object',
    additionalProperties: false,
    patternProperties: { [metricLabel]: { type: 'string' } },
  },
};

const secretKey = mapOf({ secret: mapOf({ name: dnsName, key: dataKey }, ['name', 'key']) });
const tlsVersion: JsonObject = { enum: ['TLS10', 'TLS11', 'TLS12', 'TLS13'] };

/** Google's objects have their own names for the same things. */
const podMonitoring: Types = {
  labels,
  interval: { type: 'string', minLength: 1, pattern: `^${durationParts}$` },
  timeout: { type: 'string', pattern: `^${durationParts}$` },
  tls: {
    ...mapOf({
      ca: secretKey,
      cert: secretKey,
      key: secretKey,
      insecureSkipVerify: { type: 'boolean' },
      minVersion: tlsVersion,
      maxVersion: tlsVersion,
      serverName: notEmpty,
    }),
    dependencies: { cert: ['key'], key: ['cert'] },
  },
  basicAuth: mapOf({ username: notEmpty, password: secretKey }),
  limits: mapOf({
    samples: count,
    labels: count,
    labelNameLength: count,
    labelValueLength: count,
  }),
  targetLabels: mapOf({
    metadata: listOf({
      enum: ['container', 'node', 'pod', 'top_level_controller_name', 'top_level_controller_type'],
    }),
    fromPod: listOf(
      mapOf({ from: labelKey, to: { type: 'string', pattern: metricLabel } }, ['from']),
    ),
  }),
  metricRelabeling: listOf(
    mapOf({
      action: {
        enum: [
          'replace',
          'lowercase',
          'uppercase',
          'keep',
          'drop',
          'keepequal',
          'dropequal',
          'hashmod',
          'labeldrop',
          'labelkeep',
        ],
      },
      modulus: { type: 'integer', minimum: 1 },
      regex: { type: 'string', maxLength: 10_000 },
      replacement: { type: 'string' },
      separator: { type: 'string' },
      sourceLabels: listOf({ type: 'string', pattern: metricLabel }, { maxItems: 100 }),
      targetLabel: { type: 'string', pattern: metricLabel },
    }),
    { maxItems: 250 },
  ),
};

const routeRules = kubernetesField('HTTPRouteSpec', 'rules');
const httpRoute: Types = {
  labels,
  annotations,
  ...fields('HTTPRouteSpec', ['parentRefs', 'hostnames']),
  matches: fieldOfEntry(routeRules, 'matches'),
  filters: fieldOfEntry(routeRules, 'filters'),
  additionalRules: routeRules,
};

const ingressPath = mapOf({
  path: { type: 'string', pattern: '^/' },
  pathType: { enum: ['Exact', 'Prefix', 'ImplementationSpecific'] },
});
const ingressHost = mapOf({ host: hostName, paths: listOf(ingressPath, { minItems: 1 }) }, [
  'host',
]);

const updatePolicy = kubernetesField('VerticalPodAutoscalerSpec', 'updatePolicy');
const containerPolicies = fieldOf(
  kubernetesField('VerticalPodAutoscalerSpec', 'resourcePolicy'),
  'containerPolicies',
);
const scaled = mapOf({ cpu: quantity, memory: quantity });
const vpa: Types = {
  labels,
  annotations,
  recommenders: {
    ...kubernetesField('VerticalPodAutoscalerSpec', 'recommenders'),
    maxItems: 1,
  },
  updateMode: fieldOf(updatePolicy, 'updateMode'),
  minReplicas: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  controlledResources: listOf({ enum: ['cpu', 'memory'] }, { uniqueItems: true }),
  controlledValues: fieldOfEntry(containerPolicies, 'controlledValues'),
  minAllowed: scaled,
  maxAllowed: scaled,
};

const service: Types = {
  labels,
  nodePort: { type: 'integer', minimum: 0, maximum: 65_535 },
  loadBalancerIP: optional(ipAddress),
  loadBalancerSourceRanges: listOf(ipRange),
  externalTrafficPolicy: { enum: ['', 'Cluster', 'Local'] },
  ipFamilyPolicy: { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  ipFamilies: listOf({ enum: ['IPv4', 'IPv6'] }, { maxItems: 2, uniqueItems: true }),
};

/** An object as Kubernetes has it; it may be of a kind that nobody knows here. */
const manifest = mapOf({}, ['apiVersion', 'kind', 'metadata']);
const extraManifest: JsonObject = {
  ...manifest,
  additionalProperties: true,
  properties: { apiVersion: notEmpty, kind: notEmpty, metadata: { type: 'object' } },
};

/** Types of the values that are off by default, or that only few need. */
export const optionTypes: Types = {
  annotations,
  startupProbe: { allOf: [kubernetesType('Probe'), lives] },
  lifecycle: kubernetesType('Lifecycle'),
  strategy: kubernetesType('DeploymentStrategy'),
  updateStrategy: kubernetesType('StatefulSetUpdateStrategy'),
  minReadySeconds: count,
  revisionHistoryLimit: count,
  dnsPolicy: { enum: ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] },
  extraManifests: {
    type: ['array', 'object'],
    items: { anyOf: [notEmpty, extraManifest] },
    additionalProperties: { anyOf: [{ type: 'null' }, notEmpty, extraManifest] },
  },
  ...under('service', service),
  'ingress.hosts': listOf({ anyOf: [hostName, ingressHost] }),
  ...under('httpRoute', httpRoute),
  'pdb.minAvailable': optional(amountOfPods),
  ...under('vpa', vpa),
  ...under('serviceMonitor', monitor),
  ...under('podMonitor', monitor),
  ...under('scrapeConfig', scrapeConfig),
  ...under('podMonitoring', podMonitoring),
  'dashboards.labels': labels,
  'dashboards.annotations': annotations,
  'dashboards.grafanaOperator.instanceSelector': kubernetesType('LabelSelector'),
  'dashboards.grafanaOperator.resyncPeriod': {
    type: 'string',
    pattern: '^(([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)?$',
  },
};
