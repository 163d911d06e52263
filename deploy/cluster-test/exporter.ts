import { chartFolder } from './chart-setups.ts';
import { run } from './commands.ts';
import type { Pod } from './kubernetes.ts';
import { type Lab, labelValues, podsOf, scrape, valuesFile } from './lab.ts';

/** The exporter as a release of its own, for cases that change it while it runs. */
export interface Exporter {
  readonly namespace: string;
  readonly values: Readonly<Record<string, unknown>>;
}

const release = 'exporter';

/** Installs or upgrades, and waits until Helm is content. */
export async function installExporter(lab: Lab, { namespace, values }: Exporter): Promise<void> {
  const file = await valuesFile(lab, namespace, values);
  await run('helm4', [
    'upgrade',
    '--install',
    release,
    chartFolder,
    `--namespace=${namespace}`,
    `--values=${file}`,
    '--wait',
    '--timeout=300s',
  ]);
}

export async function exporterPods(lab: Lab, namespace: string): Promise<readonly Pod[]> {
  return podsOf(lab, namespace, 'app.kubernetes.io/name=newrelic-exporter');
}

/** How many pods show values of each application. */
export async function shownBy(lab: Lab, namespace: string): Promise<ReadonlyMap<string, number>> {
  const pods = await exporterPods(lab, namespace);
  const pages = await Promise.all(pods.map(async (pod) => scrape(pod)));
  const counts = new Map<string, number>();
  for (const page of pages) {
    const ids = new Set(
      labelValues(page ?? '', 'newrelic_application_requests_per_minute', 'app_id'),
    );
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}
