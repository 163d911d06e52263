import type { JsonObject } from './json.ts';
import {
  amountOfPods,
  annotations,
  dataKey,
  dnsLabel,
  dnsName,
  labelKey,
  labels,
  labelValue,
  optionalDnsLabel,
  optionalDnsName,
  portName,
  portNumber,
} from './kubernetes-names.ts';
import { isReady, lives } from './kubernetes-rules.ts';
import { kubernetesField, kubernetesType } from './kubernetes-types.ts';
import { optionTypes } from './option-types.ts';

function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

function mapOf(required: readonly string[], properties: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, required, properties };
}

const notEmpty: JsonObject = { type: 'string', minLength: 1 };
/** Without spaces; registries decide about the rest. */
const imagePart: JsonObject = { type: 'string', pattern: '^\\S*$' };

/** As other charts take it: the name alone, or as Kubernetes writes it. */
const pullSecret: JsonObject = { anyOf: [dnsName, mapOf(['name'], { name: dnsName })] };

/** Only an init container has a restart policy: as a native sidecar, which may have probes then. */
const extraContainer: JsonObject = {
  allOf: [kubernetesType('Container'), { not: { required: ['restartPolicy'] } }],
};
const extraInitContainer: JsonObject = {
  allOf: [
    kubernetesType('Container'),
    {
      if: { required: ['restartPolicy'] },
      else: {
        not: {
          anyOf: ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'].map((field) => ({
            required: [field],
          })),
        },
      },
    },
  ],
};

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

/** The fields of a monitor that its custom resource has under the same name. */
function monitorTypes(path: string, endpoint: string): Readonly<Record<string, JsonObject>> {
  return {
    [`${path}.labels`]: labels,
    [`${path}.namespace`]: optionalDnsLabel,
    ...Object.fromEntries(
      [
        'interval',
        'scrapeTimeout',
        'tlsConfig',
        'basicAuth',
        'relabelings',
        'metricRelabelings',
      ].map((field) => [`${path}.${field}`, kubernetesField(endpoint, field)]),
    ),
  };
}

/** What a default does not tell of a value. Every map and every list is here. */
export const valueTypes: Readonly<Record<string, JsonObject>> = {
  mode: { enum: ['deployment', 'statefulset', 'sidecar', 'none'] },
  replicas: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  'sharding.mode': { enum: ['none', 'static'] },
  configExistingConfigMap: optionalDnsName,
  configReload: { enum: ['hot', 'rollout'] },
  'apiKey.existingSecret': optionalDnsName,
  'apiKey.existingSecretKey': dataKey,
  accounts: listOf(
    mapOf(['name'], {
      name: notEmpty,
      existingSecret: optionalDnsName,
      existingSecretKey: dataKey,
      value: { type: 'string' },
    }),
  ),
  'image.registry': imagePart,
  'image.repository': { type: 'string', pattern: '^\\S+$' },
  'image.tag': { type: 'string', pattern: '^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$' },
  'image.digest': { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  'image.pullSecrets': listOf(pullSecret),
  'global.imageRegistry': imagePart,
  'global.imagePullSecrets': listOf(pullSecret),
  nameOverride: optionalDnsLabel,
  // Also the name of a Service, which begins with a letter.
  fullnameOverride: { type: 'string', pattern: '^([a-z]([-a-z0-9]*[a-z0-9])?)?$' },
  namespaceOverride: optionalDnsLabel,
  commonLabels: labels,
  'web.port': portNumber,
  'web.telemetryPath': { type: 'string', pattern: '^(/[A-Za-z0-9_.~-]+)+$' },
  'web.configExistingSecret': optionalDnsName,
  'web.configExistingSecretKey': dataKey,
  'web.tlsExistingSecret': optionalDnsName,
  'web.scheme': { enum: ['http', 'https'] },
  'log.level': { enum: ['debug', 'info', 'warn', 'error'] },
  'log.format': { enum: ['json', 'pretty', 'auto'] },
  'sidecar.native': { enum: ['auto', true, false] },
  'sidecar.containerName': dnsLabel,
  'sidecar.portName': portName,
  'sidecar.securityContext': sidecarSecurityContext,
  'sidecar.resources': kubernetesType('ResourceRequirements'),
  podSecurityContext: kubernetesType('PodSecurityContext'),
  securityContext: kubernetesType('SecurityContext'),
  'serviceAccount.name': optionalDnsName,
  'serviceAccount.annotations': annotations,
  resources: kubernetesType('ResourceRequirements'),
  // In how many ways they ask is for a sentence: the chart's own way may have to be taken out.
  livenessProbe: { allOf: [kubernetesType('Probe'), lives] },
  readinessProbe: { allOf: [kubernetesType('Probe'), isReady] },
  terminationGracePeriodSeconds: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  podAnnotations: annotations,
  podLabels: labels,
  nodeSelector: labels,
  tolerations: listOf(kubernetesType('Toleration')),
  affinity: kubernetesType('Affinity'),
  topologySpreadConstraints: listOf(kubernetesType('TopologySpreadConstraint')),
  priorityClassName: optionalDnsName,
  dnsConfig: kubernetesType('PodDNSConfig'),
  hostAliases: listOf(kubernetesType('HostAlias')),
  extraArgs: listOf({ type: 'string' }),
  extraEnv: listOf(kubernetesType('EnvVar')),
  extraEnvFrom: listOf(kubernetesType('EnvFromSource')),
  extraVolumes: listOf(kubernetesType('Volume')),
  extraVolumeMounts: listOf(kubernetesType('VolumeMount')),
  extraContainers: listOf(extraContainer),
  extraInitContainers: listOf(extraInitContainer),
  'service.type': { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
  'service.port': portNumber,
  'service.annotations': annotations,
  'ingress.className': optionalDnsName,
  'ingress.annotations': annotations,
  'ingress.tls': listOf(kubernetesType('IngressTLS')),
  ...monitorTypes('serviceMonitor', 'ServiceMonitorEndpoint'),
  ...monitorTypes('podMonitor', 'PodMonitorEndpoint'),
  'prometheusRule.labels': labels,
  'prometheusRule.namespace': optionalDnsLabel,
  'prometheusRule.grafanaUrl': { type: 'string', pattern: '^(https?://[^?#]+)?$' },
  'prometheusRule.extraGroups': listOf(kubernetesType('RuleGroup')),
  'dashboards.label': labelKey,
  'dashboards.labelValue': labelValue,
  'dashboards.folderAnnotation': labelKey,
  'dashboards.namespace': optionalDnsLabel,
  'networkPolicy.ingressFrom': listOf(kubernetesType('NetworkPolicyPeer')),
  'networkPolicy.egress.extra': listOf(kubernetesType('NetworkPolicyEgressRule')),
  'pdb.maxUnavailable': amountOfPods,
  ...optionTypes,
};
