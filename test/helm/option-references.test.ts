import { beforeAll, describe, expect, it } from 'vitest';
import { changed } from './changed.ts';
import { helm4, render } from './chart.ts';
import type { Manifest } from './manifests.ts';
import { optionReferenceProblems } from './option-references.ts';

describe.skipIf(helm4.skip)(`the rules for objects that are off by default${helm4.note}`, () => {
  let manifests: readonly Manifest[];

  beforeAll(async () => {
    manifests = await render({
      helm: helm4.path,
      values: ['15-other-operators-values.yaml'],
      set: ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=gateway'],
    });
  });

  it('find nothing wrong with what the chart makes', () => {
    expect(optionReferenceProblems(manifests)).toEqual([]);
  });

  it.each([
    {
      kind: 'HTTPRoute',
      from: '"port":9126',
      to: '"port":80',
      finds:
        'HTTPRoute release-newrelic-exporter: no Service release-newrelic-exporter with the port 80',
    },
    {
      kind: 'HTTPRoute',
      from: /"backendRefs":\[[^\]]*\]/gu,
      to: '"backendRefs":[]',
      finds: 'HTTPRoute release-newrelic-exporter leads nowhere',
    },
    {
      kind: 'VerticalPodAutoscaler',
      from: '"kind":"StatefulSet"',
      to: '"kind":"Deployment"',
      finds:
        'VerticalPodAutoscaler release-newrelic-exporter: no Deployment release-newrelic-exporter',
    },
    {
      kind: 'VerticalPodAutoscaler',
      from: '"containerName":"newrelic-exporter"',
      to: '"containerName":"exporter"',
      finds: 'VerticalPodAutoscaler release-newrelic-exporter: no container exporter',
    },
    {
      kind: 'PodMonitoring',
      from: '"app.kubernetes.io/instance":"release"}',
      to: '"app.kubernetes.io/instance":"other"}',
      finds: 'PodMonitoring release-newrelic-exporter selects no pod',
    },
    {
      kind: 'PodMonitoring',
      from: '"port":"http-metrics"',
      to: '"port":"metrics"',
      finds: 'PodMonitoring release-newrelic-exporter: no pod has the port metrics',
    },
    {
      kind: 'ScrapeConfig',
      from: 'release-newrelic-exporter-1.release',
      to: 'release-newrelic-exporter-2.release',
      finds:
        'ScrapeConfig release-newrelic-exporter: nothing is at release-newrelic-exporter-2.release-newrelic-exporter-peers.monitoring.svc:9126',
    },
  ])('find: $finds', ({ finds, ...change }) => {
    expect(optionReferenceProblems(changed(manifests, change))).toContain(finds);
  });
});
