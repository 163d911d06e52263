/** Values that are unusual but right: the API server must take what the chart makes of them. */
export interface OddValues {
  readonly name: string;
  readonly values: object;
}

/** Values that are wrong: the chart must refuse them, and say what is wrong. */
export interface WrongValues extends OddValues {
  /** What the message must contain. */
  readonly says: string;
}

export const oddValues: readonly OddValues[] = [
  {
    name: 'labels and annotations that look like numbers, booleans and null',
    values: {
      commonLabels: { cost: '1', on: 'true', none: 'null', empty: '', octal: '0777', exp: '1e3' },
      podLabels: { yes: 'no', version: '1.0' },
      podAnnotations: { n: '1', json: '{"a": [1]}', lines: 'a\nb: c\n', colon: 'a: b' },
      nodeSelector: { gpu: 'true', zone: '1' },
      serviceAccount: { annotations: { role: '123' } },
      service: { annotations: { 'example.com/a': '~' } },
    },
  },
  {
    name: 'quantities as numbers, with and without units',
    values: {
      resources: {
        requests: { cpu: 0.5, memory: 100_000_000 },
        limits: { cpu: '2', memory: '1e9', 'ephemeral-storage': '1Gi' },
      },
    },
  },
  {
    name: 'null for what has a default',
    values: {
      resources: null,
      affinity: null,
      livenessProbe: null,
      config: { poll: null },
      podSecurityContext: { runAsNonRoot: null },
    },
  },
  {
    name: 'names of applications and accounts with quotes, colons, line ends and other alphabets',
    values: {
      config: {
        apps: [
          { name: 'Bücher & "Töne": größer' },
          { name: "O'Reilly #1" },
          { name: '- yes' },
          { name: '注文 サービス' },
          { name: '{{ .Values.apiKey.value }}' },
          { id: '123456789012345678' },
          { match: '^a\\.b(?:c|d)\\d+$' },
        ],
      },
    },
  },
  {
    name: 'arguments and variables with spaces and quotes',
    values: {
      extraArgs: ['--web.max-requests=10'],
      extraEnv: [
        { name: 'A', value: 'a "b" \'c\' $(D) {{ "{{ e }}" }}' },
        { name: 'N', value: '1' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
      ],
    },
  },
  {
    name: 'long names',
    values: { fullnameOverride: 'a'.repeat(53), nameOverride: 'b'.repeat(60) },
  },
  { name: 'a name that is a number', values: { nameOverride: '123' } },
  {
    name: 'tolerations, constraints, hosts and DNS in full',
    values: {
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 0 }],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'newrelic-exporter' } },
        },
      ],
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['proxy.example.com'] }],
      dnsConfig: { options: [{ name: 'ndots', value: '1' }], searches: ['example.com'] },
    },
  },
  {
    name: 'everything of the operator, with its own forms of durations',
    values: {
      serviceMonitor: {
        enabled: true,
        interval: '1m30s',
        scrapeTimeout: '500ms',
        relabelings: [{ action: 'replace', targetLabel: 'a', replacement: '1' }],
      },
      prometheusRule: {
        enabled: true,
        groups: { applications: true },
        extraGroups: [{ name: 'mine', rules: [{ record: 'a:b', expr: 'vector(1)' }] }],
      },
    },
  },
  {
    name: 'a monitor of pods without an interval',
    values: { podMonitor: { enabled: true, interval: '' } },
  },
  {
    name: 'rules switched on with all groups off',
    values: {
      prometheusRule: {
        enabled: true,
        groups: { recording: false, exporter: false, applications: false },
      },
    },
  },
  {
    name: 'an Ingress with several hosts and TLS without names',
    values: {
      ingress: {
        enabled: true,
        className: 'nginx',
        annotations: { 'nginx.ingress.kubernetes.io/proxy-read-timeout': '60' },
        hosts: ['a.example.com', '*.example.com'],
        tls: [{ secretName: 'a' }, { hosts: ['a.example.com'] }],
      },
    },
  },
  {
    name: 'a Service of the type NodePort on port 80, a page elsewhere',
    values: { service: { type: 'NodePort', port: 80 }, web: { port: 1024, telemetryPath: '/m' } },
  },
  {
    name: 'pull secrets in both forms',
    values: {
      global: { imagePullSecrets: [{ name: 'a' }, 'b'] },
      image: { pullSecrets: ['c', { name: 'd' }] },
    },
  },
  {
    name: 'a NetworkPolicy with peers, ports and a proxy',
    values: {
      networkPolicy: {
        enabled: true,
        ingressFrom: [
          { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
          { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
        ],
        egress: { extra: [{ ports: [{ port: 3128 }, { port: 8000, endPort: 8010 }] }] },
      },
    },
  },
];

const wrong = (name: string, values: object, says: string): WrongValues => ({
  name,
  values,
  says,
});

export const wrongValues: readonly WrongValues[] = [
  wrong('a label that is a number', { commonLabels: { cost: 1 } }, 'commonLabels'),
  wrong('a label that is a boolean', { podLabels: { on: true } }, 'podLabels'),
  wrong('an annotation that is a number', { podAnnotations: { n: 1 } }, 'podAnnotations'),
  wrong('a node selector that is a boolean', { nodeSelector: { gpu: true } }, 'nodeSelector'),
  wrong(
    'a quantity that is none',
    { resources: { limits: { memory: 'lots' } } },
    'resources/limits/memory',
  ),
  wrong('a misspelt key of resources', { resources: { limitz: {} } }, 'limitz'),
  wrong('a misspelt key of a toleration', { tolerations: [{ op: 'Exists' }] }, 'op'),
  wrong('a misspelt key of a probe', { livenessProbe: { httpGet: { prt: 9126 } } }, 'prt'),
  wrong('an Ingress without hosts', { ingress: { enabled: true } }, 'ingress.hosts'),
  wrong(
    'an interval that is no duration',
    { serviceMonitor: { enabled: true, interval: 'half' } },
    'serviceMonitor/interval',
  ),
  wrong(
    'a timeout that is longer than the interval',
    { serviceMonitor: { enabled: true, interval: '30s', scrapeTimeout: '60s' } },
    'scrapeTimeout',
  ),
  wrong('a replica count of another chart', { replicaCount: 2 }, 'replicaCount'),
  wrong('two replicas without shards', { replicas: 2 }, 'sharding'),
];
