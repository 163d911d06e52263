import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/parse-config.ts';
import { toolOrSkip } from '../support/tools.ts';
import { manifestsIn } from './chart.ts';
import { exporterProblems } from './exporter-files.ts';
import { expectHarmless, onlyPod, refusedAsRoot } from './harmless.ts';
import { containersOf, type Manifest, ofKind, podsIn } from './manifests.ts';
import { podSecurityProblems } from './pod-security.ts';
import { referenceProblems } from './references.ts';

const source = fileURLToPath(new URL('../../deploy/kustomize', import.meta.url));
const kubectl = toolOrSkip('kubectl');

function build(folder: string): readonly Manifest[] {
  return manifestsIn(execFileSync(kubectl.path, ['kustomize', folder], { encoding: 'utf8' }));
}

/** A workload of the overlay, with what is to be patched in it. */
function workload(kind: string, template: object): string {
  const metadata = { name: 'shop', annotations: { 'newrelic-exporter/inject': 'true' } };
  const labels = { app: 'shop' };
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, ...template },
  };
  return JSON.stringify({ apiVersion: 'apps/v1', kind, metadata, spec });
}

const plain = { spec: { containers: [{ name: 'shop', image: 'shop' }] } };

describe.skipIf(kubectl.skip)(`the Kustomize component${kubectl.note}`, () => {
  let directory: string;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'newrelic-exporter-kustomize-'));
    cpSync(source, directory, { recursive: true });
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  const patched = (
    name: string,
    text: string,
    patches: readonly object[] = [],
  ): readonly Manifest[] => {
    const overlay = join(directory, name);
    mkdirSync(overlay);
    writeFileSync(join(overlay, 'workload.yaml'), text);
    const kustomization = {
      namespace: 'shop',
      resources: ['workload.yaml'],
      components: ['../component', '../podmonitor'],
      patches,
    };
    writeFileSync(join(overlay, 'kustomization.yaml'), JSON.stringify(kustomization));
    return build(overlay);
  };

  it('adds a native sidecar that cannot hurt its host', async () => {
    const manifests = build(join(source, 'example'));

    const pod = onlyPod(manifests);
    const [sidecar] = pod.spec.initContainers ?? [];
    expect(sidecar?.restartPolicy).toBe('Always');
    expectHarmless(sidecar, pod);
    expect(podSecurityProblems(pod)).toEqual([]);
    expect(await exporterProblems(manifests)).toEqual([]);
    expect(pod.spec.containers.map(({ name }) => name)).toEqual(['shop']);
    expect(manifests.map(({ kind }) => kind).toSorted()).toEqual(['ConfigMap', 'Deployment']);
  });

  it('shows a configuration that reads each host once, under the name that the pod asks for', async () => {
    const manifests = build(join(source, 'example'));

    const [map] = ofKind(manifests, 'ConfigMap');
    const text = map?.data?.['config.yaml'] ?? '';
    const { spec } = onlyPod(manifests);
    const mounted = spec.volumes?.find(({ name }) => name === 'newrelic-exporter-config');
    expect(mounted?.configMap?.name).toBe(map?.metadata.name);
    expect(parse(text)).toMatchObject({
      accounts: [{ requests_per_minute: 30 }],
      poll: { discovery_interval: '15m' },
      apps: [{ name: 'Shop', hosts: 'self', application: false }],
    });
    const { warnings } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
    expect(warnings).toEqual([]);
  });

  it.each([{ own: [] }, { own: ['migrate'] }, { own: ['migrate', 'warm-up', 'wait'] }])(
    'starts the sidecar after the init containers $own of the host',
    ({ own }) => {
      const initContainers = own.map((name) => ({ name, image: name }));
      const template = { spec: { ...plain.spec, initContainers } };

      const pod = onlyPod(patched(`after-${own.length}`, workload('StatefulSet', template)));

      const names = pod.spec.initContainers?.map(({ name }) => name);
      expect(names).toEqual([...own, 'newrelic-exporter']);
    },
  );

  it.each([
    { securityContext: { runAsUser: 0 } },
    { securityContext: { runAsUser: 0, runAsGroup: 0, fsGroup: 0 } },
    { securityContext: { runAsUser: 1000, runAsNonRoot: true } },
  ])('starts in a pod with the security context $securityContext', ({ securityContext }) => {
    const name = `security-${Object.keys(securityContext).join('-').toLowerCase()}`;
    const template = { spec: { ...plain.spec, securityContext } };

    const pod = onlyPod(patched(name, workload('Deployment', template)));

    expect(refusedAsRoot(pod, containersOf(pod.spec))).toEqual([]);
    expectHarmless(pod.spec.initContainers?.[0], pod);
  });

  it('has no user of its own after the patch that it names for OpenShift', () => {
    const text = readFileSync(join(source, 'component/sidecar.yaml'), 'utf8');
    const operations = [...text.matchAll(/# (- \{ op: remove.*\})$/gmu)].map(([, line]) => line);
    const target = { annotationSelector: 'newrelic-exporter/inject=true' };
    const initContainers = [{ name: 'migrate', image: 'shop' }];
    const host = workload('Deployment', { spec: { ...plain.spec, initContainers } });

    const pod = onlyPod(patched('openshift', host, [{ target, patch: operations.join('\n') }]));

    const [own, sidecar] = pod.spec.initContainers ?? [];
    expect(operations).toHaveLength(2);
    expect(own).toEqual({ name: 'migrate', image: 'shop' });
    expect(sidecar?.name).toBe('newrelic-exporter');
    expect(Object.keys(sidecar?.securityContext ?? {})).not.toContain('runAsUser');
    expect(Object.keys(sidecar?.securityContext ?? {})).not.toContain('runAsGroup');
    expect(sidecar?.securityContext?.runAsNonRoot).toBe(true);
  });

  it('has a PodMonitor for those who want one, which finds the pods', () => {
    const manifests = patched('monitored', workload('Deployment', plain));

    const [monitor] = ofKind(manifests, 'PodMonitor');
    expect(monitor?.metadata.namespace).toBe('shop');
    expect(onlyPod(manifests).metadata.labels).toMatchObject({
      'newrelic-exporter/sidecar': 'true',
    });
    expect(referenceProblems(manifests)).toEqual([]);
    expect(monitor?.spec).toEqual({
      selector: { matchLabels: { 'newrelic-exporter/sidecar': 'true' } },
      podMetricsEndpoints: [{ port: 'nr-metrics', interval: '30s' }],
    });
  });

  it.each([{ kind: 'DaemonSet' }, { kind: 'Job' }])(
    'leaves a $kind as it is, as its documents say',
    ({ kind }) => {
      const manifests = patched(`other-${kind.toLowerCase()}`, workload(kind, plain));

      expect(podsIn(manifests).map(({ spec }) => containersOf(spec).length)).toEqual([1]);
    },
  );
});
