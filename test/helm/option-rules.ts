import type { JsonObject } from './json.ts';

const text: JsonObject = { type: 'string', minLength: 1 };
const texts: JsonObject = { type: 'array', items: text };
const textMap: JsonObject = { type: 'object', additionalProperties: { type: 'string' } };
const count: JsonObject = { type: 'integer', minimum: 0 };
const quantity: JsonObject = {
  type: ['string', 'number'],
  pattern: '^([0-9]+(\\.[0-9]+)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE])?$',
};
const quantities: JsonObject = closed({ cpu: quantity, memory: quantity });
/** As Prometheus writes durations; without the empty one for intervals that must be there. */
const prometheusDuration =
  '([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?';
const duration: JsonObject = { type: 'string', pattern: `^${prometheusDuration}$` };
const interval: JsonObject = { ...duration, minLength: 1 };
const goDuration: JsonObject = {
  type: 'string',
  pattern: '^(([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)?$',
};
const proxyUrl: JsonObject = { type: 'string', pattern: '^((http|https|socks5)://.+)?$' };
const scheme: JsonObject = { enum: ['', 'http', 'https'] };
const amountOfPods: JsonObject = {
  type: ['integer', 'string'],
  minimum: 0,
  pattern: '^([0-9]+%)?$',
};
const metricLabel: JsonObject = { type: 'string', pattern: '^[a-zA-Z_][a-zA-Z0-9_]*$' };

function closed(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return { type: 'object', additionalProperties: false, required, properties };
}

function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

const secretKey = closed({ secret: closed({ name: text, key: text }, ['name', 'key']) });

/** What a monitor of the Prometheus Operator and a ScrapeConfig have in common. */
function scrapeRules(path: string): Readonly<Record<string, JsonObject>> {
  return {
    [`${path}.scheme`]: scheme,
    [`${path}.proxyUrl`]: proxyUrl,
    [`${path}.sampleLimit`]: count,
    [`${path}.targetLimit`]: count,
    [`${path}.labelLimit`]: count,
    [`${path}.labelNameLengthLimit`]: count,
    [`${path}.labelValueLengthLimit`]: count,
  };
}

function monitorRules(path: string): Readonly<Record<string, JsonObject>> {
  return {
    ...scrapeRules(path),
    [`${path}.targetLabels`]: texts,
    [`${path}.podTargetLabels`]: texts,
    [`${path}.attachMetadata`]: closed({ node: { type: 'boolean' } }),
  };
}

const googleRelabeling = closed({
  action: {
    enum: [
      ...['replace', 'lowercase', 'uppercase', 'keep', 'drop', 'keepequal', 'dropequal'],
      ...['hashmod', 'labeldrop', 'labelkeep'],
    ],
  },
  modulus: { type: 'integer' },
  regex: { type: 'string', maxLength: 10_000 },
  replacement: { type: 'string' },
  separator: { type: 'string' },
  sourceLabels: { ...listOf(metricLabel), maxItems: 100 },
  targetLabel: metricLabel,
});

/** Google's objects have their own names for the same things. */
const podMonitoringRules: Readonly<Record<string, JsonObject>> = {
  'podMonitoring.labels': textMap,
  'podMonitoring.interval': interval,
  'podMonitoring.timeout': duration,
  'podMonitoring.tls': {
    dependencies: { cert: ['key'], key: ['cert'] },
    ...closed({
      ca: secretKey,
      cert: secretKey,
      key: secretKey,
      insecureSkipVerify: { type: 'boolean' },
      maxVersion: { enum: ['TLS10', 'TLS11', 'TLS12', 'TLS13'] },
      minVersion: { enum: ['TLS10', 'TLS11', 'TLS12', 'TLS13'] },
      serverName: text,
    }),
  },
  'podMonitoring.basicAuth': closed({ username: text, password: secretKey }),
  'podMonitoring.limits': closed({
    samples: count,
    labels: count,
    labelNameLength: count,
    labelValueLength: count,
  }),
  'podMonitoring.targetLabels': closed({
    metadata: listOf({
      enum: [
        ...['pod', 'container', 'node'],
        ...['top_level_controller_name', 'top_level_controller_type'],
      ],
    }),
    fromPod: listOf(closed({ from: text, to: metricLabel }, ['from'])),
  }),
  'podMonitoring.metricRelabeling': listOf(googleRelabeling),
};

