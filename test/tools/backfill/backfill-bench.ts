import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { FaultRule } from '../../../src/simulator/fault-rule.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import type { FakePlatform } from '../../support/fake-platform.ts';
import { type Printed, printedOn } from '../survey/ask-bench.ts';

// Loaded before time passes: a fake clock does not wait for the disk.
await Promise.all([
  import('re2js'),
  import('../../../src/cli/one-shot.ts'),
  import('../../../src/tools/backfill/backfill.ts'),
  import('../../../src/tools/once.ts'),
]);

export const accountOf = (source: 'rest' | 'nerdgraph'): string =>
  `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY, account_id: 1234567, source: ${source} }]\n`;

/** A run of a test; by default of ten minutes of all that the file asks for. */
export interface BackfillRun {
  readonly file: string;
  readonly flags?: readonly string[];
  readonly options?: SimulatorOptions;
  readonly rules?: readonly FaultRule[];
  /** The wall time at its start. */
  readonly at?: string;
  readonly directory?: string;
  readonly beforeCall?: (call: number, platform: FakePlatform) => void;
}

export interface Backfilled extends Printed {
  readonly output: string | undefined;
  readonly left: readonly string[];
}

/** A day and more of a small account, applications and a query: several slices of each. */
export const smallRun: BackfillRun & { readonly flags: readonly string[] } = {
  file: `${accountOf('nerdgraph')}poll: { metrics: [throughput, errors] }
apps: [{ match: "." }]
queries: [{ as: calls_by_host, nrql: "SELECT count(*) FROM Transaction FACET host LIMIT 50" }]
`,
  options: { fleet: { applications: 3, hosts: 4 }, ingestDelayMs: 0 },
  flags: ['--from=2026-08-31T02:00:00Z', '--to=2026-09-01T08:00:00Z'],
};

/** Two slices of applications, and two of a query. */
export const shortRun: typeof smallRun = {
  ...smallRun,
  file: smallRun.file.replace(', errors', ''),
  options: { fleet: { applications: 1, hosts: 2 }, ingestDelayMs: 0 },
  flags: ['--from=2026-08-31T22:00:00Z', '--to=2026-09-01T08:00:00Z'],
};

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-test-'));
  onTestFinished(async () => rm(directory, { recursive: true }));
  return directory;
}

/** A run that nothing disturbs, also outside of a test. */
export async function undisturbed(run: BackfillRun): Promise<Backfilled> {
  const directory = await mkdtemp(join(tmpdir(), 'newrelic-exporter-test-'));
  try {
    return await backfilled({ ...run, directory });
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Stops a run before a call, as SIGTERM does. */
export function stopAt(stop: number): NonNullable<BackfillRun['beforeCall']> {
  return (call, platform) => {
    if (call === stop) platform.stop();
  };
}

export async function backfilled(run: BackfillRun): Promise<Backfilled> {
  const directory = run.directory ?? (await temporaryDirectory());
  const output = join(directory, 'past.om');
  const range = ['--from=2026-09-01T09:50:00Z', '--to=2026-09-01T10:00:00Z'];
  const flags = ['backfill', 'c.yaml', ...(run.flags ?? range), `--output=${output}`];
  const files = { 'c.yaml': run.file };
  const { options = {}, at, rules, beforeCall } = run;
  const result = await printedOn({}, options, flags, files, at, rules, beforeCall);
  return {
    ...result,
    output: await readFile(output, 'utf8').catch(() => undefined),
    left: await readdir(`${output}.parts`).catch(() => []),
  };
}

/** What `once` prints of New Relic's values at a time. */
export async function pageOf(
  file: string,
  options: SimulatorOptions,
  at: string,
): Promise<readonly string[]> {
  const args = ['once', '--config.file=c.yaml'];
  const { stdout } = await printedOn({}, options, args, { 'c.yaml': file }, at);
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .toSorted();
}

/** The samples of an output at a time, as a page has them. */
export function pageAt(output: string | undefined, time: string): readonly string[] {
  const end = ` ${Date.parse(time) / 1000}`;
  return (output ?? '')
    .split('\n')
    .filter((line) => line.endsWith(end))
    .map((line) => line.slice(0, -end.length))
    .toSorted();
}
