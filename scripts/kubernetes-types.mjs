/**
 * Writes test/helm/kubernetes-types.json: what an API server says of the types that values of the chart are
 * passed on as. values.schema.json is made of it.
 *
 *   KUBECONFIG=FILE node scripts/kubernetes-types.mjs
 *
 * The server must have the custom resources of the Prometheus Operator, of the Gateway API and of the Vertical Pod
 * Autoscaler. It is only read. The newest Kubernetes knows all fields of the older ones.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const target = new URL('../test/helm/kubernetes-types.json', import.meta.url);

/** Types of Kubernetes itself, by API. What they refer to is added. */
const wanted = {
  'apis/apps/v1': ['DeploymentStrategy', 'StatefulSetUpdateStrategy'],
  'apis/networking.k8s.io/v1': ['IngressTLS', 'NetworkPolicyEgressRule', 'NetworkPolicyPeer'],
  'api/v1': [
    'Affinity',
    'Container',
    'EnvFromSource',
    'EnvVar',
    'HostAlias',
    'Lifecycle',
    'PodDNSConfig',
    'PodSecurityContext',
    'Probe',
    'ResourceRequirements',
    'SecurityContext',
    'Toleration',
    'TopologySpreadConstraint',
    'Volume',
    'VolumeMount',
  ],
};

/** Parts of custom resources: the name that they get, and where they are in the schema. */
const parts = {
  'apis/monitoring.coreos.com/v1': {
    ServiceMonitorEndpoint: ['ServiceMonitor', 'spec', 'endpoints', '[]'],
    ServiceMonitorSpec: ['ServiceMonitor', 'spec'],
    PodMonitorEndpoint: ['PodMonitor', 'spec', 'podMetricsEndpoints', '[]'],
    PodMonitorSpec: ['PodMonitor', 'spec'],
    RuleGroup: ['PrometheusRule', 'spec', 'groups', '[]'],
  },
  'apis/gateway.networking.k8s.io/v1': {
    HTTPRouteSpec: ['HTTPRoute', 'spec'],
  },
  'apis/autoscaling.k8s.io/v1': {
    VerticalPodAutoscalerSpec: ['VerticalPodAutoscaler', 'spec'],
  },
};

/** Left out: what no pod of the chart needs, or what Kubernetes has only behind a feature gate. */
const leftOut = {
  Container: ['resizePolicy', 'restartPolicyRules', 'volumeDevices'],
  EnvVarSource: ['fileKeyRef'],
  Lifecycle: ['stopSignal'],
  PodSecurityContext: ['windowsOptions'],
  ResourceRequirements: ['claims'],
  SecurityContext: ['windowsOptions'],
  ServiceMonitorSpec: ['endpoints'],
  PodMonitorSpec: ['podMetricsEndpoints'],
  Volume: [
    // Replaced by CSI drivers.
    'awsElasticBlockStore',
    'azureDisk',
    'azureFile',
    'cephfs',
    'cinder',
    'fc',
    'flexVolume',
    'flocker',
    'gcePersistentDisk',
    'gitRepo',
    'glusterfs',
    'iscsi',
    'photonPersistentDisk',
    'portworxVolume',
    'quobyte',
    'rbd',
    'scaleIO',
    'storageos',
    'vsphereVolume',
    // For data that must outlive a restart, which the exporter does not have.
    'ephemeral',
  ],
  VolumeProjection: ['clusterTrustBundle', 'podCertificate'],
};

/** Keywords that mean the same in JSON Schema, and that Helm checks. */
const kept = new Set([
  'type',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
]);

async function schemasOf(api) {
  const { stdout } = await run('kubectl', ['get', '--raw', `/openapi/v3/${api}`], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout).components.schemas;
}

function shortName(reference) {
  return reference.split('.').at(-1);
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

/** A schema of OpenAPI as one of JSON Schema that allows nothing unknown. */
function closed(schema) {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return { $ref: `#/definitions/${shortName(reference)}` };
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') {
    // Custom resources write a quantity as a number or a text with a pattern.
    return { $ref: `#/definitions/${schema.pattern === undefined ? 'IntOrString' : 'Quantity'}` };
  }
  const { properties, items, additionalProperties } = schema;
  const children = {
    ...(items !== undefined && { items: closed(items) }),
    ...(properties !== undefined && {
      additionalProperties: false,
      properties: mapValues(properties, closed),
    }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: closed(additionalProperties),
    }),
  };
  // A pattern that only Go understands would be an error to an editor.
  const own = Object.entries(schema).filter(
    ([key, value]) => kept.has(key) && !(key === 'pattern' && String(value).includes('(?i)')),
  );
  return { ...Object.fromEntries(own), ...children };
}

function without(schema, keys = []) {
  const properties = Object.entries(schema.properties).filter(([key]) => !keys.includes(key));
  return { ...schema, properties: Object.fromEntries(properties) };
}

function referencesIn(schema) {
  return [...JSON.stringify(schema).matchAll(/#\/definitions\/([A-Za-z0-9]+)/gu)].map(
    ([, name]) => name,
  );
}

function named(schemas, name) {
  const candidates = Object.keys(schemas).filter((key) => shortName(key) === name);
  const [key] = candidates;
  if (key === undefined || candidates.length > 1) {
    throw new Error(`${name} is ${candidates.length} types: ${candidates.join(', ')}`);
  }
  return schemas[key];
}

function partAt(schemas, [kind, ...path]) {
  return path.reduce(
    (schema, key) => (key === '[]' ? schema.items : schema.properties[key]),
    named(schemas, kind),
  );
}

async function main() {
  const types = {};
  for (const [api, roots] of Object.entries(wanted)) {
    const schemas = await schemasOf(api);
    const open = [...roots];
    while (open.length > 0) {
      const name = open.pop();
      if (name in types || name === 'IntOrString' || name === 'Quantity') continue;
      types[name] = without(closed(named(schemas, name)), leftOut[name]);
      open.push(...referencesIn(types[name]));
    }
  }
  for (const [api, roots] of Object.entries(parts)) {
    const schemas = await schemasOf(api);
    for (const [name, path] of Object.entries(roots)) {
      types[name] = without(closed(partAt(schemas, path)), leftOut[name]);
    }
  }
  const lines = Object.keys(types)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}: ${JSON.stringify(types[name])}`);
  await writeFile(target, `{\n${lines.join(',\n')}\n}\n`);
}

await main();
