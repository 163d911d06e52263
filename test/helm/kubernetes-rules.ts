import type { JsonObject } from './json.ts';
import {
  amountOfPods,
  amounts,
  dataKey,
  dnsLabel,
  dnsName,
  environmentName,
  hostName,
  ipAddress,
  ipRange,
  labelKey,
  labels,
  labelValue,
  optionalLabelKey,
  portName,
  portNameOrNumber,
  portNumber,
  relativePath,
} from './kubernetes-names.ts';

const userId: JsonObject = { type: 'integer', minimum: 0, maximum: 2_147_483_647 };
const fileMode: JsonObject = { type: 'integer', minimum: 0, maximum: 0o777 };
const weight: JsonObject = { type: 'integer', minimum: 1, maximum: 100 };
const notEmpty: JsonObject = { type: 'string', minLength: 1 };
const oneOf: JsonObject = { minProperties: 1, maxProperties: 1 };

/** A map that has `value` under `key` must also be as `demanded`. */
function demands(key: string, value: JsonObject, demanded: JsonObject): JsonObject {
  return { if: { not: { required: [key], properties: { [key]: value } } }, else: demanded };
}

function listOf(items: JsonObject, rest: JsonObject = {}): JsonObject {
  return { type: 'array', items, ...rest };
}

function withProperties(properties: JsonObject, required: readonly string[] = []): JsonObject {
  return required.length === 0 ? { properties } : { required, properties };
}

/** With "In" a selector needs values, with "Exists" it must not have any. */
const requirement: JsonObject = {
  allOf: [
    demands(
      'operator',
      { enum: ['In', 'NotIn'] },
      withProperties({ values: { minItems: 1 } }, ['values']),
    ),
    demands(
      'operator',
      { enum: ['Exists', 'DoesNotExist'] },
      withProperties({ values: { maxItems: 0 } }),
    ),
    demands(
      'operator',
      { enum: ['Gt', 'Lt'] },
      withProperties(
        { values: { minItems: 1, maxItems: 1, items: { pattern: '^-?[0-9]{1,18}$' } } },
        ['values'],
      ),
    ),
  ],
};

/** A profile has a file if, and only if, it is a local one. */
const localProfile: JsonObject = {
  allOf: [
    demands('type', { const: 'Localhost' }, { required: ['localhostProfile'] }),
    demands(
      'type',
      { enum: ['RuntimeDefault', 'Unconfined'] },
      withProperties({ localhostProfile: { maxLength: 0 } }),
    ),
  ],
};

const noContradiction: JsonObject = {
  allOf: [
    demands(
      'privileged',
      { const: true },
      withProperties({ allowPrivilegeEscalation: { const: true } }),
    ),
    demands(
      'capabilities',
      {
        required: ['add'],
        properties: { add: { contains: { enum: ['SYS_ADMIN', 'CAP_SYS_ADMIN'] } } },
      },
      withProperties({ allowPrivilegeEscalation: { const: true } }),
    ),
  ],
};

const toleration: JsonObject = {
  allOf: [
    demands('operator', { const: 'Exists' }, withProperties({ value: { maxLength: 0 } })),
    demands(
      'tolerationSeconds',
      {},
      withProperties({ effect: { const: 'NoExecute' } }, ['effect']),
    ),
    {
      if: { required: ['key'], properties: { key: { minLength: 1 } } },
      else: withProperties({ operator: { const: 'Exists' } }, ['operator']),
    },
  ],
};

const podField = String.raw`metadata\.(name|namespace|uid)|metadata\.(labels|annotations)\['([a-z0-9.-]+/)?[A-Za-z0-9._-]*[A-Za-z0-9]'\]`;
const environmentField: JsonObject = {
  type: 'string',
  pattern: String.raw`^(${podField}|spec\.(nodeName|serviceAccountName)|status\.(hostIPs?|podIPs?))$`,
};
const fileField: JsonObject = {
  type: 'string',
  pattern: String.raw`^(${podField}|metadata\.(labels|annotations))$`,
};

function fieldReference(field: JsonObject): JsonObject {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['fieldPath'],
    properties: { apiVersion: { const: 'v1' }, fieldPath: field },
  };
}

const containerResource: JsonObject = {
  type: 'string',
  pattern: '^(limits|requests)\\.(cpu|memory|ephemeral-storage)$',
};
/** Of a probe that says whether a container lives: it may not ask for several successes. */
export const lives: JsonObject = withProperties({ successThreshold: { maximum: 1 } });
/** Of a probe that says whether a container is ready: it ends nothing, so it has no grace period. */
export const isReady: JsonObject = { not: { required: ['terminationGracePeriodSeconds'] } };

/** A probe asks in exactly one way. */
const asksOnce: JsonObject = {
  oneOf: ['exec', 'grpc', 'httpGet', 'tcpSocket'].map((handler) => ({ required: [handler] })),
};

function probe(rule: JsonObject): JsonObject {
  return { allOf: [{ $ref: '#/definitions/Probe' }, asksOnce, rule] };
}

const nameRequired: JsonObject = { required: ['name'] };

