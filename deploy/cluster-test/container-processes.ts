import { readdirSync, readFileSync } from 'node:fs';
import type { ContainerStatus, Pod } from './kubernetes.ts';

/** One process of a container, as the node sees it. */
export interface ContainerProcess {
  readonly pid: number;
  /** Whether it is the one whose end is the end of the container. */
  readonly first: boolean;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

export function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status;
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container);
}

/** The processes of a container that runs, by its control group. */
export function processesOf(pod: Pod, container: string): readonly ContainerProcess[] {
  const id = statusOf(pod, container)?.containerID?.replace(/^.*:\/\//u, '');
  if (id === undefined) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/u.test(entry) && textOf(`/proc/${entry}/cgroup`).includes(id))
    .map((entry) => ({
      pid: Number(entry),
      first: /^NSpid:.*\t1$/mu.test(textOf(`/proc/${entry}/status`)),
    }));
}

/** What the container does, in a word. */
export function stateOf(status: ContainerStatus | undefined): string {
  if (status === undefined) return 'none';
  const { running, waiting, terminated } = status.state;
  const restarts = status.restartCount > 0 ? `, ${status.restartCount} restarts` : '';
  if (running !== undefined) return `running${restarts}`;
  return `${waiting?.reason ?? terminated?.reason ?? 'unknown'}${restarts}`;
}
