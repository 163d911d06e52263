import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashSync } from 'bcryptjs';
import { parse } from 'yaml';
import { type Scraping, secretWith, type Vendor } from './lab.ts';

export const chartFolder: string = fileURLToPath(
  new URL('../../helm/newrelic-exporter', import.meta.url),
);

const webUser = 'prometheus';
const webPassword = 'cluster test';

interface Account {
  readonly name?: string;
  readonly [key: string]: unknown;
}

interface Values {
  readonly mode?: string;
  readonly replicas?: number;
  readonly web?: {
    readonly port?: number;
    readonly telemetryPath?: string;
    readonly scheme?: 'http' | 'https';
    readonly configExistingSecret?: string;
  };
  readonly configExistingConfigMap?: string;
  readonly apiKey?: { readonly value?: string };
  readonly accounts?: readonly { readonly name: string }[];
  readonly config?: { readonly accounts?: readonly Account[] };
  readonly namespaceOverride?: string;
  readonly dashboards?: { readonly namespace?: string };
}

/** One of the chart's own set-ups, with what makes it run in the test's cluster. */
export interface Setup {
  readonly name: string;
  readonly file: string;
  /** Pods that it must start. */
  readonly pods: number;
  /** Whether it has something for `helm test`. */
  readonly hasTests: boolean;
  readonly scraping: Scraping;
  /** Values on top of the file's. */
  overlay(vendor: Vendor, namespace: string): object;
}

// A region, a proxy and a registry of the world outside are not to be had here.
function accountsAt(baseUrl: string, values: Values): readonly Account[] {
  const named = values.config?.accounts ?? values.accounts?.map(({ name }) => ({ name })) ?? [];
  const accounts: readonly Account[] = named.length > 0 ? named : [{ name: 'default' }];
  return accounts.map(({ region: _region, proxy_url_file: _proxy, ...account }) => ({
    ...account,
    base_url: baseUrl,
  }));
}

function scrapingOf({ web = {} }: Values): Scraping {
  return {
    port: web.port ?? 9126,
    path: web.telemetryPath ?? '/metrics',
    scheme: web.scheme ?? 'http',
    ...(web.configExistingSecret === undefined ? {} : { credentials: `${webUser}:${webPassword}` }),
  };
}

function setupOf(file: string): Setup {
  const path = join(chartFolder, 'ci', file);
  const values = parse(readFileSync(path, 'utf8')) as Values;
  const mode = values.mode ?? 'deployment';
  const runs = mode === 'deployment' || mode === 'statefulset';
  const configured = mode !== 'none' && values.configExistingConfigMap === undefined;
  return {
    name: file.replace('-values.yaml', ''),
    file: path,
    pods: runs ? (values.replicas ?? 1) : 0,
    hasTests: mode !== 'none',
    scraping: scrapingOf(values),
    overlay: (vendor, namespace) => ({
      image: { digest: '' },
      global: { imageRegistry: '' },
      ...(configured ? { config: { accounts: accountsAt(vendor.baseUrl, values) } } : {}),
      ...(values.apiKey?.value === undefined ? {} : { apiKey: { value: vendor.apiKeys[0] } }),
      // Both versions of Helm install at the same time, each in a namespace of its own.
      ...(values.namespaceOverride === undefined ? {} : { namespaceOverride: namespace }),
      ...(values.dashboards?.namespace === undefined ? {} : { dashboards: { namespace } }),
    }),
  };
}

export function readSetups(): readonly Setup[] {
  return readdirSync(join(chartFolder, 'ci'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(setupOf);
}

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

type Entries = Readonly<Record<string, string>>;

const secret = (name: string, stringData: Entries): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  stringData,
});

/** A web configuration with TLS and a password, as the chart's documents show it. */
function webSecrets({ certificate, key }: Certificate): readonly object[] {
  const folder = '/etc/newrelic-exporter-tls';
  const web = {
    tls_server_config: { cert_file: `${folder}/tls.crt`, key_file: `${folder}/tls.key` },
    basic_auth_users: { [webUser]: hashSync(webPassword, 4) },
  };
  return [
    secret('exporter-web', { 'web-config.yaml': JSON.stringify(web) }),
    secret('exporter-tls', { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': certificate }),
    secret('exporter-password', { username: webUser, password: webPassword }),
  ];
}

/** What the set-ups take for granted in their namespace: Secrets, a configuration, a certificate. */
export function surroundings(vendor: Vendor, certificate: Certificate): readonly object[] {
  const [apiKey = ''] = vendor.apiKeys;
  const keyFile = '/var/run/secrets/newrelic/default/api-key';
  const config = {
    accounts: [{ name: 'default', base_url: vendor.baseUrl, api_key_file: keyFile }],
    apps: [{ match: '.' }],
  };
  const map = (name: string, data: Entries): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });
  return [
    secret('newrelic', { 'api-key': apiKey, key: apiKey }),
    secretWith(apiKey, 'newrelic-us'),
    secretWith(apiKey, 'newrelic-eu', 'token'),
    ...webSecrets(certificate),
    secret('proxy', { url: vendor.baseUrl }),
    map('ca', { 'ca.pem': certificate.certificate }),
    map('exporter-config', { 'config.yaml': JSON.stringify(config) }),
  ];
}

/** What the set-ups take for granted in the cluster. */
export const clusterSurroundings: readonly object[] = [
  {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'low' },
    value: 1,
  },
];
