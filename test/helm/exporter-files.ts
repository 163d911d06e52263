import { dirname, join } from 'node:path';
import { parseArguments } from '../../src/cli/arguments.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  type Pod,
  podsIn,
  type Volume,
} from './manifests.ts';

/** The exporter in a pod, with what it finds there. */
export interface ExporterContainer {
  readonly pod: Pod;
  readonly container: Container;
}

export function exportersIn(manifests: readonly Manifest[]): readonly ExporterContainer[] {
  return podsIn(manifests).flatMap((pod) =>
    containersOf(pod.spec)
      .filter(({ args = [] }) => args.some((arg) => arg.startsWith('--config.file=')))
      .map((container) => ({ pod, container })),
  );
}

/** Where the text of every configuration that the release has stands. */
function configurationsIn(
  manifests: readonly Manifest[],
): readonly { readonly name: string; readonly text: string }[] {
  return ofKind(manifests, 'ConfigMap').flatMap(({ metadata, data }) => {
    const text = data?.['config.yaml'];
    return text === undefined ? [] : [{ name: metadata.name, text }];
  });
}

/** The configuration as the exporter reads it in the pod; throws what the exporter would print. */
async function readConfiguration(text: string): Promise<Config> {
  const source = { fileName: 'config.yaml', directory: '/etc/newrelic-exporter' };
  return (await parseConfig(text, source)).config;
}

function isWhole({ configMap, secret }: Volume): boolean {
  return configMap !== undefined || (secret !== undefined && secret.items === undefined);
}

/** Whether a file is mounted, as far as the pod tells: of whole volumes the files are not known. */
function isMounted({ pod, container }: ExporterContainer, file: string): boolean {
  return (container.volumeMounts ?? []).some(({ name, mountPath }) => {
    const volume = pod.spec.volumes?.find((candidate) => candidate.name === name);
    if (volume === undefined) return false;
    if (isWhole(volume)) return dirname(file) === mountPath;
    return (volume.secret?.items ?? []).some(({ path }) => join(mountPath, path) === file);
  });
}

function keyFilesOf(config: Config): readonly string[] {
  return config.accounts.flatMap(({ apiKey, caFile, proxyUrlFrom }) => [
    ...(apiKey.kind === 'file' ? [apiKey.path] : []),
    ...(caFile === undefined ? [] : [caFile]),
    ...(proxyUrlFrom?.kind === 'file' ? [proxyUrlFrom.path] : []),
  ]);
}

async function configProblems(
  exporter: ExporterContainer,
  text: string,
): Promise<readonly string[]> {
  try {
    const config = await readConfiguration(text);
    const withoutFile = config.accounts.filter(({ apiKey }) => apiKey.kind !== 'file');
    return [
      ...keyFilesOf(config)
        .filter((file) => !isMounted(exporter, file))
        .map((file) => `${file} is not mounted`),
      ...withoutFile.map(({ name }) => `the account ${name} has its key from the environment`),
    ];
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}

/** Its volume with the configuration is one of the release's, or one of the named ones. */
function textFor(exporter: ExporterContainer, manifests: readonly Manifest[]): string | undefined {
  const volumes = exporter.pod.spec.volumes ?? [];
  const names = new Set(volumes.map(({ configMap }) => configMap?.name));
  return configurationsIn(manifests).find(({ name }) => names.has(name))?.text;
}

/**
 * What the exporter would stop at when it starts in its pod: arguments that it does not know, a file
 * that is not there, a configuration that it refuses.
 */
export async function exporterProblems(
  manifests: readonly Manifest[],
  foreignConfigMap?: string,
): Promise<readonly string[]> {
  const problems = exportersIn(manifests).map(async (exporter) => {
    const args = parseArguments(exporter.container.args ?? [], {});
    if (args.kind !== 'run') return [args.kind === 'error' ? args.message : args.kind];
    const text = textFor(exporter, manifests);
    const isForeign = (exporter.pod.spec.volumes ?? []).some(
      ({ configMap }) => configMap !== undefined && configMap.name === foreignConfigMap,
    );
    return [
      ...(isMounted(exporter, args.flags.configFile) ? [] : ['the configuration is not mounted']),
      ...(text === undefined && !isForeign ? ['there is no configuration'] : []),
      ...(text === undefined ? [] : await configProblems(exporter, text)),
    ];
  });
  return (await Promise.all(problems)).flat();
}

/** Secrets that the release has, but that lack a key that a pod wants. */
export function secretProblems(manifests: readonly Manifest[]): readonly string[] {
  const secrets = ofKind(manifests, 'Secret');
  return podsIn(manifests).flatMap(({ of, spec }) =>
    (spec.volumes ?? []).flatMap(({ secret }) => {
      const own = secrets.find(({ metadata }) => metadata.name === secret?.secretName);
      const data = own?.data ?? {};
      return (own === undefined ? [] : (secret?.items ?? []))
        .filter(({ key }) => data[key] === undefined)
        .map(({ key }) => `${of}: the Secret has no ${key}`);
    }),
  );
}
