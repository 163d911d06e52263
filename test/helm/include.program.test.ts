import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { selectorText } from '../../src/model/selector.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { helm3, helm4, render } from './chart.ts';
import { type ExporterContainer, exportersIn } from './exporter-files.ts';
import { type Manifest, ofKind, podsIn } from './manifests.ts';

type ConfigMaps = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The teams' own; both have a file of the same name. */
const ofTeams: ConfigMaps = {
  'release-payments': { 'apps.yaml': 'apps: [{ name: Checkout }]\n' },
  'team.search': { 'apps.yaml': 'apps: [{ name: Search }]\n', README: 'not: read\n' },
};

/** What the container sees of the ConfigMaps: the kubelet links each file into a directory with a dot. */
function filesIn({ pod, container }: ExporterContainer, maps: ConfigMaps): Record<string, string> {
  const mounts = (container.volumeMounts ?? []).flatMap(({ name, mountPath, subPath }) => {
    const volume = pod.spec.volumes?.find((one) => one.name === name);
    const data = maps[volume?.configMap?.name ?? ''] ?? {};
    if (subPath !== undefined) throw new Error(`${mountPath} would never be updated`);
    return Object.entries(data).flatMap(([file, text]) => [
      [`${mountPath}/${file}`, text],
      [`${mountPath}/..data/${file}`, text],
    ]);
  });
  return Object.fromEntries(mounts) as Record<string, string>;
}

async function selected(exporter: ExporterContainer, maps: ConfigMaps): Promise<readonly string[]> {
  const path = exporter.container.args?.find((arg) => arg.startsWith('--config.file=')) ?? '';
  const platform = createFakePlatform({ files: filesIn(exporter, maps) });
  const { config } = await loadConfig(path.replace('--config.file=', ''), platform);
  return config.apps.map(({ selector }) => selectorText(selector));
}

function mapsIn(manifests: readonly Manifest[]): ConfigMaps {
  return Object.fromEntries(
    ofKind(manifests, 'ConfigMap').map(({ metadata, data = {} }) => [metadata.name, data]),
  );
}

describe.each([
  { helm: 'helm 3', tool: helm3, kubeVersion: '1.25.0' },
  { helm: 'helm 4', tool: helm4, kubeVersion: '1.34.0' },
])('ConfigMaps of teams, by $helm', ({ tool, kubeVersion }) => {
  const values = ['18-include-values.yaml'];

  it.skipIf(tool.skip).each([
    { set: [], pods: 3 },
    { set: ['mode=sidecar', 'configReload=hot'], pods: 2 },
  ])(`are read by the exporter and by its checks, with $set${tool.note}`, async ({ set, pods }) => {
    const manifests = await render({ helm: tool.path, kubeVersion, values, set });
    const exporters = exportersIn(manifests);
    const maps = { ...mapsIn(manifests), ...ofTeams };
    const read = await Promise.all(exporters.map(async (one) => selected(one, maps)));

    expect(exporters).toHaveLength(pods);
    expect(read).toEqual(
      exporters.map(() => ['match=-staging$', 'match=^shared-', 'name=Checkout', 'name=Search']),
    );
  });

  it.skipIf(tool.skip)(`restart no pod when they change${tool.note}`, async () => {
    const checksum = async (set: readonly string[]): Promise<string | undefined> => {
      const manifests = await render({ helm: tool.path, kubeVersion, values, set });
      return podsIn(manifests).find(({ of }) => of.startsWith('Deployment'))?.metadata
        .annotations?.['checksum/config'];
    };
    const [before, after, other] = await Promise.all([
      checksum([]),
      checksum(['includeConfigMaps[0].name=another']),
      checksum(['config.apps[1].match=^another-']),
    ]);

    expect(before).toMatch(/^[0-9a-f]{64}$/u);
    expect(after).toBe(before);
    expect(other).not.toBe(before);
  });
});
