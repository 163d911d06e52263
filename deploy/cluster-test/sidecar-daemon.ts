import { eventually, run } from './commands.ts';
import { sidecarName } from './host-application.ts';
import type { Pod } from './kubernetes.ts';

/** The status of `/-/ready`, asked for until it is this one or the time is over. */
export async function readinessOf(
  findPod: () => Promise<Pod>,
  wanted: number,
  seconds: number,
): Promise<string> {
  let last = 'nobody answers';
  await eventually(seconds, async () => {
    last = await askReadiness(await findPod());
    return last === String(wanted) ? true : undefined;
  });
  return last;
}

async function askReadiness(pod: Pod): Promise<string> {
  try {
    const response = await fetch(`http://${pod.status.podIP ?? ''}:9126/-/ready`, {
      signal: AbortSignal.timeout(2000),
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch {
    return 'nobody answers';
  }
}

interface DaemonEnd {
  readonly signal?: string | null;
  readonly code?: number | null;
  /** Why the process above it ended it. */
  readonly problem?: string;
}

/** How the daemon ended each time that it was started again, from the log of the process above it. */
export async function daemonEnds(pod: Pod): Promise<readonly string[]> {
  const { name, namespace = '' } = pod.metadata;
  const stdout = await run('kubectl', [
    'logs',
    `--namespace=${namespace}`,
    name,
    `--container=${sidecarName}`,
  ]);
  return stdout.split('\n').flatMap((line) => {
    if (!line.includes('the daemon ended, starting it again')) return [];
    const { signal, code, problem } = JSON.parse(line) as DaemonEnd;
    return [`${signal ?? `code ${code ?? 'none'}`}${problem === undefined ? '' : ` (${problem})`}`];
  });
}

/** Such as `3 x SIGKILL, 1 x SIGABRT`. */
export function countsOf(ends: readonly string[]): string {
  return [...new Set(ends)]
    .map((end) => `${ends.filter((other) => other === end).length} x ${end}`)
    .join(', ');
}
