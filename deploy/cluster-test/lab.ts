import { mkdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { run } from './commands.ts';
import type { Kubernetes, Pod } from './kubernetes.ts';
import type { Row, Table } from './table.ts';

/** What every case works with. */
export interface Lab {
  readonly kubernetes: Kubernetes;
  readonly table: Table;
  /** A folder for files of cases. */
  readonly folder: string;
  /** Folder with the definitions of all custom resources that the chart can make objects of. */
  readonly definitions: string;
  /** A certificate and its key, in PEM. */
  readonly certificateFile: string;
  readonly certificateKeyFile: string;
  readonly vendorAddress: string;
  /** Packets to it are dropped. */
  readonly blackholeAddress: string;
}

export interface Vendor {
  readonly simulator: Simulator;
  readonly baseUrl: string;
  readonly apiKeys: readonly string[];
}

export interface VendorOptions {
  readonly applications: readonly ApplicationSpec[];
  readonly quotaPerMinute?: number;
}

/** An account of its own for one case, at an address that pods reach. Both of its keys are valid. */
export async function startVendor(lab: Lab, options: VendorOptions): Promise<Vendor> {
  const apiKeys = ['NRAK-CLUSTERTESTFIRST', 'NRAK-CLUSTERTESTSECOND'];
  const simulator = createSimulator(
    {
      apiKeys,
      ingestDelayMs: 0,
      listenHost: lab.vendorAddress,
      quotaPerMinute: options.quotaPerMinute,
      fleet: { applications: options.applications, traffic: 'flat' },
    },
    { clock: createSystemClock() },
  );
  const { baseUrl } = await simulator.start();
  return { simulator, baseUrl, apiKeys };
}

/** Applications with two hosts each, which all have traffic. */
export function someApplications(count: number): readonly ApplicationSpec[] {
  return Array.from({ length: count }, (_, index) => ({
    id: 101 + index,
    name: `app-${index + 1}`,
    kind: 'web',
    webRpm: 60,
    hosts: 2,
  }));
}

export async function apply(namespace: string, objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await run('kubectl', ['apply', `--namespace=${namespace}`, '--filename=-'], JSON.stringify(list));
}

export type PodSecurity = 'restricted' | 'privileged';

export async function createNamespace(
  name: string,
  level: PodSecurity = 'restricted',
): Promise<void> {
  const metadata = { name, labels: { 'pod-security.kubernetes.io/enforce': level } };
  await run(
    'kubectl',
    ['apply', '--filename=-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }),
  );
  // Pods are refused until the namespace has its service account.
  await run('kubectl', [
    'wait',
    `--namespace=${name}`,
    '--for=create',
    'serviceaccount/default',
    '--timeout=60s',
  ]);
}

export interface TrialOptions extends VendorOptions {
  readonly namespace: string;
  readonly level?: PodSecurity;
  /** The name and the form of the row that says why it failed. */
  readonly row: Pick<Row, 'name' | 'form'>;
}

/** Runs a case in a namespace and with a vendor of its own. If it throws, its row says so. */
export async function runTrial(
  lab: Lab,
  { namespace, level, row, ...options }: TrialOptions,
  use: (vendor: Vendor) => Promise<void>,
): Promise<void> {
  await createNamespace(namespace, level);
  const vendor = await startVendor(lab, options);
  try {
    await use(vendor);
  } catch (error) {
    lab.table.add({ ...row, seen: String(error).replaceAll('\n', ' '), passed: false });
  } finally {
    await deleteNamespace(namespace);
    await vendor.simulator.stop();
  }
}

export async function deleteNamespace(name: string): Promise<void> {
  await run('kubectl', ['delete', 'namespace', name, '--wait=false']);
}

export function secretWith(apiKey: string, name = 'newrelic', key = 'api-key'): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { [key]: apiKey } };
}

export async function podsOf(
  lab: Lab,
  namespace: string,
  selector: string,
): Promise<readonly Pod[]> {
  const query = `labelSelector=${encodeURIComponent(selector)}`;
  const { items } = await lab.kubernetes.get<{ items: readonly Pod[] }>(
    `/api/v1/namespaces/${namespace}/pods?${query}`,
  );
  return items.filter((pod) => pod.metadata.deletionTimestamp === undefined);
}

/** Writes values as JSON, which is YAML too; gives the path. */
export async function valuesFile(lab: Lab, name: string, values: object): Promise<string> {
  const path = join(lab.folder, `${name}.json`);
  await mkdir(lab.folder, { recursive: true });
  await writeFile(path, JSON.stringify(values));
  return path;
}

export function isReady(pod: Pod): boolean {
  return (
    pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
    false
  );
}

/** Where and how an exporter shows its metrics. */
export interface Scraping {
  readonly port?: number;
  readonly path?: string;
  readonly scheme?: 'http' | 'https';
  /** User and password, with a colon between them. */
  readonly credentials?: string;
}

/** The page of a pod; `undefined` when it does not answer. Certificates are not verified. */
export async function scrape(pod: Pod, scraping: Scraping = {}): Promise<string | undefined> {
  const { port = 9126, path = '/metrics', scheme = 'http', credentials } = scraping;
  const { podIP } = pod.status;
  if (podIP === undefined) return undefined;
  const options = { auth: credentials ?? null, signal: AbortSignal.timeout(2000) };
  return new Promise((resolve) => {
    const onResponse = (response: IncomingMessage): void => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', () => {
        resolve(undefined);
      });
      response.on('end', () => {
        resolve(response.statusCode === 200 ? text : undefined);
      });
    };
    const url = `${scheme}://${podIP}:${port}${path}`;
    const sent =
      scheme === 'https'
        ? requestHttps(url, { ...options, rejectUnauthorized: false }, onResponse)
        : request(url, options, onResponse);
    sent.on('error', () => {
      resolve(undefined);
    });
    sent.end();
  });
}

/** The values of a label in the samples of one metric. */
export function labelValues(page: string, metric: string, label: string): readonly string[] {
  const sample = new RegExp(`^${metric}\\{(?:.*,)?${label}="([^"]*)"`, 'gmu');
  return [...page.matchAll(sample)].map(([, value = '']) => value);
}
