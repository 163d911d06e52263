import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, inParallel, run } from './commands.ts';
import { statusOf } from './container-processes.ts';
import { sidecarName } from './host-application.ts';
import type { Pod } from './kubernetes.ts';
import { apply, isReady, type Lab, podsOf, runTrial, secretWith, type Vendor } from './lab.ts';
import { readinessOf } from './sidecar-daemon.ts';

const components = fileURLToPath(new URL('../kustomize', import.meta.url));
const labels = { 'app.kubernetes.io/name': 'shop' };
const selector = 'app.kubernetes.io/name=shop';

/** A workload that the component patches, besides the Deployment of the group of sidecars. */
interface Workload {
  readonly kind: 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob';
  /** Whether its pods come to an end. */
  readonly ends: boolean;
}

const workloads: readonly Workload[] = [
  { kind: 'StatefulSet', ends: false },
  { kind: 'DaemonSet', ends: false },
  { kind: 'Job', ends: true },
  { kind: 'CronJob', ends: true },
];

/** The main container of one that ends waits until the exporter beside it answers. */
function podTemplate({ ends }: Workload): object {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  };
  const container = {
    name: 'shop',
    image: 'registry.example.com/shop:1.0.0',
    args: ends ? ['until', 'http://127.0.0.1:9126/-/ready'] : ['8080'],
    securityContext,
  };
  return {
    metadata: { labels },
    spec: {
      ...(ends ? { restartPolicy: 'Never' } : {}),
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [container],
    },
  };
}

function manifestOf(workload: Workload): object {
  const { kind, ends } = workload;
  const template = podTemplate(workload);
  const job = { backoffLimit: 0, template };
  const lasting = { selector: { matchLabels: labels }, template };
  const specs = {
    StatefulSet: { ...lasting, serviceName: 'shop', replicas: 1 },
    DaemonSet: lasting,
    Job: job,
    // Never by itself while this runs: the test starts it.
    CronJob: { schedule: '0 0 29 2 *', jobTemplate: { spec: job } },
  };
  return {
    apiVersion: ends ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: 'shop', annotations: { 'newrelic-exporter/inject': 'true' } },
    spec: specs[kind],
  };
}

async function writeOverlay(folder: string, workload: Workload, vendor: Vendor): Promise<void> {
  const config = {
    accounts: [
      {
        name: 'default',
        base_url: vendor.baseUrl,
        api_key_file: '/var/run/secrets/newrelic/default/api-key',
      },
    ],
    apps: [{ match: '.' }],
  };
  const map = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'newrelic-exporter-config' },
    data: { 'config.yaml': JSON.stringify(config) },
  };
  // Kustomize refuses absolute paths.
  const fromFolder = relative(folder, components);
  const kustomization = {
    resources: ['workload.json', 'config.json'],
    components: ['component', 'podmonitor'].map((name) => join(fromFolder, name)),
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'workload.json'), JSON.stringify(manifestOf(workload)));
  await writeFile(join(folder, 'config.json'), JSON.stringify(map));
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
}

interface Trial {
  readonly lab: Lab;
  readonly namespace: string;
  readonly workload: Workload;
}

async function findPod({ lab, namespace }: Trial): Promise<Pod> {
  const pod = await eventually(60, async () => (await podsOf(lab, namespace, selector))[0]);
  if (pod === undefined) throw new Error(`no pod in ${namespace}`);
  return pod;
}

const reasonOf = (pod: Pod, container: string): string =>
  statusOf(pod, container)?.state.terminated?.reason ?? 'not ended';

async function jobConditions({ namespace }: Trial): Promise<string> {
  const output = '--output=jsonpath={.items[*].status.conditions[?(@.status=="True")].type}';
  return run('kubectl', ['get', 'jobs', `--namespace=${namespace}`, output]);
}

async function addEnd(trial: Trial, started: number): Promise<void> {
  const done = await eventually(120, async () => {
    const pod = await findPod(trial);
    return pod.status.phase === 'Succeeded' ? pod : undefined;
  });
  const pod = done ?? (await findPod(trial));
  const complete = await eventually(30, async () =>
    (await jobConditions(trial)).includes('Complete') ? true : undefined,
  );
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const seen = [
    `the pod is ${pod.status.phase ?? 'unknown'} after ${seconds} s`,
    `main container ${reasonOf(pod, 'shop')}, exporter ${reasonOf(pod, sidecarName)}`,
    complete === true ? 'the Job is complete' : 'the Job is not complete',
  ];
  trial.lab.table.add({
    name: `${trial.workload.kind} that ends when the exporter beside it is ready`,
    form: 'kustomize',
    seen: seen.join('; '),
    passed: done !== undefined && complete === true,
  });
}

async function addRunning(trial: Trial): Promise<void> {
  const readiness = await readinessOf(async () => findPod(trial), 200, 90);
  const ready = await eventually(30, async () =>
    isReady(await findPod(trial)) ? true : undefined,
  );
  trial.lab.table.add({
    name: `${trial.workload.kind} with the sidecar`,
    form: 'kustomize',
    hostReady: String(statusOf(await findPod(trial), 'shop')?.ready ?? false),
    podReady: String(ready ?? false),
    seen: `/-/ready ${readiness}`,
    passed: readiness === '200' && ready === true,
  });
}

async function tryOne(trial: Trial, vendor: Vendor): Promise<void> {
  const { lab, namespace, workload } = trial;
  const folder = join(lab.folder, namespace);
  await writeOverlay(folder, workload, vendor);
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const options = [`--namespace=${namespace}`, '--server-side', '--validate=strict'];
  const rendered = await run('kubectl', ['kustomize', folder]);
  await run('kubectl', ['apply', ...options, '--filename=-'], rendered);
  const started = performance.now();
  if (workload.kind === 'CronJob') {
    const create = ['create', 'job', 'shop-now', '--from=cronjob/shop'];
    await run('kubectl', [...create, `--namespace=${namespace}`]);
  }
  await (workload.ends ? addEnd(trial, started) : addRunning(trial));
}

/** The Kustomize component with every kind of workload that it patches, but the Deployment. */
export async function runKustomizeCases(lab: Lab, pattern: RegExp): Promise<void> {
  const jobs = workloads.flatMap((workload) => {
    const { kind } = workload;
    if (!pattern.test(kind)) return [];
    const namespace = `kustomize-${kind.toLowerCase()}`;
    const trial = {
      namespace,
      row: { name: `${kind} with the sidecar`, form: 'kustomize' },
      applications: [{ id: 101, name: 'Shop', kind: 'web', webRpm: 60, hosts: 1 }] as const,
    };
    return [
      async () =>
        runTrial(lab, trial, async (vendor) => tryOne({ lab, namespace, workload }, vendor)),
    ];
  });
  await inParallel(4, jobs);
}