/**
 * What an API server demands beyond its own schema. Of a type it is added; of a property of a type it
 * replaces what the schema says.
 */
export const kubernetesRules: Readonly<Record<string, JsonObject>> = {
  AppArmorProfile: localProfile,
  'CSIVolumeSource.driver': dnsName,
  ConfigMapEnvSource: nameRequired,
  'ConfigMapEnvSource.name': dnsName,
  ConfigMapKeySelector: { required: ['name', 'key'] },
  'ConfigMapKeySelector.key': dataKey,
  'ConfigMapKeySelector.name': dnsName,
  ConfigMapProjection: nameRequired,
  'ConfigMapProjection.name': dnsName,
  ConfigMapVolumeSource: nameRequired,
  'ConfigMapVolumeSource.defaultMode': fileMode,
  'ConfigMapVolumeSource.name': dnsName,
  Container: { required: ['name', 'image'] },
  'Container.image': { type: 'string', pattern: '^\\S+$' },
  'Container.livenessProbe': probe(lives),
  'Container.name': { ...dnsLabel, not: { const: 'newrelic-exporter' } },
  'Container.readinessProbe': probe(isReady),
  'Container.restartPolicy': { enum: ['Always'] },
  'Container.startupProbe': probe(lives),
  'ContainerPort.containerPort': portNumber,
  'ContainerPort.hostIP': ipAddress,
  'ContainerPort.hostPort': portNumber,
  'ContainerPort.name': { ...portName, not: { const: 'http-metrics' } },
  DownwardAPIVolumeFile: {
    oneOf: [{ required: ['fieldRef'] }, { required: ['resourceFieldRef'] }],
  },
  'DownwardAPIVolumeFile.fieldRef': fieldReference(fileField),
  'DownwardAPIVolumeFile.mode': fileMode,
  'DownwardAPIVolumeFile.path': relativePath,
  'DownwardAPIVolumeSource.defaultMode': fileMode,
  'EmptyDirVolumeSource.medium': { enum: ['', 'Memory', 'HugePages'] },
  EnvFromSource: { oneOf: [{ required: ['configMapRef'] }, { required: ['secretRef'] }] },
  'EnvFromSource.prefix': environmentName,
  EnvVar: { not: { required: ['value', 'valueFrom'] } },
  'EnvVar.name': environmentName,
  EnvVarSource: oneOf,
  'EnvVarSource.fieldRef': fieldReference(environmentField),
  ExecAction: { required: ['command'] },
  'ExecAction.command': listOf({ type: 'string' }, { minItems: 1 }),
  'GRPCAction.port': portNumber,
  'HTTPGetAction.port': portNameOrNumber,
  'HTTPHeader.name': { type: 'string', pattern: '^[-A-Za-z0-9]+$' },
  'HostAlias.hostnames': listOf(dnsName),
  'HostAlias.ip': ipAddress,
  'HostPathVolumeSource.path': { type: 'string', pattern: '^(/[^/.][^/]*|/\\.[^/.][^/]*)+/?$|^/$' },
  'IPBlock.cidr': ipRange,
  'IPBlock.except': listOf(ipRange),
  ImageVolumeSource: { required: ['reference'] },
  'ImageVolumeSource.reference': { type: 'string', pattern: '^\\S+$' },
  'IngressTLS.hosts': listOf(hostName),
  'IngressTLS.secretName': dnsName,
  'KeyToPath.key': dataKey,
  'KeyToPath.mode': fileMode,
  'KeyToPath.path': relativePath,
  'LabelSelector.matchLabels': labels,
  LabelSelectorRequirement: requirement,
  'LabelSelectorRequirement.key': labelKey,
  'LabelSelectorRequirement.operator': { enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
  'LabelSelectorRequirement.values': listOf(labelValue),
  LifecycleHandler: oneOf,
  LocalObjectReference: nameRequired,
  'LocalObjectReference.name': dnsName,
  'NFSVolumeSource.path': { type: 'string', pattern: '^(/[^/.][^/]*|/\\.[^/.][^/]*)+/?$|^/$' },
  'NFSVolumeSource.server': notEmpty,
  NetworkPolicyPeer: {
    minProperties: 1,
    allOf: [demands('ipBlock', {}, { maxProperties: 1 })],
  },
  NetworkPolicyPort: {
    allOf: [demands('endPort', {}, withProperties({ port: { type: 'integer' } }, ['port']))],
  },
  'NetworkPolicyPort.endPort': portNumber,
  'NetworkPolicyPort.port': portNameOrNumber,
  'NodeSelector.nodeSelectorTerms': listOf(
    { $ref: '#/definitions/NodeSelectorTerm' },
    { minItems: 1 },
  ),
  NodeSelectorRequirement: requirement,
  'NodeSelectorRequirement.key': labelKey,
  'NodeSelectorRequirement.values': listOf(labelValue),
  'NodeSelectorTerm.matchFields': listOf({
    type: 'object',
    additionalProperties: false,
    required: ['key', 'operator', 'values'],
    properties: {
      key: { const: 'metadata.name' },
      operator: { enum: ['In', 'NotIn'] },
      values: listOf(dnsName, { minItems: 1, maxItems: 1 }),
    },
  }),
  'PersistentVolumeClaimVolumeSource.claimName': dnsName,
  PodAffinityTerm: {
    dependencies: { matchLabelKeys: ['labelSelector'], mismatchLabelKeys: ['labelSelector'] },
  },
  'PodAffinityTerm.matchLabelKeys': listOf(labelKey),
  'PodAffinityTerm.mismatchLabelKeys': listOf(labelKey),
  'PodAffinityTerm.namespaces': listOf(dnsLabel),
  'PodAffinityTerm.topologyKey': labelKey,
  'PodDNSConfig.nameservers': listOf(ipAddress, { maxItems: 3 }),
  'PodDNSConfig.searches': listOf(
    {
      type: 'string',
      pattern: '^(_?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\.?|\\.)$',
    },
    { maxItems: 32 },
  ),
  PodDNSConfigOption: nameRequired,
  'PodDNSConfigOption.name': notEmpty,
  'PodSecurityContext.fsGroup': userId,
  'PodSecurityContext.runAsGroup': userId,
  'PodSecurityContext.runAsUser': userId,
  'PodSecurityContext.seLinuxChangePolicy': { enum: ['Recursive'] },
  'PodSecurityContext.supplementalGroups': listOf(userId),
  'PreferredSchedulingTerm.weight': weight,
  'Probe.successThreshold': { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
  'Probe.terminationGracePeriodSeconds': { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  'ProjectedVolumeSource.defaultMode': fileMode,
  'ResourceFieldSelector.resource': containerResource,
  'ResourceRequirements.limits': amounts,
  'ResourceRequirements.requests': amounts,
  'RollingUpdateDeployment.maxSurge': amountOfPods,
  'RollingUpdateDeployment.maxUnavailable': amountOfPods,
  'RollingUpdateStatefulSetStrategy.maxUnavailable': amountOfPods,
  // Its pattern there is one for Go only.
  'RuleGroup.partial_response_strategy': { enum: ['', 'abort', 'warn'] },
  SeccompProfile: localProfile,
  SecretEnvSource: nameRequired,
  'SecretEnvSource.name': dnsName,
  SecretKeySelector: { required: ['name', 'key'] },
  'SecretKeySelector.key': dataKey,
  'SecretKeySelector.name': dnsName,
  SecretProjection: nameRequired,
  'SecretProjection.name': dnsName,
  SecretVolumeSource: { required: ['secretName'] },
  'SecretVolumeSource.defaultMode': fileMode,
  'SecretVolumeSource.secretName': dnsName,
  SecurityContext: noContradiction,
  // "Unmasked" needs a user namespace, which the pods do not have.
  'SecurityContext.procMount': { enum: ['Default'] },
  'SecurityContext.runAsGroup': userId,
  'SecurityContext.runAsUser': userId,
  'ServiceAccountTokenProjection.expirationSeconds': {
    type: 'integer',
    minimum: 600,
    maximum: 4_294_967_296,
  },
  'ServiceAccountTokenProjection.path': relativePath,
  'SleepAction.seconds': { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  'Sysctl.name': {
    type: 'string',
    pattern: '^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    maxLength: 253,
  },
  'TCPSocketAction.port': portNameOrNumber,
  Toleration: toleration,
  'Toleration.key': optionalLabelKey,
  // The other operators are behind a feature gate.
  'Toleration.operator': { enum: ['Equal', 'Exists'] },
  'Toleration.tolerationSeconds': { type: 'integer' },
  'Toleration.value': labelValue,
  TopologySpreadConstraint: {
    allOf: [
      demands('minDomains', {}, withProperties({ whenUnsatisfiable: { const: 'DoNotSchedule' } })),
    ],
    dependencies: { matchLabelKeys: ['labelSelector'] },
  },
  'TopologySpreadConstraint.matchLabelKeys': listOf(labelKey),
  'TopologySpreadConstraint.maxSkew': { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  'TopologySpreadConstraint.minDomains': { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  'TopologySpreadConstraint.topologyKey': labelKey,
  Volume: { maxProperties: 2 },
  'Volume.name': {
    ...dnsLabel,
    // The chart's own volumes, and with the prefix those of a sidecar.
    not: { pattern: '^(newrelic-exporter-)?(config|api-key(-[0-9]+)?|web-config|web-tls)$' },
  },
  VolumeMount: { not: { required: ['subPath', 'subPathExpr'] } },
  'VolumeMount.mountPath': { type: 'string', pattern: '^[^:]+$' },
  // "Bidirectional" needs a privileged container.
  'VolumeMount.mountPropagation': { enum: ['HostToContainer', 'None'] },
  'VolumeMount.name': dnsLabel,
  'VolumeMount.recursiveReadOnly': { enum: ['Disabled'] },
  'VolumeMount.subPath': relativePath,
  'VolumeMount.subPathExpr': relativePath,
  VolumeProjection: oneOf,
  'WeightedPodAffinityTerm.weight': weight,
};
