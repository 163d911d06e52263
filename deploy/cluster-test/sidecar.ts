import { eventually, inParallel, pause } from './commands.ts';
import { stateOf, statusOf } from './container-processes.ts';
import { type EndpointWatch, watchEndpoint } from './endpoint-watch.ts';
import {
  type Form,
  hostManifests,
  hostSelector,
  hostService,
  isConfigMap,
  sidecarName,
} from './host-application.ts';
import { reportPods } from './hosts-of-pods.ts';
import type { Pod } from './kubernetes.ts';
import {
  apply,
  isReady,
  type Lab,
  podsOf,
  runTrial,
  secretWith,
  type TrialOptions,
  type Vendor,
} from './lab.ts';
import { type SidecarCase, sidecarCases } from './sidecar-cases.ts';
import { countsOf, daemonEnds, readinessOf } from './sidecar-daemon.ts';

/** How long the exporter may take to be as the case wants it; one that hangs is ended after 120 s. */
const recoverySeconds = 200;
/** How long the host's endpoint is watched after it was there first. */
const watchedSeconds = 60;
const applicationId = 101;

/** One case in one form, under way. */
interface Trial {
  readonly lab: Lab;
  readonly form: Form;
  readonly given: SidecarCase;
  readonly namespace: string;
  readonly vendor: Vendor;
}

const secondsOf = (value: number | undefined): string =>
  value === undefined ? 'never' : `${value.toFixed(1)} s`;

async function onlyPod({ lab, namespace }: Trial): Promise<Pod> {
  const found = await eventually(30, async () => (await podsOf(lab, namespace, hostSelector))[0]);
  if (found === undefined) throw new Error(`no pod in ${namespace}`);
  return found;
}

async function manifestsOf(trial: Trial, apps = trial.given.apps): Promise<readonly object[]> {
  const { lab, form, given, namespace, vendor } = trial;
  const baseUrl =
    given.vendorUnreachable === true ? `http://${lab.blackholeAddress}` : vendor.baseUrl;
  return hostManifests(lab, namespace, {
    form,
    replicas: 1,
    withSidecar: given.withoutSidecar !== true,
    config: {
      accounts: [{ name: 'default', base_url: baseUrl, ...given.account }],
      apps: apps ?? [{ name: 'Shop' }],
    },
    hostPorts: given.hostPorts ?? [8080],
    ...(given.podSecurityContext === undefined
      ? {}
      : { podSecurityContext: given.podSecurityContext }),
    ...(given.sidecar === undefined ? {} : { sidecar: given.sidecar }),
  });
}

async function install(trial: Trial): Promise<void> {
  const { given, namespace, vendor } = trial;
  const manifests = await manifestsOf(trial);
  const chosen =
    given.withoutConfigMap === true
      ? manifests.filter((object) => !isConfigMap(object))
      : manifests;
  const secrets = given.withoutSecret === true ? [] : [secretWith(vendor.apiKeys[0] ?? '')];
  await apply(namespace, [...secrets, ...chosen]);
}

/** Whether the exporter is as the case wants it, and what it was like. */
async function examine(
  trial: Trial,
): Promise<{ readonly seen: readonly string[]; readonly passed: boolean }> {
  const { given } = trial;
  const readiness =
    given.answers === undefined
      ? undefined
      : await readinessOf(async () => onlyPod(trial), given.answers, recoverySeconds);
  const ends = given.withoutSidecar === true ? [] : await daemonEnds(await onlyPod(trial));
  return {
    seen: [
      ...(readiness === undefined ? [] : [`/-/ready ${readiness}`]),
      ...(ends.length === 0 ? [] : [`started again after ${countsOf(ends)}`]),
    ],
    passed: readiness === given.answers?.toString() && ends.length >= (given.daemonEnds ?? 0),
  };
}

