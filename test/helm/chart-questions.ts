import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart, helm4, render } from './chart.ts';
import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  type Pod,
  podsIn,
} from './manifests.ts';

/** Questions about the chart's files, and about what it makes of values on top of the smallest set of them. */

export function readChart(path: string): string {
  return readFileSync(join(chart, path), 'utf8');
}

export function hasFile(path: string): boolean {
  return existsSync(join(chart, path));
}

export function filesIn(folder: string, ending: string): readonly string[] {
  return readdirSync(join(chart, folder)).filter((name) => name.endsWith(ending));
}

/** A text of Chart.yaml. */
export function ofChart(key: string): string | undefined {
  const { annotations, ...own } = parse(readChart('Chart.yaml')) as {
    readonly annotations: Readonly<Record<string, string>>;
  } & Readonly<Record<string, string>>;
  return { ...own, ...annotations }[key];
}

export async function made(...set: readonly string[]): Promise<readonly Manifest[]> {
  return render({ helm: helm4.path, values: ['01-default-values.yaml'], set });
}

/** The objects of a kind, if the defaults make none. */
export async function madeOnly(
  kind: string,
  ...set: readonly string[]
): Promise<readonly Manifest[]> {
  const byDefault = ofKind(await made(), kind);
  return byDefault.length > 0 ? [] : ofKind(await made(...set), kind);
}

export async function isMadeOnly(kind: string, ...set: readonly string[]): Promise<boolean> {
  return (await madeOnly(kind, ...set)).length > 0;
}

/** The Deployment's pod. */
export async function podWith(...set: readonly string[]): Promise<Pod> {
  const [pod] = podsIn(ofKind(await made(...set), 'Deployment'));
  if (pod === undefined) throw new Error('there is no Deployment');
  return pod;
}

export async function containerWith(...set: readonly string[]): Promise<Container> {
  const [container] = (await podWith(...set)).spec.containers;
  if (container === undefined) throw new Error('there is no container');
  return container;
}

/** Whether something holds for the exporter, for the pods of `helm test`, and for the sidecar of an application. */
export async function holdsForEach(
  application: readonly Manifest[],
  holds: (container: Container) => boolean,
): Promise<boolean> {
  const pods = podsIn([...(await made()), ...application]);
  const results = pods.flatMap(({ spec }) =>
    containersOf(spec)
      .filter(({ image }) => image.includes('newrelic-exporter'))
      .map(holds),
  );
  return results.length > 2 && results.every(Boolean);
}

/** The Secret that the key is mounted from. */
export const secretName = async (set: string): Promise<unknown> =>
  (await podWith(set)).spec.volumes?.find(({ secret }) => secret !== undefined)?.secret?.secretName;

/** Whether an extra object is there, in a list or in a map, with the name that its template gives it. */
export async function hasExtra(place: '[0]' | '.map'): Promise<boolean> {
  const path = `extraManifests${place}`;
  const manifests = await made(
    `${path}.apiVersion=v1,${path}.kind=ConfigMap,${path}.metadata.name=of-{{ .Release.Name }}`,
  );
  return manifests.some(({ metadata }) => metadata.name === 'of-release');
}

export async function everyLabel(set: string, label: string, value: string): Promise<boolean> {
  const manifests = await made(set);
  return manifests.every(({ metadata }) => metadata.labels?.[label] === value);
}
