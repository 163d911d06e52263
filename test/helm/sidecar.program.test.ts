import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { chart, helm3, helm4, manifestsIn, type RenderOptions, renderText } from './chart.ts';
import { exporterProblems } from './exporter-files.ts';
import { expectHarmless, onlyPod, refusedAsRoot } from './harmless.ts';
import { containersOf, type Manifest, ofKind } from './manifests.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
let directory: string;
let application: string;
let injecting: string;

function configIn(manifests: readonly Manifest[]): string {
  return ofKind(manifests, 'ConfigMap')[0]?.data?.['config.yaml'] ?? '';
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

interface Change {
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
}

/** Another chart of an application: a copy of one with a change. */
function variant(name: string, of: string, { file, from, to }: Change): string {
  const path = join(directory, 'examples', name);
  cpSync(of, path, { recursive: true });
  const text = readFileSync(join(path, file), 'utf8');
  if (!from.test(text)) throw new Error(`${file} has no ${String(from)}`);
  writeFileSync(join(path, file), text.replace(from, to));
  return path;
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

  it('is found by its PodMonitor, and has a good configuration', async () => {
    const manifests = await render({});

    const pod = onlyPod(manifests);
    const label = { 'newrelic-exporter/sidecar': 'release-newrelic-exporter' };
    expect(await exporterProblems(manifests)).toEqual([]);
    expect(pod.metadata.labels).toMatchObject(label);
    expect(ofKind(manifests, 'PodMonitor')[0]?.spec?.['selector']).toEqual({ matchLabels: label });
    expect(ofKind(manifests, 'Service')).toEqual([]);
    expect(parse(configIn(manifests))).toEqual({
      accounts: [
        {
          name: 'default',
          api_key_file: '/var/run/secrets/newrelic/default/api-key',
          requests_per_minute: 30,
        },
      ],
      apps: [{ name: 'Shop', hosts: 'self', application: false }],
      poll: { discovery_interval: '15m' },
    });
  });

  it('mounts the ConfigMaps of teams, without which its pod starts as well', async () => {
    const team = 'newrelic-exporter.includeConfigMaps[0].name=team-{{ .Release.Name }}';
    const { spec } = onlyPod(await render({ set: [team] }));

    const [sidecar] = spec.initContainers ?? [];
    expect(sidecar?.volumeMounts).toContainEqual({
      name: 'newrelic-exporter-include-0',
      mountPath: '/etc/newrelic-exporter/teams/team-release',
      readOnly: true,
    });
    expect(spec.volumes).toContainEqual({
      name: 'newrelic-exporter-include-0',
      configMap: { name: 'team-release', optional: true },
    });
  });

  it.each([
    { name: 'root-group', securityContext: '{ runAsUser: 0, runAsGroup: 0, fsGroup: 0 }' },
    { name: 'non-root', securityContext: '{ runAsNonRoot: true, runAsUser: 1000 }' },
  ])('starts in a pod whose own security context is $name', async ({ name, securityContext }) => {
    const path = variant(name, application, {
      file: 'templates/deployment.yaml',
      from: /(?<=^ {6}securityContext:)\n(?: {8}.*\n)+/mu,
      to: securityContext.startsWith('{')
        ? ` ${securityContext}\n`
        : `\n        ${securityContext}\n`,
    });

    for (const kubeVersion of ['1.34.0', '1.25.0']) {
      const pod = onlyPod(await render({ path, kubeVersion }));
      const sidecars = containersOf(pod.spec).filter((one) => one.name === 'newrelic-exporter');
      expect(sidecars).toHaveLength(1);
      expect(refusedAsRoot(pod, sidecars)).toEqual([]);
      expectHarmless(sidecars[0], pod);
    }
  });

  const withoutUser = [
    { how: 'null', set: ['newrelic-exporter.sidecar.securityContext=null'] },
    {
      how: 'an empty string for each',
      set: ['runAsUser', 'runAsGroup'].map(
        (key) => `newrelic-exporter.sidecar.securityContext.${key}=`,
      ),
    },
  ].flatMap((one) => [
    { ...one, by: 'Helm 3', helm: helm3 },
    { ...one, by: 'Helm 4', helm: helm4 },
  ]);

  it.each(withoutUser.filter(({ helm }) => !helm.skip))(
    'has no user of its own with $how, by $by',
    async ({ helm, set }) => {
      const pod = onlyPod(await render({ helm: helm.path, set }));

      const [sidecar] = pod.spec.initContainers ?? [];
      expect(Object.keys(sidecar?.securityContext ?? {}).toSorted()).toEqual([
        'allowPrivilegeEscalation',
        'capabilities',
        'readOnlyRootFilesystem',
        'runAsNonRoot',
        'seccompProfile',
      ]);
    },
  );

  it('comes after the init containers of its host, and adds what images are pulled with', async () => {
    const path = variant('with-own', injecting, {
      file: 'templates/deployment.yaml',
      from: /^ {6}containers:$/mu,
      to: `      imagePullSecrets: [{ name: own }]
      initContainers: [{ name: migrate, image: shop }, { name: wait, image: shop }]
      containers:`,
    });
    const secrets = ['{own,pull}'].map((names) => `newrelic-exporter.image.pullSecrets=${names}`);

    const { spec } = onlyPod(await render({ path, set: secrets }));

    expect(spec.initContainers?.map(({ name }) => name)).toEqual([
      'migrate',
      'wait',
      'newrelic-exporter',
    ]);
    expect(spec.imagePullSecrets).toEqual([{ name: 'own' }, { name: 'pull' }]);
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
