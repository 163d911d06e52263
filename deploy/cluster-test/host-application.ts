import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { run } from './commands.ts';
import { type Lab, valuesFile } from './lab.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** How the sidecar gets into the host's pod, and as what. */
export type Form = 'native' | 'classic' | 'kustomize';

/** A host application with the sidecar, as its chart or its Kustomize overlay renders it. */
export interface HostOptions {
  readonly form: Form;
  readonly replicas: number;
  /** The exporter's configuration. */
  readonly config: {
    readonly accounts: readonly object[];
    readonly apps: readonly object[];
    readonly poll?: object;
  };
  /** Whether the exporter is there at all. */
  readonly withSidecar?: boolean;
  /** Ports that the host's container listens on; the first is its Service's. */
  readonly hostPorts: readonly number[];
  /** `securityContext` of the host's pod, instead of the example's. */
  readonly podSecurityContext?: object;
  /** Values for the sidecar's `resources` and `securityContext`. */
  readonly sidecar?: object;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; namespace?: string };
  data?: Record<string, string>;
  spec?: { replicas?: number; template?: { spec: PodSpec } };
}

interface Container {
  readonly name: string;
  args?: readonly string[];
  readinessProbe?: object;
  resources?: object;
}

interface PodSpec {
  securityContext?: object;
  terminationGracePeriodSeconds?: number;
  readonly containers: Container[];
  readonly initContainers?: Container[];
}

/** A copy of the example's chart with ours as its dependency, which Helm wants in a folder of it. */
export async function prepareExampleChart(folder: string): Promise<void> {
  const chart = join(folder, 'shop');
  await rm(chart, { recursive: true, force: true });
  await cp(join(project, 'examples/sidecar-chart'), chart, { recursive: true });
  await mkdir(join(chart, 'charts'), { recursive: true });
  await cp(join(project, 'helm/newrelic-exporter'), join(chart, 'charts/newrelic-exporter'), {
    recursive: true,
  });
}

function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

async function renderChart(
  lab: Lab,
  namespace: string,
  options: HostOptions,
): Promise<readonly Manifest[]> {
  const values = await valuesFile(lab, namespace, {
    replicas: options.replicas,
    'newrelic-exporter': {
      enabled: options.withSidecar ?? true,
      config: options.config,
      sidecar: {
        native: options.form === 'native',
        ...options.sidecar,
      },
      podMonitor: { enabled: false },
    },
  });
  const chart = join(lab.folder, 'shop');
  return parseManifests(
    await run('helm4', [
      'template',
      'shop',
      chart,
      `--values=${values}`,
      `--namespace=${namespace}`,
      '--kube-version=1.36.3',
    ]),
  );
}

async function renderKustomize(options: HostOptions): Promise<readonly Manifest[]> {
  const text = await run('kubectl', ['kustomize', join(project, 'deploy/kustomize/example')]);
  return parseManifests(text).map((manifest) => {
    if (manifest.kind !== 'ConfigMap') return manifest;
    const keyFile = '/var/run/secrets/newrelic/default/api-key';
    const accounts = options.config.accounts.map((account) => ({
      api_key_file: keyFile,
      ...account,
    }));
    const before = JSON.stringify({ ...options.config, accounts });
    return { ...manifest, data: { 'config.yaml': before } };
  });
}

/** The host's own part, which the examples leave to the reader: what it listens on and its probe. */
function completed(manifest: Manifest, options: HostOptions): Manifest {
  const { namespace: _, ...metadata } = manifest.metadata;
  const template = manifest.spec?.template;
  if (manifest.kind !== 'Deployment' || template === undefined) return { ...manifest, metadata };
  const containers = template.spec.containers.map((container) =>
    container.name === 'shop'
      ? {
          ...container,
          args: options.hostPorts.map(String),
          readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
        }
      : container,
  );
  const spec = {
    ...template.spec,
    containers,
    terminationGracePeriodSeconds: 5,
    ...(options.podSecurityContext === undefined
      ? {}
      : { securityContext: options.podSecurityContext }),
  };
  return {
    ...manifest,
    metadata,
    spec: { ...manifest.spec, replicas: options.replicas, template: { ...template, spec } },
  };
}

export const hostService = 'shop';
export const hostSelector = 'app.kubernetes.io/name=shop';
export const sidecarName = 'newrelic-exporter';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: hostService },
  spec: {
    selector: { 'app.kubernetes.io/name': 'shop' },
    ports: [{ name: 'http', port: 80, targetPort: 'http' }],
  },
};

/** All objects of the host application, its Service included; nothing is applied. */
export async function hostManifests(
  lab: Lab,
  namespace: string,
  options: HostOptions,
): Promise<readonly object[]> {
  const rendered =
    options.form === 'kustomize'
      ? await renderKustomize(options)
      : await renderChart(lab, namespace, options);
  return [service, ...rendered.map((manifest) => completed(manifest, options))];
}

export function isConfigMap(object: object): boolean {
  return 'kind' in object && object.kind === 'ConfigMap';
}