const deploymentStrategy = closed(
  {
    type: { enum: ['Recreate', 'RollingUpdate'] },
    rollingUpdate: closed({ maxSurge: amountOfPods, maxUnavailable: amountOfPods }),
  },
  ['type'],
);

const statefulSetStrategy = closed({
  type: { enum: ['RollingUpdate', 'OnDelete'] },
  rollingUpdate: closed({ maxUnavailable: amountOfPods, partition: count }),
});

const ingressHost: JsonObject = {
  anyOf: [
    text,
    closed(
      {
        host: text,
        paths: {
          type: 'array',
          minItems: 1,
          items: closed({
            path: { type: 'string', pattern: '^/' },
            pathType: { enum: ['Exact', 'Prefix', 'ImplementationSpecific'] },
          }),
        },
      },
      ['host'],
    ),
  ],
};

/** Rules for values that are off by default, or that only few need: what their defaults do not tell. */
export const optionRules: Readonly<Record<string, JsonObject>> = {
  annotations: textMap,
  startupProbe: { type: 'object' },
  lifecycle: { type: 'object' },
  strategy: deploymentStrategy,
  updateStrategy: statefulSetStrategy,
  minReadySeconds: count,
  revisionHistoryLimit: count,
  dnsPolicy: { enum: ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] },
  extraManifests: {
    type: ['array', 'object'],
    items: { type: ['object', 'string'] },
    additionalProperties: { type: ['object', 'string', 'null'] },
  },
  'service.labels': textMap,
  'service.nodePort': { type: 'integer', minimum: 0, maximum: 65_535 },
  'service.loadBalancerSourceRanges': texts,
  'service.externalTrafficPolicy': { enum: ['', 'Cluster', 'Local'] },
  'service.ipFamilyPolicy': { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  'service.ipFamilies': {
    type: 'array',
    maxItems: 2,
    uniqueItems: true,
    items: { enum: ['IPv4', 'IPv6'] },
  },
  'ingress.hosts': { type: 'array', items: ingressHost },
  'httpRoute.labels': textMap,
  'httpRoute.annotations': textMap,
  'httpRoute.hostnames': texts,
  'pdb.minAvailable': amountOfPods,
  'vpa.labels': textMap,
  'vpa.annotations': textMap,
  'vpa.recommenders': { ...listOf(closed({ name: text }, ['name'])), maxItems: 1 },
  'vpa.updateMode': {
    enum: ['Off', 'Initial', 'Recreate', 'InPlaceOrRecreate', 'InPlace', 'Auto'],
  },
  'vpa.minReplicas': { type: 'integer', minimum: 1 },
  'vpa.controlledResources': { ...listOf({ enum: ['cpu', 'memory'] }), uniqueItems: true },
  'vpa.controlledValues': { enum: ['RequestsAndLimits', 'RequestsOnly'] },
  'vpa.minAllowed': quantities,
  'vpa.maxAllowed': quantities,
  ...monitorRules('serviceMonitor'),
  ...monitorRules('podMonitor'),
  ...scrapeRules('scrapeConfig'),
  'scrapeConfig.labels': textMap,
  'scrapeConfig.interval': duration,
  'scrapeConfig.scrapeTimeout': duration,
  // As propertyNames, helm would name another value in its message.
  'scrapeConfig.targetLabels': {
    type: 'object',
    additionalProperties: false,
    patternProperties: { '^[a-zA-Z_][a-zA-Z0-9_]*$': { type: 'string' } },
  },
  'scrapeConfig.tlsConfig': { type: 'object' },
  'scrapeConfig.basicAuth': { type: 'object' },
  ...podMonitoringRules,
  'dashboards.labels': textMap,
  'dashboards.annotations': textMap,
  'dashboards.grafanaOperator.instanceSelector': closed({
    matchLabels: textMap,
    matchExpressions: listOf(
      closed(
        {
          key: text,
          operator: { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: texts,
        },
        ['key', 'operator'],
      ),
    ),
  }),
  'dashboards.grafanaOperator.resyncPeriod': goDuration,
};
