import { refusal, render } from './chart.ts';
import {
  containerWith,
  everyLabel,
  filesIn,
  hasExtra,
  hasFile,
  holdsForEach,
  isMadeOnly,
  made,
  madeOnly,
  ofChart,
  podWith,
  readChart,
  secretName,
} from './chart-questions.ts';
import { type Manifest, ofKind, podsIn, type SecurityContext } from './manifests.ts';

/** What charts of exporters have, and whether this one has it, as far as its files and objects tell. */
export interface Convention {
  readonly name: string;
  /** Takes the objects of another chart, which has this one as a dependency and injects the sidecar. */
  readonly holds: (application: readonly Manifest[]) => boolean | Promise<boolean>;
}

/** A convention that is an object, which some values switch on. */
function makes(name: string, kind: string, ...set: readonly string[]): Convention {
  return { name, holds: async () => isMadeOnly(kind, ...set) };
}

const files: readonly Convention[] = [
  {
    name: 'values.schema.json',
    holds: async () => (await refusal(['replica=2'])).includes("additional properties 'replica'"),
  },
  {
    name: 'helm-docs comments',
    holds: () =>
      [...readChart('README.md').matchAll(/^\| \S+ \| \w+ \| .* \| (.*) \|$/gmu)]
        .map(([, description = '']) => description.trim())
        .every((description, _, all) => all.length > 150 && description !== ''),
  },
  { name: 'helm-unittest suites', holds: () => filesIn('unittests', '_test.yaml').length > 0 },
  {
    name: 'helm test pod',
    holds: async () =>
      ofKind(await made(), 'Pod').some(
        ({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test',
      ),
  },
  { name: 'ci/*-values.yaml', holds: () => filesIn('ci', '-values.yaml').length >= 10 },
];

const monitoring: readonly Convention[] = [
  makes('ServiceMonitor', 'ServiceMonitor', 'serviceMonitor.enabled=true'),
  makes('PodMonitor', 'PodMonitor', 'podMonitor.enabled=true'),
  makes('PrometheusRule', 'PrometheusRule', 'prometheusRule.enabled=true'),
  {
    name: 'rules shipped',
    holds: async () => {
      const rules = await madeOnly('PrometheusRule', 'prometheusRule.enabled=true');
      return JSON.stringify(rules).includes('"alert":"NewRelicExporterDown"');
    },
  },
  {
    name: 'dashboards shipped',
    holds: async () => {
      const before = ofKind(await made(), 'ConfigMap').length;
      const after = ofKind(await made('dashboards.enabled=true'), 'ConfigMap').length;
      const forOperator = 'dashboards.grafanaOperator.enabled=true';
      return after > before && (await isMadeOnly('GrafanaDashboard', forOperator));
    },
  },
];

const cluster: readonly Convention[] = [
  makes('NetworkPolicy', 'NetworkPolicy', 'networkPolicy.enabled=true'),
  {
    name: 'NetworkPolicy egress',
    holds: async () => {
      const [policy] = await madeOnly('NetworkPolicy', 'networkPolicy.enabled=true');
      return JSON.stringify(policy?.spec?.['egress']).includes('"port":443');
    },
  },
  makes('PodDisruptionBudget', 'PodDisruptionBudget', 'pdb.enabled=true'),
  makes('VerticalPodAutoscaler', 'VerticalPodAutoscaler', 'vpa.enabled=true'),
  {
    name: 'HorizontalPodAutoscaler',
    holds: () =>
      filesIn('templates', '').some((name) =>
        name.includes('.') ? readChart(`templates/${name}`).includes('HorizontalPod') : false,
      ),
  },
  makes('Ingress', 'Ingress', 'ingress.enabled=true', 'ingress.hosts[0]=exporter.example.com'),
  makes('HTTPRoute', 'HTTPRoute', 'httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=gateway'),
];

const extras: readonly Convention[] = [
  { name: 'extraManifests with templates', holds: async () => hasExtra('[0]') },
  {
    name: 'extra containers, volumes, arguments, environment',
    holds: async () => {
      const { spec } = await podWith(
        'extraContainers[0].name=added,extraContainers[0].image=added',
        'extraInitContainers[0].name=added,extraInitContainers[0].image=added',
        'extraVolumes[0].name=added,extraVolumes[0].emptyDir.medium=Memory',
        'extraVolumeMounts[0].name=added,extraVolumeMounts[0].mountPath=/added',
        'extraArgs[0]=added,extraEnv[0].name=added,extraEnv[0].value=a',
        'extraEnvFrom[0].configMapRef.name=added',
      );
      return JSON.stringify(spec).match(/"added"/gu)?.length === 9;
    },
  },
  {
    name: 'checksum or reload',
    holds: async () => {
      const { metadata } = await podWith('configReload=rollout');
      return metadata.annotations?.['checksum/config'] !== undefined;
    },
  },
  {
    name: 'existing Secret',
    holds: async () => (await secretName('apiKey.existingSecret=mine')) === 'mine',
  },
];

const digest = `sha256:${'0'.repeat(64)}`;

const common: readonly Convention[] = [
  {
    name: 'image digest',
    holds: async () => (await containerWith(`image.digest=${digest}`)).image.endsWith(`@${digest}`),
  },
  {
    name: 'global.imageRegistry',
    holds: async () => {
      const { image } = await containerWith('global.imageRegistry=registry.example.com');
      return image.startsWith('registry.example.com/');
    },
  },
  {
    name: 'global.imagePullSecrets',
    holds: async () => {
      const { spec } = await podWith(
        'global.imagePullSecrets[0].name=a,global.imagePullSecrets[1]=b',
      );
      return spec.imagePullSecrets?.map(({ name }) => name).join(' ') === 'a b';
    },
  },
  { name: 'commonLabels', holds: async () => everyLabel('commonLabels.team=a', 'team', 'a') },
  {
    name: 'namespaceOverride',
    holds: async () =>
      (await made('namespaceOverride=other')).every(
        ({ metadata }) => metadata.namespace === 'other',
      ),
  },
  {
    name: 'releaseLabel',
    holds: async () => everyLabel('releaseLabel=true', 'release', 'release'),
  },
  {
    name: 'kubeVersion',
    holds: async () =>
      render({ values: ['01-default-values.yaml'], kubeVersion: '1.24.0' }).then(
        () => false,
        (error: unknown) => String(error).includes('incompatible with Kubernetes v1.24.0'),
      ),
  },
];

function isThere(...keys: readonly string[]): boolean {
  return keys.every((key) => (ofChart(`artifacthub.io/${key}`) ?? '') !== '');
}

const catalogue: readonly Convention[] = [
  { name: 'annotations of Artifact Hub', holds: () => isThere('category', 'license', 'links') },
  { name: 'changes and images for Artifact Hub', holds: () => isThere('changes', 'images') },
  {
    name: 'screenshots and signKey for Artifact Hub',
    holds: () => isThere('screenshots', 'signKey'),
  },
  {
    name: 'icon',
    holds: () => ofChart('icon')?.endsWith('/icon.svg') === true && hasFile('icon.svg'),
  },
];

function everywhere(name: string, holds: (context: SecurityContext) => boolean): Convention {
  return {
    name,
    holds: async (application) =>
      holdsForEach(application, ({ securityContext = {} }) => holds(securityContext)),
  };
}

const security: readonly Convention[] = [
  everywhere('read-only root file system', (its) => its.readOnlyRootFilesystem === true),
  everywhere('not root', (its) => its.runAsNonRoot === true),
  everywhere('all capabilities dropped', (its) => its.capabilities?.drop?.join(' ') === 'ALL'),
  everywhere('no privilege escalation', (its) => its.allowPrivilegeEscalation === false),
  everywhere('seccomp RuntimeDefault', (its) => its.seccompProfile?.type === 'RuntimeDefault'),
  {
    name: 'no token of the ServiceAccount',
    holds: async () =>
      podsIn(await made()).every(({ spec }) => spec.automountServiceAccountToken === false),
  },
];

const sidecars: readonly Convention[] = [
  {
    name: 'native sidecar',
    holds: (application) =>
      podsIn(application).some(({ spec }) =>
        (spec.initContainers ?? []).some(({ restartPolicy }) => restartPolicy === 'Always'),
      ),
  },
  {
    name: 'named templates for other charts',
    holds: (application) => application.length > 0,
  },
  {
    name: 'shards in a StatefulSet',
    holds: async () =>
      JSON.stringify(
        await madeOnly('StatefulSet', 'mode=statefulset', 'replicas=2', 'sharding.mode=static'),
      ).includes('--total-shards=2'),
  },
  makes('PodMonitoring of Google', 'PodMonitoring', 'podMonitoring.enabled=true'),
  makes('ScrapeConfig', 'ScrapeConfig', 'scrapeConfig.enabled=true'),
  {
    name: 'extraManifests as list or map',
    holds: async () => (await hasExtra('[0]')) && (await hasExtra('.map')),
  },
];

/** In the order of docs/helm-conventions.md. */
export const conventions: readonly Convention[] = [
  ...files,
  ...monitoring,
  ...cluster,
  ...extras,
  ...common,
  ...catalogue,
  ...security,
  ...sidecars,
];
