import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse-config.ts';
import { toolOrSkip } from '../support/tools.ts';
import { chart, helm3, helm4, manifestsIn, type RenderOptions, renderText } from './chart.ts';
import { exporterProblems } from './exporter-files.ts';
import {
  type Container,
  containersOf,
  type Manifest,
  ofKind,
  type Pod,
  podsIn,
} from './manifests.ts';
import { podSecurityProblems } from './pod-security.ts';
import { referenceProblems } from './references.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const kubectl = toolOrSkip('kubectl');
let directory: string;
let application: string;
let injecting: string;

function onlyPod(manifests: readonly Manifest[]): Pod {
  const [pod, ...others] = podsIn(manifests);
  if (pod === undefined || others.length > 0) throw new Error('expected one pod');
  return pod;
}

function configIn(manifests: readonly Manifest[]): string {
  return ofKind(manifests, 'ConfigMap')[0]?.data?.['config.yaml'] ?? '';
}

/** What must hold of a sidecar so that it cannot hurt its host, whatever brought it there. */
function expectHarmless(sidecar: Container | undefined, { spec }: Pod): void {
  const mounts = sidecar?.volumeMounts ?? [];
  const volumes = mounts.map((mount) => spec.volumes?.find(({ name }) => name === mount.name));
  expect(sidecar?.readinessProbe).toBeUndefined();
  expect(sidecar?.startupProbe).toBeUndefined();
  expect(sidecar?.livenessProbe?.httpGet).toEqual({ path: '/-/healthy', port: 'nr-metrics' });
  expect(sidecar?.ports).toEqual([{ name: 'nr-metrics', containerPort: 9126, protocol: 'TCP' }]);
  expect(sidecar?.securityContext?.readOnlyRootFilesystem).toBe(true);
  expect(mounts.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
  // A volume that must be there keeps the whole pod from starting.
  expect(volumes.map((volume) => (volume?.configMap ?? volume?.secret)?.optional)).toEqual([
    true,
    true,
  ]);
}

/** The example's Deployment with its pod template in one piece, given to `inject`. */
function injectingDeployment(): string {
  const own = readFileSync(join(root, 'examples/sidecar-chart/templates/deployment.yaml'), 'utf8')
    .replaceAll(/^ +\{\{- if \$sidecar \}\}\n(?:.*\n)*? +\{\{- end \}\}\n/gmu, '')
    .replace(/^\{\{- \$sidecar(?:.*\n)*?\{\{- end \}\}\n/u, '');
  const [head = '', template = ''] = own.split('  template:\n');
  return `{{- define "shop.pod" }}
${template}{{- end }}
${head}  template:
    {{- include "newrelic-exporter.sidecar.inject" (dict "template" (fromYaml (include "shop.pod" .)) "exporter" (index .Subcharts "newrelic-exporter")) | nindent 4 }}
`;
}

describe.skipIf(helm3.skip)(`the example chart with the sidecar${helm3.note}${helm4.note}`, () => {
  beforeAll(() => {
    // As in the checkout, so that its path to the other chart leads there.
    directory = mkdtempSync(join(tmpdir(), 'sidecar-chart-'));
    application = join(directory, 'examples/sidecar-chart');
    cpSync(join(root, 'examples/sidecar-chart'), application, {
      recursive: true,
      filter: (path) => !/charts$|Chart\.lock$/u.test(path),
    });
    cpSync(chart, join(directory, 'helm/newrelic-exporter'), { recursive: true });
    injecting = join(directory, 'examples/injecting');
    execFileSync(helm3.path, ['dependency', 'build', application], { stdio: 'pipe' });
    cpSync(application, injecting, { recursive: true });
    writeFileSync(join(injecting, 'templates/deployment.yaml'), injectingDeployment());
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  const render = async (options: RenderOptions): Promise<readonly Manifest[]> =>
    manifestsIn(await renderText({ path: application, ...options }));

  const cases = [
    { helm: helm3, kubeVersion: '1.29.0', set: [], native: true },
    { helm: helm4, kubeVersion: '1.34.0', set: [], native: true },
    { helm: helm3, kubeVersion: '1.25.0', set: [], native: false },
    { helm: helm4, kubeVersion: '1.28.9', set: [], native: false },
    {
      helm: helm3,
      kubeVersion: '1.34.0',
      set: ['newrelic-exporter.sidecar.native=false'],
      native: false,
    },
  ];

  it.each(cases.filter(({ helm }) => !helm.skip))(
    'is native: $native on Kubernetes $kubeVersion with $set',
    async ({ helm, kubeVersion, set, native }) => {
      const pod = onlyPod(await render({ helm: helm.path, kubeVersion, set }));

      const { spec } = pod;
      const home = native ? spec.initContainers : spec.containers;
      const sidecar = home?.find(({ name }) => name === 'newrelic-exporter');
      expect(sidecar?.restartPolicy).toBe(native ? 'Always' : undefined);
      expect([spec.initContainers?.length ?? 0, spec.containers.length]).toEqual(
        native ? [1, 1] : [0, 2],
      );
      expectHarmless(sidecar, pod);
    },
  );

  it('meets "restricted", is found by its PodMonitor and its peers, and has a good configuration', async () => {
    const manifests = await render({});
    const pod = onlyPod(manifests);
    const [monitor] = ofKind(manifests, 'PodMonitor');
    const [peers] = ofKind(manifests, 'Service');
    const [sidecar] = pod.spec.initContainers ?? [];

    const label = { 'newrelic-exporter/sidecar': 'release-newrelic-exporter' };
    const { config } = await parseConfig(configIn(manifests), {
      fileName: 'c.yaml',
      directory: '/',
    });
    expect(podSecurityProblems(pod)).toEqual([]);
    expect(await exporterProblems(manifests)).toEqual([]);
    expect(referenceProblems(manifests)).toEqual([]);
    expect(pod.metadata.labels).toMatchObject(label);
    expect(monitor?.spec?.['selector']).toEqual({ matchLabels: label });
    expect(peers?.spec).toMatchObject({
      clusterIP: 'None',
      selector: label,
      publishNotReadyAddresses: true,
    });
    expect(sidecar?.args).toContain(
      '--shard.dns-name=release-newrelic-exporter-peers.monitoring.svc',
    );
    expect(config.accounts[0]?.apiKey).toEqual({
      kind: 'file',
      path: '/var/run/secrets/newrelic/default/api-key',
    });
  });

  it.each([
    { kubeVersion: '1.34.0', native: true },
    { kubeVersion: '1.28.9', native: false },
  ])('is the same pod when it is injected as a whole, on $kubeVersion', async (options) => {
    const [plain, injected] = [
      onlyPod(await render({ kubeVersion: options.kubeVersion })),
      onlyPod(await render({ kubeVersion: options.kubeVersion, path: injecting })),
    ];

    expect(
      containersOf(injected.spec)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(['newrelic-exporter', 'shop']);
    expect(injected.spec.initContainers?.length ?? 0).toBe(options.native ? 1 : 0);
    // A list that stays empty is null in the plain template and absent in the injected one.
    expect(injected).toEqual({
      ...plain,
      spec: { ...plain.spec, initContainers: plain.spec.initContainers ?? undefined },
    });
  });

  it('is an application without an exporter when the dependency is switched off', async () => {
    const manifests = await render({ set: ['newrelic-exporter.enabled=false'] });

    const pod = onlyPod(manifests);
    expect(pod.spec.containers).toHaveLength(1);
    expect(pod.spec.initContainers).toBeUndefined();
    expect(manifests).toHaveLength(1);
  });
});

describe.skipIf(kubectl.skip)(`the Kustomize component${kubectl.note}`, () => {
  const build = (): readonly Manifest[] =>
    manifestsIn(
      execFileSync(kubectl.path, ['kustomize', join(root, 'deploy/kustomize/example')], {
        encoding: 'utf8',
      }),
    );

  it('adds a native sidecar that cannot hurt its host', () => {
    const manifests = build();

    const pod = onlyPod(manifests);
    const [sidecar] = pod.spec.initContainers ?? [];
    expect(sidecar?.restartPolicy).toBe('Always');
    expectHarmless(sidecar, pod);
    expect(podSecurityProblems(pod)).toEqual([]);
    expect(pod.spec.containers.map(({ name }) => name)).toEqual(['shop']);
  });

  it('mounts the configuration of the overlay under the name that the pod asks for', async () => {
    const manifests = build();

    const { spec } = onlyPod(manifests);
    const mounted = spec.volumes?.find(({ name }) => name === 'newrelic-exporter-config');
    const { config } = await parseConfig(configIn(manifests), {
      fileName: 'c.yaml',
      directory: '/',
    });
    expect(mounted?.configMap?.name).toBe(ofKind(manifests, 'ConfigMap')[0]?.metadata.name);
    expect(config.apps[0]?.selector).toEqual({ kind: 'name', name: 'Shop' });
  });
});
