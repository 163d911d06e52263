import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, run } from './commands.ts';
import {
  apply,
  isReady,
  type Lab,
  podsOf,
  runTrial,
  scrape,
  secretWith,
  someApplications,
  type Vendor,
} from './lab.ts';

const manifests = fileURLToPath(new URL('../kubernetes', import.meta.url));
const namespace = 'plain';
const row = { name: 'deploy/kubernetes without Helm', form: 'kubectl apply -k' };
const selector = 'app.kubernetes.io/name=newrelic-exporter';

/** As a user writes it: the configuration replaced, and the component listed. */
async function writeOverlay(folder: string, { baseUrl }: Vendor): Promise<void> {
  const key = '/var/run/secrets/newrelic/default/api-key';
  const config = {
    accounts: [{ name: 'default', base_url: baseUrl, api_key_file: key }],
    apps: [{ match: '.' }],
  };
  // Kustomize refuses absolute paths.
  const base = relative(folder, manifests);
  const kustomization = {
    namespace,
    resources: [base],
    components: [join(base, 'prometheus-operator')],
    configMapGenerator: [
      {
        name: 'newrelic-exporter',
        behavior: 'replace',
        files: ['config.yaml'],
        options: { disableNameSuffixHash: true },
      },
    ],
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
  await writeFile(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
}

async function secondsUntilValues(lab: Lab): Promise<string | undefined> {
  const started = performance.now();
  return eventually(120, async () => {
    const pods = await podsOf(lab, namespace, selector);
    const pages = await Promise.all(pods.map(async (pod) => scrape(pod)));
    const shown = pages.filter(
      (page) => page?.includes('newrelic_application_requests_per_minute{') === true,
    );
    if (pods.length !== 1 || !pods.every(isReady) || shown.length !== 1) return undefined;
    return ((performance.now() - started) / 1000).toFixed(0);
  });
}

/** Lines of what kubectl says of each object, but for those that end as they should. */
function otherThan(ending: string, output: string): readonly string[] {
  return output
    .trim()
    .split('\n')
    .filter((line) => !line.endsWith(ending));
}

async function tryAll(lab: Lab, vendor: Vendor): Promise<void> {
  const folder = join(lab.folder, namespace);
  await writeOverlay(folder, vendor);
  await apply(namespace, [secretWith(vendor.apiKeys[0] ?? '')]);
  const created = await run('kubectl', ['apply', '-k', folder]);
  const seconds = await secondsUntilValues(lab);
  const again = otherThan(' unchanged', await run('kubectl', ['apply', '-k', folder]));
  await run('kubectl', ['delete', '-k', folder, '--timeout=60s']);
  const kinds = 'deployment,service,serviceaccount,configmap,servicemonitor,prometheusrule';
  const left = await run('kubectl', [
    'get',
    kinds,
    `--namespace=${namespace}`,
    `--selector=${selector}`,
    '--output=name',
  ]);
  lab.table.add({
    ...row,
    seen: [
      `${created.trim().split('\n').length} objects made`,
      seconds === undefined ? 'no values after 120 s' : `values after ${seconds} s`,
      again.length === 0 ? 'a second apply changes nothing' : `changed: ${again.join(', ')}`,
      left === '' ? 'nothing left' : `left: ${left.trim().replaceAll('\n', ' ')}`,
    ].join('; '),
    passed: seconds !== undefined && again.length === 0 && left === '',
  });
}

/** The manifests for `kubectl apply -k`, in an overlay such as that of docs/kubernetes.md. */
export async function runPlainCases(lab: Lab): Promise<void> {
  await runTrial(lab, { namespace, row, applications: someApplications(2) }, async (vendor) =>
    tryAll(lab, vendor),
  );
}
