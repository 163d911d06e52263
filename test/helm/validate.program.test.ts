import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chart, helm3, refusal } from './chart.ts';
import type { JsonObject } from './json.ts';
import { readConfigSchema } from './values-schema.ts';

const redirect = [
  'httpRoute.enabled=true',
  'httpRoute.parentRefs[0].name=gateway',
  'httpRoute.filters[0].type=RequestRedirect',
  'httpRoute.filters[0].requestRedirect.scheme=https',
];

const anAccount = 'config.accounts[0].name=a,config.accounts[0].account_id=1';
const logs = 'config.queries[0].as=logs,config.queries[0].nrql=SELECT count(*) FROM Log';
const aQuery = `${logs},${anAccount},config.accounts[0].source=nerdgraph`;

/** As a template, because `--set` would make a boolean of `true`. */
const scrapeAnnotation = String.raw`prometheus\.io/scrape=\{{ true }}`;

type Refusal = readonly [set: readonly string[], says: string, kubeVersion?: string];

const notAName = 'but a Secret or ConfigMap has a name of at most 253';

/** Bad values, added to the smallest good ones, and what the sentence about them is known by. */
const refusals: readonly Refusal[] = [
  [['replicas=2'], 'set sharding.mode to static (with mode: statefulset), or replicas to 1'],
  [['replicas=3', 'mode=statefulset'], 'set sharding.mode to static (with mode: statefulset)'],
  [['sharding.mode=static'], 'set mode to statefulset, or sharding.mode to none'],
  [['sharding.mode=static', 'mode=sidecar'], 'set mode to statefulset, or sharding.mode to none'],
  [['config.apps=null'], 'config.apps and config.queries are empty'],
  [['configExistingConfigMap=other'], 'both config and configExistingConfigMap'],
  [
    ['config.apps=null', aQuery, 'configExistingConfigMap=other'],
    'both config and configExistingConfigMap',
  ],
  [
    ['configReload=rollout', 'config.apps=null', 'configExistingConfigMap=other'],
    'Helm does not see changes of the ConfigMap',
  ],
  [['configReload=rollout', 'mode=sidecar'], 'the chart has no pods to restart'],
  [['config.apps[0].id=9007199254740993'], 'write it in quotes'],
  [['config.apps[0].labels.key=NRAK-ABCDEFGH'], 'config contains an API key'],
  [
    ['config.accounts[0].name=a,config.accounts[0].proxy_url=http://user:password@proxy:3128'],
    ' has a login, but a ConfigMap is not secret',
  ],
  [
    ['config.accounts[0].name=a,config.accounts[0].proxy_url_file=http://u:password@proxy:3128'],
    ' has a login, but a ConfigMap is not secret',
  ],
  [
    [aQuery, 'config.queries[0].as=logs_total'],
    'a gauge must not begin with __, nor end in _total',
  ],
  [[aQuery.replace('as=', 'as.count=__')], 'a gauge must not begin with __, nor end in _total'],
  [[aQuery, 'config.queries[0].labels.level=type'], 'which Prometheus or the exporter sets itself'],
  [[aQuery, 'config.queries[0].constant_labels.job=a'], 'which Prometheus or the exporter sets'],
  [[logs], 'no account has source: nerdgraph'],
  [[logs, anAccount], 'no account has source: nerdgraph'],
  [[aQuery, 'mode=sidecar'], 'in the mode sidecar each pod would ask them'],
  ...[
    ['since 1 hour ago', 'SINCE'],
    ['FACET `a` Until now', 'UNTIL'],
    ["WHERE a = 'since' TIMESERIES", 'TIMESERIES'],
    ['compare  with 1 day ago', 'COMPARE  WITH'],
  ].map(
    ([end, word]): Refusal => [
      [aQuery.replace('FROM Log', `FROM Log ${end}`)],
      `config.queries[0].nrql must not have ${word}, because the exporter adds the time range`,
    ],
  ),
  [[aQuery.replace('Log', 'Log SINCE now')], ', because the exporter adds the time range: leave'],
  [['config.apps[0].exclude=true'], 'config.apps has excluded entries alone'],
  [['config.apps[0].hosts=self'], 'has hosts: self, the host that a sidecar runs beside'],
  [['config.apps[0].hosts=self', 'mode=statefulset'], 'but mode is statefulset: leave hosts out'],
  [
    [
      'extraEnv[0].name=NEW_RELIC_API_KEY,extraEnv[0].valueFrom.secretKeyRef.name=a,extraEnv[0].valueFrom.secretKeyRef.key=k',
    ],
    'is NEW_RELIC_API_KEY, which is not read',
  ],
  [
    ['extraEnv[0].name=A,extraEnv[0].value=NRAK-ABCDEFGH'],
    'contains an API key, but a pod is not secret',
  ],
  [
    ['image.repository=registry.example.com/mirror/exporter'],
    'image.repository is registry.example.com/mirror/exporter, which begins with a registry, but the registry is ghcr.io',
  ],
  [['image.repository=localhost/exporter'], 'which begins with a registry'],
  [
    ['image.registry=', 'image.repository=registry:5000/exporter', 'global.imageRegistry=a.b'],
    'which begins with a registry, but the registry is a.b',
  ],
  [['web.scheme=https'], 'name its Secret in web.configExistingSecret'],
  [['web.tlsExistingSecret=tls'], 'nothing uses its certificate'],
  [['apiKey.value=x'], 'both apiKey.existingSecret and apiKey.value'],
  [['accounts[0].name=us'], 'needs either existingSecret or value'],
  [
    ['accounts[0].name=us', 'accounts[0].existingSecret=a', 'accounts[0].value=b'],
    'needs either existingSecret or value',
  ],
  [['apiKey.existingSecret='], 'there is no API key'],
  [
    [
      'apiKey.existingSecret=,accounts[0].name=us,accounts[0].existingSecret=a',
      'config.accounts[0].name=us,config.accounts[1].name=eu',
    ],
    'has no API key: add it to accounts',
  ],
  [
    ['accounts[0].name=eu', 'accounts[0].existingSecret=a', 'config.accounts[0].name=us'],
    'which config.accounts does not have',
  ],
  [['terminationGracePeriodSeconds=5'], 'set it to 10 or more'],
  [['ingress.enabled=true'], 'ingress.hosts is empty'],
  [['livenessProbe.tcpSocket.port=http-metrics'], 'Kubernetes allows only one of them'],
  [['readinessProbe.httpGet=null'], 'has none of exec, grpc, httpGet and tcpSocket'],
  [['serviceMonitor.enabled=true', 'serviceMonitor.scrapeTimeout=1m'], 'Prometheus refuses that'],
  [
    ['podMonitor.enabled=true,podMonitor.interval=1m30s,podMonitor.scrapeTimeout=90001ms'],
    'Prometheus refuses that',
  ],
  [['podMonitoring.enabled=true', 'podMonitoring.timeout=1m'], 'Prometheus refuses that'],
  [
    [
      'prometheusRule.enabled=true',
      'prometheusRule.groups.applications=true,prometheusRule.groups.recording=false',
    ],
    'needs the recording rules',
  ],
  [['mode=statefulset', 'strategy.type=RollingUpdate'], 'set updateStrategy instead'],
  [['updateStrategy.type=OnDelete'], 'set strategy instead'],
  [['strategy.rollingUpdate.maxSurge=1'], 'strategy.type is Recreate'],
  [
    [
      'strategy.type=RollingUpdate',
      'strategy.rollingUpdate.maxSurge=0,strategy.rollingUpdate.maxUnavailable=0%',
    ],
    'set maxSurge or maxUnavailable to 1',
  ],
  [
    ['mode=statefulset,updateStrategy.type=OnDelete,updateStrategy.rollingUpdate.partition=1'],
    'updateStrategy.type is OnDelete',
  ],
  [['hostNetwork=true', 'networkPolicy.enabled=true'], 'a NetworkPolicy does not apply'],
  [['hostNetwork=true', 'mode=sidecar'], 'hostNetwork is true, but in the mode'],
  [['dnsPolicy=None', 'dnsConfig.searches[0]=example.com'], 'dnsPolicy is None'],
  [['lifecycle.preStop.sleep.seconds=11'], 'needs 5 s more to stop'],
  [['service.nodePort=30126'], 'service.nodePort is set'],
  [['service.externalTrafficPolicy=Local'], 'service.externalTrafficPolicy is set'],
  [['service.type=NodePort', 'service.loadBalancerIP=192.0.2.1'], 'set it to LoadBalancer'],
  [['service.loadBalancerSourceRanges[0]=10.0.0.0/8'], 'set it to LoadBalancer'],
  [
    ['service.ipFamilyPolicy=SingleStack', 'service.ipFamilies={IPv6,IPv4}'],
    'service.ipFamilies names two families',
  ],
  [['httpRoute.enabled=true'], 'httpRoute.parentRefs is empty'],
  [redirect, 'httpRoute.filters has a RequestRedirect'],
  [['mode=sidecar', 'scrapeConfig.enabled=true'], 'set podMonitor.enabled instead'],
  ...[
    'config.apps=null,configExistingConfigMap',
    'web.configExistingSecret',
    'apiKey.existingSecret',
    'image.pullSecrets[0]',
    'global.imagePullSecrets[0].name',
    'extraEnv[0].name=A,extraEnv[0].valueFrom.secretKeyRef.key=k,extraEnv[0].valueFrom.secretKeyRef.name',
    'extraEnvFrom[0].configMapRef.name',
    'extraVolumes[0].name=v,extraVolumes[0].secret.secretName',
    'extraVolumes[0].name=v,extraVolumes[0].projected.sources[0].configMap.name',
    'extraContainers[0].name=c,extraContainers[0].envFrom[0].secretRef.name',
    'ingress.enabled=true,ingress.hosts[0]=a,ingress.tls[0].secretName',
    'serviceMonitor.enabled=true,serviceMonitor.basicAuth.username.key=k,serviceMonitor.basicAuth.username.name',
    'podMonitoring.enabled=true,podMonitoring.tls.ca.secret.name',
  ].map((value): Refusal => [[`${value}=my-{{ .Release.Name }}_key`], notAName]),
  [['apiKey.existingSecret=My-Key'], 'apiKey.existingSecret is "My-Key", but a Secret'],
  [
    ['accounts[0].name=a,accounts[0].existingSecret=my-{{ .Release.Name }}_key'],
    'accounts[0].existingSecret is "my-release_key", made of my-{{ .Release.Name }}_key, but a',
  ],
  [['ingress.enabled=true,ingress.hosts[0]=a-{{ .Release.Name }}_b'], 'but a host has a name of'],
  [
    ['httpRoute.enabled=true,httpRoute.parentRefs[0].name=g,httpRoute.hostnames[0]=A_b'],
    'but a host has a name of',
  ],
  [
    ['commonLabels.team=the {{ .Release.Name }}'],
    'commonLabels[team] is "the release", made of the {{ .Release.Name }}, but a label has',
  ],
  [['podLabels.team=a b'], 'but a label has a value of at most 63'],
  [[`podLabels.team=${'a'.repeat(64)}`], 'but a label has a value of at most 63'],
  [[`apiKey.existingSecret=${'a'.repeat(254)}`], notAName],
  [['includeConfigMaps[0].name=my-{{ .Release.Name }}_key'], notAName],
  [
    ['includeConfigMaps[0].name=x-release', 'includeConfigMaps[1].name=x-{{ .Release.Name }}'],
    'which can be mounted once: remove one of the entries',
  ],
  [
    ['includeConfigMaps[0].name=team', 'config.include={more/*.yaml,more/teams/*.yaml}'],
    'includeConfigMaps is set, but config.include has no path in teams/',
  ],
  [
    ['config.apps=null', 'config.include[0]=a.yaml', 'configExistingConfigMap=other'],
    'both config and configExistingConfigMap',
  ],
  [
    ['pdb.enabled=true', 'pdb.unhealthyPodEvictionPolicy=AlwaysAllow'],
    'pdb.unhealthyPodEvictionPolicy needs Kubernetes 1.27',
    '1.26.9',
  ],
  [
    ['serviceMonitor.enabled=true,podMonitor.enabled=true'],
    'serviceMonitor.enabled and podMonitor.enabled are set together',
  ],
  [
    ['serviceMonitor.enabled=true,scrapeConfig.enabled=true'],
    'are set together, so that the exporter would be scraped',
  ],
  [
    ['scrapeConfig.enabled=true,podMonitoring.enabled=true'],
    'scrapeConfig.enabled and podMonitoring.enabled are set together',
  ],
  [
    ['mode=sidecar', 'podMonitor.enabled=true,podMonitoring.enabled=true'],
    'podMonitor.enabled and podMonitoring.enabled are set together',
  ],
  [
    ['serviceMonitor.enabled=true', `service.annotations.${scrapeAnnotation}`],
    'serviceMonitor.enabled and service.annotations[prometheus.io/scrape] are set together',
  ],
  [
    [`service.annotations.${scrapeAnnotation},podAnnotations.${scrapeAnnotation}`],
    'podAnnotations[prometheus.io/scrape] and service.annotations[prometheus.io/scrape] are set',
  ],
  [
    ['prometheusRule.enabled=true', 'prometheusRule.disabled[0]=ExporterRateLimit'],
    'prometheusRule.disabled has ExporterRateLimit, which is no alert of the chart: did you mean NewRelicExporterRateLimited?',
  ],
  [
    ['prometheusRule.enabled=true', 'prometheusRule.overrides.Own.for=1m'],
    'which is no alert of the chart',
  ],
  [
    ['prometheusRule.enabled=true', 'prometheusRule.overrides.Watchdog.for=1m'],
    'which is no alert of the chart: its alerts are NewRelicApplicationNotReporting, ',
  ],
  [
    [
      'prometheusRule.enabled=true,prometheusRule.disabled[0]=NewRelicExporterDown',
      'prometheusRule.overrides.NewRelicExporterDown.for=1m',
    ],
    'but an alert that is off cannot be changed',
  ],
];

