import { describe, expect, it } from 'vitest';
import { helm3, refusal } from './chart.ts';

describe.skipIf(helm3.skip)(`helm with the schema${helm3.note}`, () => {
  it.each([
    { set: 'replica=2', says: 'replica' },
    { set: 'apiKey.exisitngSecret=x', says: 'exisitngSecret' },
    { set: 'config.apps[0].idd=1', says: 'idd' },
    { set: 'config.poll.interval=60', says: 'interval' },
    { set: 'config.poll.window=', says: 'window' },
    {
      set: 'config.accounts[0].name=x,config.accounts[0].api_key_file=/a,config.accounts[0].api_key_env=B',
      says: 'allOf',
    },
    { set: 'mode=daemonset', says: 'mode' },
    { set: 'config.include=teams', says: '/config/include' },
    { set: 'includeConfigMaps[0].optional=true', says: 'name' },
    { set: 'includeConfigMaps[0].name=a,includeConfigMaps[0].items=b', says: 'items' },
    { set: 'accounts[0].secret=x', says: 'secret' },
    { set: 'prometheusRule.grafanaUrl=grafana.example.com', says: 'grafanaUrl' },
    { set: 'prometheusRule.overrides.NewRelicExporterDown.expr=up', says: 'expr' },
    { set: 'prometheusRule.overrides.NewRelicExporterDown.for=soon', says: '/for' },
    { set: 'commonLabels.cost=1', says: '/commonLabels/cost' },
    { set: 'resources.limits.memory=lots', says: '/resources/limits/memory' },
    { set: 'livenessProbe.httpGet.prt=80', says: 'prt' },
    { set: 'sidecar.securityContext.runAsUser=root', says: '/sidecar/securityContext/runAsUser' },
    { set: 'extraManifests[0].kind=ConfigMap', says: '/extraManifests/0' },
    { set: 'httpRoute.hostname=a', says: 'hostname' },
    { set: 'pdb.maxUnavailable=half', says: '/pdb/maxUnavailable' },
    { set: 'pdb.unhealthyPodEvictionPolicy=Never', says: '/pdb/unhealthyPodEvictionPolicy' },
    { set: 'vpa.updateMode=On', says: '/vpa/updateMode' },
    { set: 'scrapeConfig.targetLabels.a-b=c', says: '/scrapeConfig/targetLabels' },
  ])('refuses $set', async ({ set, says }) => {
    const text = await refusal([set]);

    expect(text).toContain("values don't meet the specifications of the schema");
    expect(text).toContain(says);
  });
});
