import { existsSync } from 'node:fs';
import { kill } from 'node:process';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { eventually, pause } from './commands.ts';
import { processesOf } from './container-processes.ts';
import { sidecarName } from './host-application.ts';
import type { Pod } from './kubernetes.ts';
import { daemonEnds, readinessOf } from './sidecar-daemon.ts';

/** What is wrong in one case, and how the exporter is harmed while the host is watched. */
export interface SidecarCase {
  readonly name: string;
  /** Tried with the Kustomize component too. */
  readonly withKustomize?: boolean;
  /** The host alone, to compare with. */
  readonly withoutSidecar?: boolean;
  readonly withoutSecret?: boolean;
  readonly withoutConfigMap?: boolean;
  /** `apps` of the configuration; default: the application whose hosts the pods are. */
  readonly apps?: readonly object[];
  /** More keys of the account in the configuration. */
  readonly account?: object;
  /** The vendor's address is one where packets vanish. */
  readonly vendorUnreachable?: boolean;
  readonly hostPorts?: readonly number[];
  readonly podSecurityContext?: object;
  /** Values for the sidecar's `resources` and `securityContext`. */
  readonly sidecar?: object;
  /** More applications of the simulated account. */
  readonly applications?: readonly ApplicationSpec[];
  /** What is done while the endpoint is watched; the answer is what was done, and rejects if nothing could be. */
  readonly disturb?: (findPod: () => Promise<Pod>) => Promise<string>;
  /** What `/-/ready` of the exporter must say in the end; without it nobody has to answer. */
  readonly answers?: 200 | 503;
  /** How often its daemon must have ended and been started again, at least. */
  readonly daemonEnds?: number;
  /** Seconds until the exporter polls are measured after the cause was removed. */
  readonly mended?: 'Secret' | 'ConfigMap' | 'configuration';
  /** The pod turns unready in this case, as the documents say; why. */
  readonly expectedLoss?: string;
}

/** Signals a process of the sidecar's container, chosen by whether it is the first. */
async function signalSidecar(
  findPod: () => Promise<Pod>,
  first: boolean,
  signal: NodeJS.Signals,
): Promise<void> {
  const chosen = await eventually(20, async () =>
    processesOf(await findPod(), sidecarName).find((process) => process.first === first),
  );
  if (chosen === undefined) throw new Error("the sidecar's container has no such process");
  kill(chosen.pid, signal);
}

async function disturbDaemon(
  findPod: () => Promise<Pod>,
  signal: NodeJS.Signals,
  times: number,
): Promise<string> {
  // One that has not come so far yet is given more time to start than this case lasts.
  await readinessOf(findPod, 200, 60);
  for (let time = 0; time < times; time += 1) {
    await signalSidecar(findPod, false, signal);
    await pause(6);
  }
  return times === 1 ? `${signal} to the daemon` : `${signal} to the daemon, ${times} times`;
}

/** Watches until the daemon has ended once by itself. */
async function awaitEnd(findPod: () => Promise<Pod>): Promise<string> {
  await eventually(400, async () =>
    (await daemonEnds(await findPod())).length > 0 ? true : undefined,
  );
  return '80000 hosts to read';
}

/** More applications and hosts than the sidecar's memory holds, read as fast as it can. */
const largeAccount: Pick<SidecarCase, 'account' | 'apps' | 'applications' | 'disturb'> = {
  disturb: awaitEnd,
  account: { requests_per_minute: 100_000 },
  apps: [{ match: '.', hosts: true, application: true }],
  applications: Array.from({ length: 2000 }, (_, index) => ({
    id: 1_000_000_000 + index,
    name: `application-${index}`,
    kind: 'web',
    webRpm: 10,
    hosts: 40,
  })),
};

/** With control groups of version 2 the kernel ends a container as a whole that wants too much memory. */
const groupsAreKilled = existsSync('/sys/fs/cgroup/cgroup.controllers');

export const sidecarCases: readonly SidecarCase[] = [
  { name: 'no sidecar, to compare with', withoutSidecar: true },
  { name: 'all well', withKustomize: true, answers: 200 },
  {
    name: 'Secret missing',
    withoutSecret: true,
    answers: 503,
    mended: 'Secret',
    withKustomize: true,
  },
  { name: 'ConfigMap missing', withoutConfigMap: true, answers: 503, mended: 'ConfigMap' },
  {
    name: 'bad regular expression in the configuration',
    apps: [{ match: '^shop-(' }],
    answers: 503,
    mended: 'configuration',
  },
  {
    name: 'the pod runs as root',
    answers: 200,
    podSecurityContext: { runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } },
  },
  {
    name: 'the pod runs as a user that the cluster chose, as on OpenShift',
    answers: 200,
    podSecurityContext: {
      runAsNonRoot: true,
      runAsUser: 1_000_650_000,
      fsGroup: 1_000_650_000,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    // Empty: the container has the user of its pod.
    sidecar: { securityContext: { runAsUser: '', runAsGroup: '' } },
  },
  { name: 'New Relic does not answer', vendorUnreachable: true, answers: 503 },
  { name: 'the main container has the port', hostPorts: [8080, 9126] },
  {
    name: 'the daemon is killed',
    answers: 200,
    daemonEnds: 6,
    disturb: (findPod) => disturbDaemon(findPod, 'SIGKILL', 6),
  },
  {
    name: 'the daemon hangs',
    answers: 200,
    daemonEnds: 1,
    disturb: (findPod) => disturbDaemon(findPod, 'SIGSTOP', 1),
  },
  {
    name: 'the daemon runs out of memory, limit 128Mi',
    daemonEnds: 1,
    ...largeAccount,
    sidecar: { resources: { limits: { memory: '128Mi' } } },
    ...(groupsAreKilled ? { expectedLoss: 'the kernel ends all processes of the container' } : {}),
  },
  {
    name: "the container's first process is killed from outside",
    disturb: async (findPod) => {
      await signalSidecar(findPod, true, 'SIGKILL');
      return 'SIGKILL to the first process';
    },
    answers: 200,
    expectedLoss: 'the kubelet restarts the container',
  },
];