describe.skipIf(helm3.skip)(`values that cannot work${helm3.note}`, () => {
  const cases = refusals.map(
    ([set, says, kubeVersion = '1.34.0']) => [set, says, kubeVersion] as const,
  );

  it.each(cases)('%s: %s', async (set, says, kubeVersion) => {
    expect(await refusal(set, kubeVersion)).toContain(says);
  });

  it('are the names that the exporter refuses in queries', () => {
    const template = readFileSync(join(chart, 'templates/_validate.tpl'), 'utf8');
    const { queries } = readConfigSchema()['properties'] as { readonly queries: JsonObject };
    const schema = JSON.stringify(queries);
    const refused = [...schema.matchAll(/"not":\{"(pattern|enum)":("[^"]*"|\[[^\]]*\])\}/gu)].map(
      ([, kind, text = '']) => (kind === 'enum' ? text.slice(1, -1).replaceAll(',', ' ') : text),
    );

    expect(new Set(refused).size).toBe(2);
    expect(refused.filter((text) => !template.includes(text))).toEqual([]);
  });

  it('are here for every sentence that the chart has', () => {
    const templates = readdirSync(join(chart, 'templates'))
      .filter((name) => name.endsWith('.tpl'))
      .map((name) => readFileSync(join(chart, 'templates', name), 'utf8'));
    const sentences = [...templates.join('\n').matchAll(/\bfail \(?(?:printf )?"([^"]*)"/gu)].map(
      ([, sentence = '']) => sentence,
    );

    expect(sentences.length).toBeGreaterThan(10);
    expect(
      sentences.filter((sentence) => !refusals.some(([, says]) => sentence.includes(says))),
    ).toEqual([]);
  });

  it.each([
    [[]],
    [['replicas=0']],
    [['replicas=3', 'sharding.mode=static', 'mode=statefulset']],
    [['mode=none', 'config.apps=null', 'apiKey.existingSecret=']],
    [['config.apps=null', 'configExistingConfigMap=other', 'apiKey.existingSecret=']],
    [['config.apps=null', aQuery]],
    [
      [
        aQuery
          .replace('Log', "Log FACET `since`, if(a = 'until', 1), (SELECT 1 SINCE 2)")
          .replaceAll(', ', '\\, '),
      ],
    ],
    [['config.apps[0].exclude=true', 'config.apps[1].match=.']],
    [['config.apps[0].exclude=true', 'includeConfigMaps[0].name=team']],
    [['config.apps[0].exclude=true', aQuery]],
    [['config.apps[0].hosts=self', 'mode=sidecar']],
    [['config.apps[0].hosts=self', 'mode=none']],
    [
      [
        'config.accounts[0].name=a,config.accounts[0].api_key_env=NEW_RELIC_API_KEY',
        'extraEnv[0].name=NEW_RELIC_API_KEY,extraEnv[0].valueFrom.secretKeyRef.name=a,extraEnv[0].valueFrom.secretKeyRef.key=k',
      ],
    ],
    [['image.registry=', 'image.repository=registry.example.com/mirror/exporter']],
    [['image.repository=new.relic/exporter', 'image.registry=']],
    [['image.repository=mirror/new.relic/exporter']],
    [[`podLabels.team=${'a'.repeat(63)}`, `apiKey.existingSecret=${'a'.repeat(253)}`]],
    [['config.apps=null', 'config.include[0]=teams/*.yaml']],
    [['config.apps=null', 'includeConfigMaps[0].name=team']],
    [['config.apps=null', 'configExistingConfigMap=other', 'includeConfigMaps[0].name=team']],
    [['includeConfigMaps[0].name=team', 'config.include={more/*.yaml,teams/*/apps.yaml}']],
    [['includeConfigMaps[0].name=team', 'config.include={*/*/*.yaml}']],
    [['apiKey.existingSecret=', 'accounts[0].name=us', 'accounts[0].existingSecret=a']],
    [
      [
        'apiKey.existingSecret=',
        'config.accounts[0].name=us,config.accounts[0].api_key_file=/etc/keys/us',
      ],
    ],
    [['livenessProbe.tcpSocket.port=http-metrics', 'livenessProbe.httpGet=null']],
    [['livenessProbe=null', 'readinessProbe=null']],
    [['serviceMonitor.enabled=true', 'serviceMonitor.scrapeTimeout=30s']],
    [['serviceMonitor.enabled=true,serviceMonitor.interval=,serviceMonitor.scrapeTimeout=1h']],
    [['strategy.type=RollingUpdate', 'strategy.rollingUpdate.maxSurge=0']],
    [['mode=statefulset', 'updateStrategy.type=OnDelete']],
    [['dnsPolicy=None', 'dnsConfig.nameservers[0]=192.0.2.53']],
    [['lifecycle.preStop.sleep.seconds=10']],
    [['service.type=NodePort', 'service.nodePort=30126']],
    [['service.type=LoadBalancer', 'service.loadBalancerIP=192.0.2.1']],
    [['service.ipFamilies={IPv6,IPv4}']],
    [[`service.annotations.${scrapeAnnotation}`]],
    [
      [
        'serviceMonitor.enabled=true',
        `podAnnotations.${scrapeAnnotation.replace('true', 'false')}`,
      ],
    ],
    [['mode=sidecar', 'serviceMonitor.enabled=true', 'podMonitor.enabled=true']],
    [['mode=none,serviceMonitor.enabled=true,podMonitor.enabled=true']],
  ])('but not %s', async (set) => {
    expect(await refusal(set)).toBe('');
  });
});
