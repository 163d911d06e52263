/**
 * Runs the cases on the cluster that "in-namespaces" has started, and prints the table. Arguments: the
 * groups of cases to run, each with a regular expression after a colon if not all; none: all groups. Ends with 1 if a case fails.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runChartCases } from './charts.ts';
import { run } from './commands.ts';
import { runExampleChartCases } from './example-chart.ts';
import { prepareExampleChart } from './host-application.ts';
import { createKubernetes } from './kubernetes.ts';
import { runKustomizeCases } from './kustomize.ts';
import type { Lab } from './lab.ts';
import { runMistakeCases } from './mistakes.ts';
import { runPlainCases } from './plain-manifests.ts';
import { runRunningCases } from './running-exporter.ts';
import { runSelfCases } from './self.ts';
import { runShardCases } from './shards.ts';
import { runSidecarCases } from './sidecar.ts';
import { startStandIns } from './stand-ins.ts';
import { createTable, renderRows, type Table } from './table.ts';
import { runUpgradeCases } from './upgrades.ts';
import { runValuesCases } from './values.ts';

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(`The environment variable ${name} is missing: start deploy/cluster-test/run.`);
}

const groups: Readonly<Record<string, (lab: Lab, pattern: RegExp) => Promise<void>>> = {
  charts: runChartCases,
  values: runValuesCases,
  mistakes: runMistakeCases,
  upgrades: runUpgradeCases,
  running: runRunningCases,
  shards: runShardCases,
  sidecar: runSidecarCases,
  kustomize: runKustomizeCases,
  plain: runPlainCases,
  example: runExampleChartCases,
  self: runSelfCases,
};

const work = required('WORK');
const kubernetes = createKubernetes({
  server: required('API_SERVER'),
  certificate: readFileSync(join(work, 'server.crt'), 'utf8'),
  token: readFileSync(join(work, 'token'), 'utf8').trim(),
});
const stopStandIns = await startStandIns(kubernetes, {
  node: required('NODE_NAME'),
  dnsAddress: required('DNS_ADDRESS'),
});
const surroundings = {
  kubernetes,
  folder: join(work, 'cases'),
  definitions: required('DEFINITIONS'),
  certificateFile: join(work, 'server.crt'),
  certificateKeyFile: join(work, 'server.key'),
  vendorAddress: required('VENDOR_ADDRESS'),
  blackholeAddress: required('BLACKHOLE_ADDRESS'),
};

/** Starts the cases of a group; gives the table that their rows get into. */
function start(choice: string): { readonly table: Table; readonly done: Promise<void> } {
  const [name = '', pattern = '.'] = choice.split(/:(.*)/su);
  const group = groups[name];
  if (group === undefined) {
    throw new Error(`There is no group ${name}: choose of ${Object.keys(groups).join(', ')}.`);
  }
  const table = createTable((line) => process.stderr.write(`${line}\n`));
  const runGroup = async (): Promise<void> => {
    try {
      await group({ ...surroundings, table }, new RegExp(pattern, 'u'));
    } catch (error) {
      table.add({ name, form: '', seen: String(error).replaceAll('\n', ' '), passed: false });
    }
  };
  return { table, done: runGroup() };
}

await run('kubectl', ['apply', '--server-side', `--filename=${surroundings.definitions}`]);
await run('kubectl', ['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
await prepareExampleChart(surroundings.folder);
const wanted = process.argv.slice(2);
const started = (wanted.length === 0 ? Object.keys(groups) : wanted).map(start);
await Promise.all(started.map(async ({ done }) => done));
stopStandIns();
const rows = started.flatMap(({ table }) => table.rows());
const failures = rows.filter(({ passed }) => !passed).length;
process.stdout.write(`${renderRows(rows)}\n\n${rows.length} cases, ${failures} failed\n`);
process.exitCode = rows.length > 0 && failures === 0 ? 0 : 1;