async function addRow(trial: Trial, watch: EndpointWatch, done: string): Promise<void> {
  const { lab, form, given } = trial;
  const { seen, passed } = await examine(trial);
  const pod = await onlyPod(trial);
  const first = watch.firstReady();
  const lost = `lost ${watch.losses()} times, ${watch.secondsWithout().toFixed(1)} s without`;
  const mayBeLost = given.expectedLoss !== undefined;
  const remarks = [
    done,
    ...seen,
    `first ready after ${secondsOf(first)}`,
    given.expectedLoss ?? '',
  ];
  lab.table.add({
    name: given.name,
    form: given.withoutSidecar === true ? '' : form,
    exporter: stateOf(statusOf(pod, sidecarName)),
    hostReady: String(statusOf(pod, 'shop')?.ready ?? false),
    podReady: String(isReady(pod)),
    endpoint: first === undefined ? 'never ready' : watch.losses() === 0 ? 'always ready' : lost,
    seen: remarks.filter((text) => text !== '').join('; '),
    passed: passed && watch.readyNow() && (mayBeLost || watch.losses() === 0),
  });
}

/** Removes the cause and measures how long the exporter then takes to poll. */
async function mend(trial: Trial): Promise<void> {
  const { lab, form, given, namespace, vendor } = trial;
  const { journal } = vendor.simulator;
  const isPoll = (entry: { readonly path: string; readonly status: number | undefined }): boolean =>
    entry.path.endsWith('/metrics/data.json') && entry.status === 200;
  journal.clear();
  const { restarts, uid } = await identityOf(trial);
  const started = performance.now();
  if (given.mended === 'Secret') await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  else await apply(namespace, (await manifestsOf(trial, [{ name: 'Shop' }])).filter(isConfigMap));
  const polled = await eventually(300, () => (journal.count(isPoll) > 0 ? true : undefined));
  const seconds = (performance.now() - started) / 1000;
  const after = await identityOf(trial);
  const same = after.uid === uid && after.restarts === restarts;
  lab.table.add({
    name: `${given.name}, then ${given.mended === 'configuration' ? 'corrected' : 'created'}`,
    form,
    exporter: stateOf(statusOf(await onlyPod(trial), sidecarName)),
    seen: `polls after ${polled === undefined ? 'more than 300 s' : secondsOf(seconds)}${same ? ', no restart' : ', after a restart'}`,
    passed: polled === true && same,
  });
}

async function identityOf(trial: Trial): Promise<{ uid: string; restarts: number }> {
  const pod = await onlyPod(trial);
  return { uid: pod.metadata.uid ?? '', restarts: statusOf(pod, sidecarName)?.restartCount ?? 0 };
}

async function observe(trial: Trial): Promise<void> {
  const { lab, given, namespace } = trial;
  const stopReporting = reportPods(lab, namespace, hostSelector, (name) => {
    trial.vendor.simulator.fleet.addHost(applicationId, { name });
  });
  const watch = watchEndpoint(lab.kubernetes, namespace, hostService);
  try {
    await install(trial);
    await eventually(60, () => watch.firstReady());
    const [done] = await Promise.all([
      given.disturb?.(async () => onlyPod(trial)) ?? Promise.resolve(''),
      pause(watchedSeconds),
    ]);
    await addRow(trial, watch, done);
    if (given.mended !== undefined) await mend(trial);
  } finally {
    watch.stop();
    stopReporting();
  }
}

async function tryOne(lab: Lab, form: Form, given: SidecarCase, index: number): Promise<void> {
  const namespace = `sidecar-${index}-${form}`;
  const trial: TrialOptions = {
    namespace,
    level: given.podSecurityContext === undefined ? 'restricted' : 'privileged',
    row: { name: given.name, form },
    applications: [
      { id: applicationId, name: 'Shop', kind: 'web', webRpm: 600, hosts: 0 },
      ...(given.applications ?? []),
    ],
    quotaPerMinute: 100_000,
  };
  await runTrial(lab, trial, async (vendor) => observe({ lab, form, given, namespace, vendor }));
}

function formsOf({ withKustomize, withoutSidecar }: SidecarCase): readonly Form[] {
  if (withoutSidecar === true) return ['native'];
  return withKustomize === true ? ['native', 'classic', 'kustomize'] : ['native', 'classic'];
}

/** What an exporter that cannot work does to the application beside it; of the cases those that match. */
export async function runSidecarCases(lab: Lab, pattern: RegExp): Promise<void> {
  const trials = sidecarCases.flatMap((given, index) => {
    if (!pattern.test(given.name)) return [];
    return formsOf(given).map((form) => async () => tryOne(lab, form, given, index));
  });
  await inParallel(4, trials);
}
