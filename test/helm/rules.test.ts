import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from './changed.ts';
import { helm4, render } from './chart.ts';
import { exporterProblems, secretProblems } from './exporter-files.ts';
import { keyLeaks, keysInEnvironment } from './key-leaks.ts';
import type { Manifest } from './manifests.ts';
import { referenceProblems } from './references.ts';

const canary = 'NRAK-TESTTESTTESTTESTTESTTESTTES';
const encoded = Buffer.from(canary).toString('base64');

describe.skipIf(helm4.skip)(`the rules for rendered objects${helm4.note}`, () => {
  let manifests: readonly Manifest[];

  beforeAll(async () => {
    manifests = await render({
      helm: helm4.path,
      values: ['05-shards-static-values.yaml', '03-key-value-values.yaml'],
      set: [
        'apiKey.existingSecret=',
        'serviceMonitor.enabled=true',
        'podMonitor.enabled=true',
        'networkPolicy.enabled=true',
        'ingress.enabled=true',
        'ingress.hosts[0]=exporter.example.com',
      ],
    });
  });

  it('find nothing wrong with what the chart makes', async () => {
    expect(manifests.length).toBeGreaterThan(9);
    expect(referenceProblems(manifests)).toEqual([]);
    expect(secretProblems(manifests)).toEqual([]);
    expect(await exporterProblems(manifests)).toEqual([]);
    expect(keyLeaks(manifests, canary)).toEqual([]);
    expect(keysInEnvironment(manifests)).toEqual([]);
  });

  const selector = '"app.kubernetes.io/instance":"release"';
  const other = '"app.kubernetes.io/instance":"other"';

  it.each([
    {
      kind: 'Service',
      from: `"selector":{"app.kubernetes.io/name":"newrelic-exporter",${selector}}`,
      to: `"selector":{${other}}`,
      finds: 'Service release-newrelic-exporter selects no pod',
    },
    {
      kind: 'Service',
      from: `"selector":{"app.kubernetes.io/name":"newrelic-exporter",${selector}}`,
      to: `"selector":{${selector}}`,
      finds:
        'Service release-newrelic-exporter selects the hook Pod release-newrelic-exporter-test',
    },
    {
      kind: 'Service',
      from: '"targetPort":"http-metrics"',
      to: '"targetPort":"metrics"',
      finds:
        'Service release-newrelic-exporter: StatefulSet release-newrelic-exporter has no port metrics',
    },
    {
      kind: 'Service',
      from: '"clusterIP":"None",',
      to: '',
      finds:
        'StatefulSet release-newrelic-exporter: no headless Service release-newrelic-exporter-peers',
    },
    {
      kind: 'ServiceMonitor',
      from: ',"app.kubernetes.io/component":"metrics"',
      to: '',
      finds: 'ServiceMonitor release-newrelic-exporter selects 2 Services',
    },
    {
      kind: 'ServiceMonitor',
      from: selector,
      to: other,
      finds: 'ServiceMonitor release-newrelic-exporter selects 0 Services',
    },
    {
      kind: 'ServiceMonitor',
      from: '"matchNames":["monitoring"]',
      to: '"matchNames":["default"]',
      finds:
        'ServiceMonitor release-newrelic-exporter does not look where Service release-newrelic-exporter is',
    },
    {
      kind: 'ServiceMonitor',
      from: 'http-metrics',
      to: 'metrics',
      finds: 'ServiceMonitor release-newrelic-exporter: no Service has the port metrics',
    },
    {
      kind: 'PodMonitor',
      from: selector,
      to: other,
      finds: 'PodMonitor release-newrelic-exporter selects no pod',
    },
    {
      kind: 'PodMonitor',
      from: 'http-metrics',
      to: 'metrics',
      finds:
        'PodMonitor release-newrelic-exporter: StatefulSet release-newrelic-exporter has no port metrics',
    },
    {
      kind: 'PodDisruptionBudget',
      from: selector,
      to: other,
      finds: 'PodDisruptionBudget release-newrelic-exporter selects no pod',
    },
    {
      kind: 'NetworkPolicy',
      from: selector,
      to: other,
      finds: 'NetworkPolicy release-newrelic-exporter selects no pod',
    },
    {
      kind: 'Ingress',
      from: '"service":{"name":"release-newrelic-exporter"',
      to: '"service":{"name":"other"',
      finds: 'Ingress release-newrelic-exporter: no Service other',
    },
    {
      kind: 'Ingress',
      from: /"rules":\[.*\]/gu,
      to: '"rules":[]',
      finds: 'Ingress release-newrelic-exporter leads nowhere',
    },
    {
      kind: 'StatefulSet',
      from: '"matchLabels":{"app.kubernetes.io/name"',
      to: '"matchLabels":{"app.kubernetes.io/version":"0.1.0","app.kubernetes.io/name"',
      finds: 'StatefulSet release-newrelic-exporter selects by app.kubernetes.io/version',
    },
    {
      kind: 'StatefulSet',
      from: '{"name":"api-key","mountPath"',
      to: '{"name":"key","mountPath"',
      finds: 'StatefulSet release-newrelic-exporter: newrelic-exporter mounts no volume key',
    },
    {
      kind: 'StatefulSet',
      from: '"volumes":[',
      to: '"volumes":[{"name":"config"},',
      finds: 'StatefulSet release-newrelic-exporter has the volume config twice',
    },
    {
      kind: 'StatefulSet',
      from: '"mountPath":"/etc/newrelic-exporter"',
      to: '"mountPath":"/etc/newrelic-exporter","subPath":"config.yaml"',
      finds: 'StatefulSet release-newrelic-exporter: config is never updated, because of subPath',
    },
  ])('find: $finds', ({ finds, ...change }) => {
    expect(referenceProblems(changed(manifests, change))).toContain(finds);
  });

  it.each([
    {
      kind: 'StatefulSet',
      from: '--log.level',
      to: '--loglevel',
      finds: 'unknown flag "--loglevel"',
    },
    {
      kind: 'StatefulSet',
      from: '--config.file=/etc/newrelic-exporter',
      to: '--config.file=/etc/exporter',
      finds: 'the configuration is not mounted',
    },
    {
      kind: 'StatefulSet',
      from: '"configMap":{"name":"release-newrelic-exporter"}',
      to: '"configMap":{"name":"other"}',
      finds: 'there is no configuration',
    },
    {
      kind: 'StatefulSet',
      from: '"path":"api-key"',
      to: '"path":"key"',
      finds: '/var/run/secrets/newrelic/default/api-key is not mounted',
    },
    {
      kind: 'ConfigMap',
      from: 'api_key_file: /var/run/secrets/newrelic/default/api-key',
      to: 'api_key_env: NEW_RELIC_KEY',
      finds: 'the account default has its key from the environment',
    },
    { kind: 'ConfigMap', from: 'apps:', to: 'aps:', finds: 'unknown key "aps"' },
  ])('find: $finds', async ({ finds, ...change }) => {
    const problems = await exporterProblems(changed(manifests, change));

    expect(problems.join('\n')).toContain(finds);
  });

  it('find a Secret that lacks the key that the pod wants', () => {
    const change = { kind: 'Secret', from: '"api-key"', to: '"key"' };

    expect(secretProblems(changed(manifests, change))).toEqual([
      'StatefulSet release-newrelic-exporter: the Secret has no api-key',
      'Pod release-newrelic-exporter-test-config: the Secret has no api-key',
    ]);
  });

  it.each([
    {
      where: 'an argument',
      change: { kind: 'StatefulSet', from: '--log.level=info', to: `--key=${canary}` },
      finds: 'StatefulSet release-newrelic-exporter.spec.template.spec.containers.0.args.3',
    },
    {
      where: 'an annotation, in Base64',
      change: {
        kind: 'Service',
        from: '"metadata":{',
        to: `"metadata":{"annotations":{"a":"${encoded}"},`,
      },
      finds: 'Service release-newrelic-exporter.metadata.annotations.a',
    },
    {
      where: 'a ConfigMap',
      change: { kind: 'ConfigMap', from: 'apps:', to: `k: ${canary}\\napps:` },
      finds: 'ConfigMap release-newrelic-exporter.data.config.yaml',
    },
    {
      where: "a Secret's name",
      change: {
        kind: 'Secret',
        from: '"name":"release-newrelic-exporter"',
        to: `"name":"${canary}"`,
      },
      finds: `Secret ${canary}.metadata.name`,
    },
  ])('find a key in $where', ({ change, finds }) => {
    expect(keyLeaks(changed(manifests, change), canary)).toContain(finds);
  });

  it.each([
    { variable: '{"name":"NEW_RELIC_API_KEY","value":"x"}', finds: 'NEW_RELIC_API_KEY' },
    {
      variable: '{"name":"X","valueFrom":{"secretKeyRef":{"name":"newrelic","key":"api-key"}}}',
      finds: 'X',
    },
  ])('find a variable that holds a key: $finds', ({ variable, finds }) => {
    const change = { kind: 'StatefulSet', from: '"env":[', to: `"env":[${variable},` };

    expect(keysInEnvironment(changed(manifests, change))).toEqual([
      `StatefulSet release-newrelic-exporter: newrelic-exporter: ${finds}`,
    ]);
  });

  it('find a Secret whose every key becomes a variable', () => {
    const change = {
      kind: 'StatefulSet',
      from: '"env":[',
      to: '"envFrom":[{"secretRef":{"name":"newrelic"}}],"env":[',
    };

    expect(keysInEnvironment(changed(manifests, change))).toEqual([
      'StatefulSet release-newrelic-exporter: newrelic-exporter: envFrom',
    ]);
  });
});
