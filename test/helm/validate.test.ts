import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chart, helm3, refusal } from './chart.ts';
import { optionRefusals, takenOptions } from './option-refusals.ts';

/** Bad values, added to the smallest good ones, and the sentence that they are refused with. */
const refusals = [
  ...optionRefusals,
  {
    set: ['replicas=2'],
    says: 'replicas is 2, but every pod would poll everything with the same key: set sharding.mode to static (with mode: statefulset), or replicas to 1',
  },
  {
    set: ['replicas=3', 'mode=statefulset'],
    says: 'replicas is 3, but every pod would poll everything with the same key: set sharding.mode to static (with mode: statefulset), or replicas to 1',
  },
  {
    set: ['sharding.mode=static'],
    says: 'sharding.mode is static, which takes the number of a shard from the pod name of a StatefulSet, but mode is deployment: set mode to statefulset, or sharding.mode to none',
  },
  {
    set: ['sharding.mode=static', 'mode=sidecar'],
    says: 'sharding.mode is static, which takes the number of a shard from the pod name of a StatefulSet, but mode is sidecar: set mode to statefulset, or sharding.mode to none',
  },
  {
    set: ['config.apps=null'],
    says: 'config.apps is empty, so nothing would be polled: list the applications, for example config.apps[0].id=31584797, or name a ConfigMap in configExistingConfigMap',
  },
  {
    set: ['configExistingConfigMap=other'],
    says: 'both config and configExistingConfigMap are set: remove one of them',
  },
  {
    set: ['configReload=rollout', 'config.apps=null', 'configExistingConfigMap=other'],
    says: 'configReload is rollout, but Helm does not see changes of the ConfigMap in configExistingConfigMap: set it to hot',
  },
  {
    set: ['configReload=rollout', 'mode=sidecar'],
    says: 'configReload is rollout, but in the mode sidecar the chart has no pods to restart: set it to hot',
  },
  {
    set: ['config.apps[0].id=9007199254740993'],
    says: 'config.apps[0].id has so many digits that Helm cannot keep them: write it in quotes',
  },
  {
    set: ['config.apps[0].labels.key=NRAK-ABCDEFGH'],
    says: 'config contains an API key, but a ConfigMap is not secret: put the key into a Secret and name that in apiKey.existingSecret',
  },
  {
    set: ['web.scheme=https'],
    says: 'web.scheme is https, but without a web configuration file the exporter speaks http: name its Secret in web.configExistingSecret',
  },
  {
    set: ['web.tlsExistingSecret=tls'],
    says: 'web.tlsExistingSecret is set, but nothing uses its certificate: name the Secret of a web configuration file in web.configExistingSecret',
  },
  {
    set: ['apiKey.value=x'],
    says: 'both apiKey.existingSecret and apiKey.value are set: remove one of them',
  },
  {
    set: ['accounts[0].name=us'],
    says: 'accounts[0] (us) needs either existingSecret or value',
  },
  {
    set: ['accounts[0].name=us', 'accounts[0].existingSecret=a', 'accounts[0].value=b'],
    says: 'accounts[0] (us) needs either existingSecret or value',
  },
  {
    set: ['apiKey.existingSecret='],
    says: 'there is no API key: name the Secret that contains it in apiKey.existingSecret',
  },
  {
    set: [
      'apiKey.existingSecret=',
      'accounts[0].name=us',
      'accounts[0].existingSecret=a',
      'config.accounts[0].name=us',
      'config.accounts[1].name=eu',
    ],
    says: 'the account eu has no API key: add it to accounts with its existingSecret, or set apiKey.existingSecret',
  },
  {
    set: ['accounts[0].name=eu', 'accounts[0].existingSecret=a', 'config.accounts[0].name=us'],
    says: 'accounts names eu, which config.accounts does not have',
  },
  {
    set: ['terminationGracePeriodSeconds=5'],
    says: 'terminationGracePeriodSeconds is 5, but the exporter answers scrapes for up to 5 s while it stops: set it to 10 or more',
  },
  {
    set: ['ingress.enabled=true'],
    says: 'ingress.enabled is true, but ingress.hosts is empty, which Kubernetes refuses: name the host, for example ingress.hosts[0]=exporter.example.com',
  },
  {
    set: ['livenessProbe.tcpSocket.port=http-metrics'],
    says: 'livenessProbe has httpGet and tcpSocket, but Kubernetes allows only one of them: set the others to null',
  },
  {
    set: ['readinessProbe.httpGet=null'],
    says: 'readinessProbe has none of exec, grpc, httpGet and tcpSocket: add one, or set readinessProbe to null for no probe',
  },
  {
    set: ['serviceMonitor.enabled=true', 'serviceMonitor.scrapeTimeout=1m'],
    says: 'serviceMonitor.scrapeTimeout is 1m, longer than serviceMonitor.interval, which is 30s, and Prometheus refuses that: set it to 30s or less',
  },
  {
    set: [
      'podMonitor.enabled=true',
      'podMonitor.interval=1m30s',
      'podMonitor.scrapeTimeout=90001ms',
    ],
    says: 'podMonitor.scrapeTimeout is 90001ms, longer than podMonitor.interval, which is 1m30s, and Prometheus refuses that: set it to 1m30s or less',
  },
  {
    set: [
      'prometheusRule.enabled=true',
      'prometheusRule.groups.applications=true',
      'prometheusRule.groups.recording=false',
    ],
    says: 'prometheusRule.groups.applications needs the recording rules: set prometheusRule.groups.recording to true',
  },
];

