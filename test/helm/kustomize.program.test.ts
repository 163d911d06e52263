import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load-config.ts';
import { codeBlocksIn } from '../docs/markdown.ts';
import { manifestsIn } from './chart.ts';
import { exporterProblems } from './exporter-files.ts';
import { expectHarmless, onlyPod, refusedAsRoot } from './harmless.ts';
import { kubectl, kustomized } from './kustomize.ts';
import { containersOf, type Manifest, ofKind, podsIn } from './manifests.ts';

const source = fileURLToPath(new URL('../../deploy/kustomize', import.meta.url));

function build(folder: string): readonly Manifest[] {
  return manifestsIn(kustomized(folder));
}

/** An object of the overlay with a pod template, which has the annotation with this value. */
function workload(kind: string, template: object, inject = 'true', group?: string): string {
  const metadata = { name: 'shop', annotations: { 'newrelic-exporter/inject': inject } };
  const labels = { app: 'shop' };
  const whole = { metadata: { labels }, ...template };
  const isJob = kind === 'Job' || kind === 'CronJob';
  const running = { selector: { matchLabels: labels }, template: whole };
  const job = { template: whole };
  const scheduled = { schedule: '0 * * * *', jobTemplate: { spec: job } };
  return JSON.stringify({
    apiVersion: `${group ?? (isJob ? 'batch' : 'apps')}/v1`,
    kind,
    metadata,
    spec: kind === 'CronJob' ? scheduled : isJob ? job : running,
  });
}

const kinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'];

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

  it.each([{ own: ['migrate'] }, { own: ['migrate', 'warm-up', 'wait'] }])(
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
    expect(monitor?.spec).toEqual({
      selector: { matchLabels: { 'newrelic-exporter/sidecar': 'true' } },
      podMetricsEndpoints: [{ port: 'nr-metrics', interval: '30s' }],
    });
  });

  it('has the label of the overlay in docs/kubernetes.md, by which a Prometheus selects it', () => {
    const document = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
    const block = codeBlocksIn(document).find(({ text }) =>
      text.startsWith('# kustomization.yaml\n'),
    );
    const overlay = join(directory, 'documented');
    mkdirSync(overlay);
    writeFileSync(join(overlay, 'kustomization.yaml'), block?.text ?? '');
    writeFileSync(join(overlay, 'deployment.yaml'), workload('Deployment', plain));

    const manifests = build(overlay);

    const [monitor] = ofKind(manifests, 'PodMonitor');
    expect(monitor?.metadata.labels).toEqual({ release: 'kube-prometheus-stack' });
    expectHarmless(onlyPod(manifests).spec.initContainers?.[0], onlyPod(manifests));
  });

  it.each(kinds)('adds the same sidecar to a %s, and leaves the rest of it as it is', (kind) => {
    const initContainers = [{ name: 'migrate', image: 'shop' }];
    const template = { spec: { ...plain.spec, initContainers, restartPolicy: 'Always' } };

    const [manifest] = patched(`kind-${kind.toLowerCase()}`, workload(kind, template));

    const pod = onlyPod(manifest === undefined ? [] : [manifest]);
    const [own, sidecar, ...others] = pod.spec.initContainers ?? [];
    expect(others).toEqual([]);
    expect(sidecar?.restartPolicy).toBe('Always');
    expectHarmless(sidecar, pod);
    expect(pod.metadata.labels?.['newrelic-exporter/sidecar']).toBe('true');
    expect(manifest?.metadata.annotations).toEqual({ 'newrelic-exporter/inject': 'true' });
    expect([own]).toEqual(initContainers);
    expect(pod.spec.containers).toEqual(template.spec.containers);
  });

  it.each([
    { kind: 'ReplicaSet', group: 'apps', inject: 'true' },
    { kind: 'Rollout', group: 'argoproj.io', inject: 'true' },
    { kind: 'Job', group: 'batch.volcano.sh', inject: 'true' },
    { kind: 'Deployment', group: 'apps', inject: 'True' },
    { kind: 'CronJob', group: 'batch', inject: 'yes' },
  ])('does not build with "$inject" on a $kind of $group', ({ kind, group, inject }) => {
    const name = `refused-${group}-${kind.toLowerCase()}-${inject}`;

    expect(() => patched(name, workload(kind, plain, inject, group))).toThrow(
      'newrelic-exporter~1inject must be true or false, and on a Deployment, StatefulSet, DaemonSet, Job or CronJob',
    );
  });

  it.each(kinds)('leaves a %s alone whose annotation is "false"', (kind) => {
    const manifests = patched(`off-${kind.toLowerCase()}`, workload(kind, plain, 'false'));

    expect(podsIn(manifests).map(({ spec }) => containersOf(spec).length)).toEqual([1]);
  });
});
