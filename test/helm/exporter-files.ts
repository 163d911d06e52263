import { parseArguments } from '../../src/cli/arguments.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { parseConfig } from '../../src/config/load-config.ts';
import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  type Pod,
  podsIn,
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

/** Its volume with the configuration is one of the release's. */
function textFor({ pod }: ExporterContainer, manifests: readonly Manifest[]): string | undefined {
  const names = new Set((pod.spec.volumes ?? []).map(({ configMap }) => configMap?.name));
  return ofKind(manifests, 'ConfigMap').find(
    ({ metadata, data }) => names.has(metadata.name) && data?.['config.yaml'] !== undefined,
  )?.data?.['config.yaml'];
}

async function configProblems(text: string): Promise<readonly string[]> {
  try {
    const source = { fileName: 'config.yaml', directory: '/etc/newrelic-exporter' };
    const { accounts } = (await parseConfig(text, source)).config;
    return accounts
      .filter(({ apiKey }) => apiKey.kind !== 'file')
      .map(({ name }) => `the account ${name} has its key from the environment`);
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}

/**
 * What the exporter would stop at when it starts in its pod: arguments that it does not know, no
 * configuration, or one that it refuses.
 */
export async function exporterProblems(
  manifests: readonly Manifest[],
  foreignConfigMap?: string,
): Promise<readonly string[]> {
  const problems = exportersIn(manifests).map(async (exporter) => {
    const args = parseArguments(exporter.container.args ?? [], {});
    if (args.kind !== 'run') return [args.kind === 'error' ? args.message : args.kind];
    const text = textFor(exporter, manifests);
    if (text !== undefined) return configProblems(text);
    const isForeign = (exporter.pod.spec.volumes ?? []).some(
      ({ configMap }) => configMap !== undefined && configMap.name === foreignConfigMap,
    );
    return isForeign ? [] : ['there is no configuration'];
  });
  return (await Promise.all(problems)).flat();
}
