import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { chart, helm3, refusal } from './chart.ts';
import type { Json } from './json.ts';
import { readConfigSchema, readValues, valuesSchema } from './values-schema.ts';

const schemaPath = fileURLToPath(
  new URL('../../helm/newrelic-exporter/values.schema.json', import.meta.url),
);

function leavesOf(value: Json, path: string): readonly string[] {
  const isBranch = typeof value === 'object' && value !== null && !Array.isArray(value);
  const entries = isBranch ? Object.entries(value) : [];
  return entries.length === 0
    ? [path]
    : entries.flatMap(([key, child]) => leavesOf(child, path === '' ? key : `${path}.${key}`));
}

function templateFiles(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? templateFiles(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

const templates = templateFiles(join(chart, 'templates'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
/** What templates reach by `with`, `range` or `get`, or hand on as a whole. */
const indirect =
  /^(?:config|podSecurityContext|securityContext|livenessProbe|readinessProbe|sidecar\.(?:resources|securityContext)|networkPolicy\.egress|prometheusRule\.groups|(?:service|pod)Monitor|scrapeConfig|podMonitoring|dashboards\.grafanaOperator|nodeSelector|tolerations|affinity|topologySpreadConstraints|priorityClassName|dnsConfig|hostAliases)(?:\.|$)/u;

describe('values.schema.json', () => {
  it('is what values.yaml and config.schema.json make of it', async () => {
    const schema = valuesSchema(readValues(), readConfigSchema());

    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot(schemaPath);
  });
});

describe('the values', () => {
  it('are all used by a template', () => {
    const unused = leavesOf(readValues(), '').filter(
      (path) =>
        !indirect.test(path) &&
        !templates.includes(`.${path}`) &&
        !templates.includes(`.${path.split('.').slice(1).join('.')}`),
    );

    expect(unused).toEqual([]);
  });

  it('are all there that a template uses', () => {
    const known = new Set(
      leavesOf(readValues(), '').flatMap((path) => {
        const parts = path.split('.');
        return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
      }),
    );
    const used = [...templates.matchAll(/\$?\.Values\.([A-Za-z.]+[A-Za-z])/gu)].map(
      ([, path = '']) => path,
    );

    expect(used.length).toBeGreaterThan(60);
    expect(used.filter((path) => !known.has(path))).toEqual([]);
  });
});

describe.skipIf(helm3.skip)(`helm with the schema${helm3.note}`, () => {
  it.each([
    { set: 'replica=2', says: 'replica' },
    { set: 'apiKey.exisitngSecret=x', says: 'exisitngSecret' },
    { set: 'config.apps[0].idd=1', says: 'idd' },
    { set: 'config.poll.intervall=1m', says: 'intervall' },
    { set: 'config.poll.interval=60', says: 'interval' },
    { set: 'config.poll.interval=', says: 'interval' },
    { set: 'config.poll.window=', says: 'window' },
    { set: 'config.accounts[0].region=ap,config.accounts[0].name=x', says: 'region' },
    {
      set: 'config.accounts[0].name=x,config.accounts[0].api_key_file=/a,config.accounts[0].api_key_env=B',
      says: 'allOf',
    },
    { set: 'mode=daemonset', says: 'mode' },
    { set: 'config.apps[0].hosts=all', says: 'hosts' },
    { set: 'sharding.mode=dns', says: 'sharding' },
    { set: 'image.pullSecrets[0].nmae=x', says: 'pullSecrets' },
    { set: 'global.imagePullSecrets[0]=', says: 'imagePullSecrets' },
    { set: 'accounts[0].secret=x', says: 'secret' },
    { set: 'prometheusRule.groups.alerts=true', says: 'alerts' },
    { set: 'prometheusRule.grafanaUrl=grafana.example.com', says: 'grafanaUrl' },
    { set: 'web.port=http', says: '/web/port' },
    { set: 'commonLabels.cost=1', says: '/commonLabels/cost' },
    { set: 'podLabels.on=true', says: '/podLabels/on' },
    { set: 'podLabels.team=two words', says: '/podLabels/team' },
    { set: 'podLabels.-team=a', says: '/podLabels' },
    { set: 'podAnnotations.n=1', says: '/podAnnotations/n' },
    { set: 'service.annotations.on=true', says: '/service/annotations/on' },
    { set: 'nodeSelector.gpu=true', says: '/nodeSelector/gpu' },
    { set: 'resources.limits.memory=lots', says: '/resources/limits/memory' },
    { set: 'resources.limits.memory=true', says: '/resources/limits/memory' },
    { set: 'resources.limits.cpus=1', says: 'cpus' },
    { set: 'resources.limitz.memory=1Gi', says: 'limitz' },
    { set: 'sidecar.resources.limitz.memory=1Gi', says: 'limitz' },
    { set: 'tolerations[0].op=Exists', says: "'op'" },
    { set: 'tolerations[0].operator=Exist', says: '/tolerations/0/operator' },
    { set: 'tolerations[0].value=a', says: '/tolerations/0' },
    { set: 'affinity.nodeAffinty.a=b', says: 'nodeAffinty' },
    { set: 'topologySpreadConstraints[0].maxSkew=1', says: '/topologySpreadConstraints/0' },
    { set: 'livenessProbe.httpGet.prt=80', says: 'prt' },
    { set: 'readinessProbe.httpGet.port=70000', says: '/readinessProbe/httpGet/port' },
    { set: 'podSecurityContext.runAsUsr=1', says: 'runAsUsr' },
    { set: 'securityContext.privileged=true', says: '/securityContext/allowPrivilegeEscalation' },
    { set: 'sidecar.securityContext.runAsUser=root', says: '/sidecar/securityContext/runAsUser' },
    { set: 'dnsConfig.nameserver[0]=10.0.0.10', says: 'nameserver' },
    { set: 'dnsConfig.nameservers[0]=dns', says: '/dnsConfig/nameservers/0' },
    { set: 'hostAliases[0].ip=localhost', says: '/hostAliases/0/ip' },
    { set: 'extraEnv[0].value=a', says: '/extraEnv/0' },
    { set: 'extraEnv[0].name=A,extraEnv[0].value=1', says: '/extraEnv/0/value' },
    { set: 'extraEnvFrom[0].secret.name=a', says: '/extraEnvFrom/0' },
    { set: 'extraVolumes[0].configMap.name=a', says: '/extraVolumes/0' },
    { set: 'extraVolumes[0].name=config', says: '/extraVolumes/0/name' },
    { set: 'extraVolumeMounts[0].name=a', says: '/extraVolumeMounts/0' },
    { set: 'extraContainers[0].name=a', says: '/extraContainers/0' },
    { set: 'extraInitContainers[0].image=a', says: '/extraInitContainers/0' },
    { set: 'extraManifests[0].kind=ConfigMap', says: '/extraManifests/0' },
    { set: 'ingress.hosts[0]=https://a.example.com', says: '/ingress/hosts/0' },
    { set: 'ingress.tls[0].secret=a', says: '/ingress/tls/0' },
    { set: 'networkPolicy.ingressFrom[0].namespace=a', says: '/networkPolicy/ingressFrom/0' },
    { set: 'networkPolicy.egress.extra[0].port=80', says: '/networkPolicy/egress/extra/0' },
    { set: 'pdb.maxUnavailable=half', says: '/pdb/maxUnavailable' },
    { set: 'serviceMonitor.interval=half', says: '/serviceMonitor/interval' },
    { set: 'serviceMonitor.scrapeTimeout=10', says: '/serviceMonitor/scrapeTimeout' },
    { set: 'serviceMonitor.labels.release=1', says: '/serviceMonitor/labels/release' },
    { set: 'serviceMonitor.tlsConfig.caFil=a', says: 'caFil' },
    { set: 'podMonitor.basicAuth.user=a', says: '/podMonitor/basicAuth' },
    { set: 'podMonitor.relabelings[0].action=remove', says: '/podMonitor/relabelings/0/action' },
    {
      set: 'prometheusRule.extraGroups[0].rules[0].alert=A',
      says: '/prometheusRule/extraGroups/0',
    },
    { set: 'dashboards.label=a b', says: '/dashboards/label' },
    { set: 'fullnameOverride=Exporter', says: '/fullnameOverride' },
    { set: 'apiKey.existingSecret=New_Relic', says: '/apiKey/existingSecret' },
  ])('refuses $set', async ({ set, says }) => {
    const text = await refusal([set]);

    expect(text).toContain("values don't meet the specifications of the schema");
    expect(text).toContain(says);
  });
});
