import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { chartFolder } from './chart-setups.ts';
import { attempt, type CommandOutcome } from './commands.ts';
import type { Pod } from './kubernetes.ts';
import { type Lab, podsOf } from './lab.ts';

/** A version of Helm. */
export interface Helm {
  readonly program: string;
  /** For the table. */
  readonly form: string;
}

export const helms: readonly Helm[] = [
  { program: 'helm3', form: 'Helm 3' },
  { program: 'helm4', form: 'Helm 4' },
];

export const release = 'exporter';
export const releaseSelector: string = `app.kubernetes.io/instance=${release}`;

/** Helm in one namespace; runs to its end, whatever that is. */
export async function helmIn(
  { program }: Helm,
  namespace: string,
  ...args: readonly string[]
): Promise<CommandOutcome> {
  return attempt(program, [...args, `--namespace=${namespace}`]);
}

/** Like `helmIn`, but the command must succeed; gives what it printed. */
export async function helmMust(
  helm: Helm,
  namespace: string,
  ...args: readonly string[]
): Promise<string> {
  const { code, output } = await helmIn(helm, namespace, ...args);
  if (code === 0) return output;
  throw new Error(`${helm.program} ${args.join(' ')} ended with ${code}: ${output}`);
}

/** Pods of the release that are there to stay, not those of `helm test`. */
export async function releasePods(lab: Lab, namespace: string): Promise<readonly Pod[]> {
  const pods = await podsOf(lab, namespace, releaseSelector);
  return pods.filter(
    ({ metadata }) => metadata.labels?.['app.kubernetes.io/name'] === 'newrelic-exporter',
  );
}

/** A copy of the chart that calls itself a later version. */
export async function laterChart(lab: Lab, name: string): Promise<string> {
  const folder = join(lab.folder, name);
  await cp(chartFolder, folder, { recursive: true });
  const file = join(folder, 'Chart.yaml');
  const chart = parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, stringify({ ...chart, version: '99.0.0' }));
  return folder;
}

/** What was printed, on one line that fits into a cell of the table. */
export function shortened(output: string, characters = 300): string {
  return output.trim().replaceAll(/\s+/gu, ' ').replaceAll('|', '/').slice(-characters);
}
