import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { parseConfig } from '../../src/config/load-config.ts';
import { codeBlocksIn } from '../docs/markdown.ts';
import { kubectlValidate, schemaReport } from './api-schemas.ts';
import { helm3, manifestsIn, render } from './chart.ts';
import { exporterProblems } from './exporter-files.ts';
import { onlyPod } from './harmless.ts';
import { kubectl, kustomized } from './kustomize.ts';
import { type Manifest, ofKind } from './manifests.ts';

const source = fileURLToPath(new URL('../../deploy/kubernetes', import.meta.url));
const rulesFile = join(source, 'prometheus-operator/rules.yaml');

/** Values with which the chart makes what is there without it, but for the names of its own release. */
const asPlain = [
  'fullnameOverride=newrelic-exporter',
  'config.accounts[0].name=default,config.accounts[0].region=us',
  'config.apps[0].match=.,apiKey.existingSecret=newrelic',
  'serviceMonitor.enabled=true,prometheusRule.enabled=true',
];

const ofRelease: ReadonlySet<string> = new Set([
  'helm.sh/chart',
  'app.kubernetes.io/instance',
  'app.kubernetes.io/managed-by',
  'app.kubernetes.io/version',
]);

/** An object without what tells releases apart: namespace, labels of the chart, and the form of its configuration. */
function comparable(manifest: Manifest): unknown {
  const data = manifest.data?.['config.yaml'];
  return JSON.parse(
    JSON.stringify({ ...manifest, ...(data === undefined ? {} : { data: parse(data) }) }),
    (key, value: unknown) =>
      ofRelease.has(key) || key === 'namespace' || key === 'namespaceSelector' ? undefined : value,
  );
}

function byKind(manifests: readonly Manifest[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(manifests.map((one) => [one.kind, comparable(one)]));
}

async function chartObjects(): Promise<readonly Manifest[]> {
  const manifests = await render({ set: asPlain });
  // Those of `helm test` are no part of a release.
  return manifests.filter(({ kind }) => kind !== 'Pod');
}

describe.skipIf(helm3.skip)(`deploy/kubernetes/prometheus-operator/rules.yaml${helm3.note}`, () => {
  it('has the rules of the chart', async () => {
    const [rule] = ofKind(await chartObjects(), 'PrometheusRule');
    const written = `# Written by "npx vitest run --project programs test/helm/plain-manifests -u".\n${stringify(
      comparable(rule as Manifest),
      { lineWidth: 0 },
    )}`;

    await expect(written).toMatchFileSnapshot(rulesFile);
  });
});

describe.skipIf(kubectl.skip)(`deploy/kubernetes${kubectl.note}`, () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'newrelic-exporter-plain-'));
    cpSync(source, join(directory, 'deploy/kubernetes'), { recursive: true });
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  /** An overlay beside the copy of the folder; by default with all that there is. */
  const built = (
    name: string,
    kustomization = 'resources: [../deploy/kubernetes]\ncomponents: [../deploy/kubernetes/prometheus-operator]\n',
    files: Readonly<Record<string, string>> = {},
  ): string => {
    const overlay = join(directory, name);
    mkdirSync(overlay);
    for (const [file, text] of Object.entries({ ...files, 'kustomization.yaml': kustomization })) {
      writeFileSync(join(overlay, file), text);
    }
    return kustomized(overlay);
  };

  it.skipIf(helm3.skip)(
    `has the objects of the chart with its default values${helm3.note}`,
    async () => {
      const manifests = manifestsIn(built('whole'));

      expect(byKind(manifests)).toEqual(byKind(await chartObjects()));
      expect(manifests).toHaveLength((await chartObjects()).length);
    },
  );

  it('needs nothing but the Secret, and no operator', async () => {
    const manifests = manifestsIn(kustomized(source));

    expect(manifests.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'Service',
      'ServiceAccount',
    ]);
    expect(await exporterProblems(manifests)).toEqual([]);
    const secrets = onlyPod(manifests).spec.volumes?.flatMap(({ secret }) => secret ?? []);
    expect(secrets?.map(({ secretName }) => secretName)).toEqual(['newrelic']);
  });

  it('shows a configuration that is accepted without a warning', async () => {
    const text = readFileSync(join(source, 'config.yaml'), 'utf8');

    const { warnings } = await parseConfig(text, { fileName: 'config.yaml', directory: '/' });

    expect(warnings).toEqual([]);
  });

  it('takes the image, the configuration and the labels of the overlay in docs/kubernetes.md', () => {
    const document = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
    const overlay = codeBlocksIn(document).find(({ text }) =>
      text.startsWith('# kustomization.yaml, of the exporter\n'),
    );
    const config = 'apps: [{ id: 1 }]\n';

    const manifests = manifestsIn(built('documented', overlay?.text, { 'config.yaml': config }));

    const [map] = ofKind(manifests, 'ConfigMap');
    const labelled = manifests.filter(({ apiVersion }) => apiVersion.includes('coreos'));
    const [container] = onlyPod(manifests).spec.containers;
    expect(container?.image).toBe('registry.example.com/monitoring/newrelic-exporter:0.1.0');
    expect(map?.data?.['config.yaml']).toBe(config);
    expect(map?.metadata.name).toBe('newrelic-exporter');
    expect(new Set(manifests.map(({ metadata }) => metadata.namespace))).toEqual(
      new Set(['monitoring']),
    );
    expect(labelled.map(({ metadata }) => metadata.labels?.['release'])).toEqual([
      'kube-prometheus-stack',
      'kube-prometheus-stack',
    ]);
  });

  it.skipIf(kubectlValidate.skip).each(['1.25', '1.30'])(
    `is what the API of Kubernetes %s takes${kubectlValidate.note}`,
    async (version) => {
      const text = built(`valid-${version}`);
      const file = join(directory, `valid-${version}.yaml`);
      writeFileSync(file, text);

      const report = await schemaReport([file], version);

      expect(text).toContain('kind: ServiceMonitor');
      expect(report).toContain('OK');
      expect(report).not.toMatch(/error/iu);
    },
  );
});
