import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chart, helm3, helm4, manifestsIn, refusal, render } from './chart.ts';
import { ofKind } from './manifests.ts';

const run = promisify(execFile);

const extraObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: '{{ .Release.Name }}-extra' },
};

describe.skipIf(helm3.skip)(`values that are off by default${helm3.note}`, () => {
  it.each([
    { set: 'strategy.type=OnDelete', says: '/strategy/type' },
    { set: 'strategy.rollingUpdate.partition=1', says: 'partition' },
    { set: 'updateStrategy.rollingUpdate.maxSurge=1', says: 'maxSurge' },
    { set: 'annotations.on=true', says: '/annotations/on' },
    { set: 'minReadySeconds=5s', says: '/minReadySeconds' },
    { set: 'revisionHistoryLimit=-1', says: '/revisionHistoryLimit' },
    { set: 'dnsPolicy=Cluster', says: '/dnsPolicy' },
    { set: 'hostNetwork=yes', says: '/hostNetwork' },
    { set: 'releaseLabel=prometheus', says: '/releaseLabel' },
    { set: 'service.labels.a=1', says: '/service/labels/a' },
    { set: 'service.nodePort=http', says: '/service/nodePort' },
    { set: 'service.ipFamilies={IPv4,IPv4}', says: '/service/ipFamilies' },
    { set: 'service.ipFamilyPolicy=Dual', says: '/service/ipFamilyPolicy' },
    { set: 'service.externalTrafficPolicy=local', says: '/service/externalTrafficPolicy' },
    { set: 'ingress.hosts[0].path=/', says: '/ingress/hosts/0' },
    { set: 'ingress.hosts[0].host=a,ingress.hosts[0].paths[0].path=x', says: '/ingress/hosts/0' },
    { set: 'httpRoute.hostname=a', says: 'hostname' },
    { set: 'pdb.minAvailable=half', says: '/pdb/minAvailable' },
    { set: 'vpa.updateMode=On', says: '/vpa/updateMode' },
    { set: 'vpa.maxAllowed.memory=lots', says: '/vpa/maxAllowed/memory' },
    { set: 'vpa.minAllowed.disk=1Gi', says: 'disk' },
    { set: 'vpa.controlledResources={cpu,cpu}', says: '/vpa/controlledResources' },
    { set: 'serviceMonitor.sampleLimit=many', says: '/serviceMonitor/sampleLimit' },
    { set: 'serviceMonitor.proxyUrl=proxy:3128', says: '/serviceMonitor/proxyUrl' },
    { set: 'podMonitor.attachMetadata.nodes=true', says: 'nodes' },
    { set: 'scrapeConfig.interval=half', says: '/scrapeConfig/interval' },
    { set: 'scrapeConfig.targetLabels.a-b=c', says: '/scrapeConfig/targetLabels' },
    { set: 'podMonitoring.interval=', says: '/podMonitoring/interval' },
    { set: 'podMonitoring.tls.cert.secret.name=a', says: '/podMonitoring/tls' },
    { set: 'podMonitoring.metricRelabeling[0].action=labelmap', says: '/podMonitoring/metric' },
    { set: 'dashboards.grafanaOperator.resyncPeriod=5', says: 'resyncPeriod' },
    { set: 'dashboards.grafanaOperator.instanceSelector.labels.a=b', says: 'instanceSelector' },
    { set: 'extraManifests=text', says: '/extraManifests' },
  ])('are refused as $set', async ({ set, says }) => {
    const text = await refusal([set]);

    expect(text).toContain("values don't meet the specifications of the schema");
    expect(text).toContain(says);
  });
});

describe.each([
  { helm: 'helm 3', tool: helm3 },
  { helm: 'helm 4', tool: helm4 },
])('what is off by default, by $helm', ({ tool }) => {
  describe.skipIf(tool.skip)(`when it is on${tool.note}`, () => {
    it.each([
      { form: 'a list', value: [extraObject] },
      { form: 'a map', value: { notes: extraObject } },
      {
        form: 'a list of texts',
        value: [
          '{{- toYaml (dict "kind" "ConfigMap" "metadata" (dict "name" (printf "%s-extra" .Release.Name))) }}',
        ],
      },
    ])('has the extra objects that are $form, without a word of warning', async ({ value }) => {
      const { stdout, stderr } = await run(tool.path, [
        'template',
        'release',
        chart,
        '--kube-version=1.34.0',
        `--values=${join(chart, 'ci/01-default-values.yaml')}`,
        `--set-json=extraManifests=${JSON.stringify(value)}`,
      ]);
      const extra = manifestsIn(stdout).filter(({ metadata }) => metadata.name === 'release-extra');

      expect(extra.map(({ kind }) => kind)).toEqual(['ConfigMap']);
      expect(stderr).toBe('');
    });

    it('has every dashboard as it is in its file, for the Grafana Operator', async () => {
      const manifests = await render({
        helm: tool.path,
        values: ['15-other-operators-values.yaml'],
      });
      const dashboards = ofKind(manifests, 'GrafanaDashboard');
      const files = readdirSync(join(chart, 'dashboards'));

      expect(dashboards.map(({ spec }) => JSON.parse(String(spec?.['json'])) as unknown)).toEqual(
        files.map(
          (file) => JSON.parse(readFileSync(join(chart, 'dashboards', file), 'utf8')) as unknown,
        ),
      );
      expect(dashboards.map(({ spec }) => spec?.['instanceSelector'])).toEqual(
        files.map(() => ({ matchLabels: { dashboards: 'grafana' } })),
      );
      // A release keeps all of it in one Secret, which Kubernetes limits to 1 MiB.
      expect(JSON.stringify(dashboards).length).toBeLessThan(1_000_000);
    });
  });
});