/** Every sentence of the templates, with what is put into it as a pattern. */
function sentencesIn(template: string): readonly RegExp[] {
  return [...template.matchAll(/\bfail \(?(?:printf )?"([^"]*)"/gu)].map(([, sentence = '']) => {
    const literal = sentence.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`);
    return new RegExp(`^${literal.replaceAll(/%[ds]/gu, '.+')}$`, 'u');
  });
}

describe.skipIf(helm3.skip)(`values that cannot work${helm3.note}`, () => {
  it.each(refusals)('$set: $says', async ({ set, says }) => {
    const text = await refusal(set);

    expect(text).toContain(`${says}\n`);
  });

  it('are refused with every sentence that the chart has, and with no other', () => {
    const template = readFileSync(join(chart, 'templates/_validate.tpl'), 'utf8');
    const sentences = sentencesIn(template);

    expect(sentences.length).toBeGreaterThan(10);
    expect(
      sentences.filter((sentence) => !refusals.some(({ says }) => sentence.test(says))),
    ).toEqual([]);
  });

  it.each([
    ...takenOptions,
    { set: [] },
    { set: ['replicas=0'] },
    { set: ['livenessProbe.tcpSocket.port=http-metrics', 'livenessProbe.httpGet=null'] },
    { set: ['livenessProbe=null', 'readinessProbe=null'] },
    { set: ['serviceMonitor.enabled=true', 'serviceMonitor.scrapeTimeout=30s'] },
    {
      set: [
        'serviceMonitor.enabled=true',
        'serviceMonitor.interval=',
        'serviceMonitor.scrapeTimeout=1h',
      ],
    },
    { set: ['serviceMonitor.scrapeTimeout=1h'] },
    { set: ['replicas=3', 'sharding.mode=static', 'mode=statefulset'] },
    { set: ['mode=none', 'config.apps=null', 'apiKey.existingSecret='] },
    { set: ['config.apps=null', 'configExistingConfigMap=other', 'apiKey.existingSecret='] },
    { set: ['apiKey.existingSecret=', 'accounts[0].name=us', 'accounts[0].existingSecret=a'] },
    {
      set: [
        'apiKey.existingSecret=',
        'config.accounts[0].name=us',
        'config.accounts[0].api_key_file=/etc/keys/us',
      ],
    },
  ])('but not $set', async ({ set }) => {
    expect(await refusal(set)).toBe('');
  });
});
