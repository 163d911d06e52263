import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from './changed.ts';
import { helm4, render } from './chart.ts';
import { exporterProblems, secretProblems } from './exporter-files.ts';
import { keyLeaks, keysInEnvironment } from './key-leaks.ts';
import type { Manifest } from './manifests.ts';
import { referenceProblems } from './references.ts';

const canary = 'NRAK-TESTTESTTESTTESTTESTTESTTES';
const encoded = Buffer.from(canary).toString('base64');

/** A rule that finds nothing proves nothing: each is given an object with a mistake. */
describe.skipIf(helm4.skip)(`the rules for rendered objects${helm4.note}`, () => {
  let manifests: readonly Manifest[];

  beforeAll(async () => {
    manifests = await render({
      helm: helm4.path,
      values: ['05-shards-static-values.yaml', '03-key-value-values.yaml'],
      set: ['apiKey.existingSecret=', 'serviceMonitor.enabled=true', 'podMonitor.enabled=true'],
    });
  });

  const selector = '"app.kubernetes.io/instance":"release"';
  const other = '"app.kubernetes.io/instance":"other"';

  it.each([
    { kind: 'PodMonitor', from: selector, to: other, finds: 'selects no pod' },
    {
      kind: 'PodMonitor',
      from: 'http-metrics',
      to: 'metrics',
      finds: 'no pod has the port metrics',
    },
    {
      kind: 'Service',
      from: `"selector":{"app.kubernetes.io/name":"newrelic-exporter",${selector}}`,
      to: `"selector":{${selector}}`,
      finds: 'selects a hook',
    },
    {
      kind: 'ServiceMonitor',
      from: ',"app.kubernetes.io/component":"metrics"',
      to: '',
      finds: 'selects 2 Services',
    },
    {
      kind: 'StatefulSet',
      from: '"mountPath":"/etc/newrelic-exporter"',
      to: '"mountPath":"/etc/newrelic-exporter","subPath":"config.yaml"',
      finds: 'config is never updated',
    },
  ])('find of a $kind: $finds', ({ finds, ...change }) => {
    expect(referenceProblems(changed(manifests, change)).join('\n')).toContain(finds);
  });

  it.each([
    { kind: 'StatefulSet', from: '--log.level', to: '--loglevel', finds: '--loglevel' },
    {
      kind: 'StatefulSet',
      from: '--config.file=/etc/newrelic-exporter',
      to: '--config.file=/etc/exporter',
      finds: 'the configuration is not mounted',
    },
    {
      kind: 'StatefulSet',
      from: '"path":"api-key"',
      to: '"path":"key"',
      finds: 'default/api-key is not mounted',
    },
    { kind: 'ConfigMap', from: 'apps:', to: 'aps:', finds: 'unknown key "aps"' },
  ])('find: $finds', async ({ finds, ...change }) => {
    const problems = await exporterProblems(changed(manifests, change));

    expect(problems.join('\n')).toContain(finds);
  });

  it('find a Secret that lacks the key that the pod wants', () => {
    const change = { kind: 'Secret', from: '"api-key"', to: '"key"' };

    expect(secretProblems(changed(manifests, change))).toHaveLength(2);
  });

  it.each([
    { kind: 'StatefulSet', from: '--log.level=info', to: `--key=${canary}`, finds: 'args.3' },
    {
      kind: 'Service',
      from: '"metadata":{',
      to: `"metadata":{"annotations":{"a":"${encoded}"},`,
      finds: 'annotations.a',
    },
    { kind: 'ConfigMap', from: 'apps:', to: `k: ${canary}\\napps:`, finds: 'data.config.yaml' },
    {
      kind: 'Secret',
      from: '"name":"release-newrelic-exporter"',
      to: `"name":"${canary}"`,
      finds: 'metadata.name',
    },
  ])('find a key in a $kind: $finds', ({ finds, ...change }) => {
    expect(keyLeaks(changed(manifests, change), canary).join('\n')).toContain(finds);
  });

  it.each([
    '"env":[{"name":"NEW_RELIC_API_KEY","value":"x"},',
    '"env":[{"name":"X","valueFrom":{"secretKeyRef":{"name":"newrelic","key":"api-key"}}},',
    '"envFrom":[{"secretRef":{"name":"newrelic"}}],"env":[',
  ])('find a variable that holds a key: %s', (to) => {
    const change = { kind: 'StatefulSet', from: '"env":[', to };

    expect(keysInEnvironment(changed(manifests, change))).toHaveLength(1);
  });
});
