/**
 * Runs all benches, or those that are named, and prints one table. `--beside DIRECTORY` measures another
 * checkout in the same run; its sources have to be built there.
 */
import { writeSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { backfillBench, longBackfillBench } from './backfill.ts';
import { memoryBench } from './memory.ts';
import { pacingBench } from './pacing.ts';
import { type Build, pathOf } from './processes.ts';
import { scrapeBench } from './scrape.ts';
import { sidecarBench } from './sidecar.ts';
import { startBench } from './start.ts';
import { type Row, tableOf } from './table.ts';
import { tenThousandBench } from './ten-thousand.ts';
import { vendorCallBench } from './vendor-call.ts';

const benches: Readonly<Record<string, (builds: readonly Build[]) => Promise<readonly Row[]>>> = {
  scrape: scrapeBench,
  'vendor-call': vendorCallBench,
  pacing: pacingBench,
  'ten-thousand': tenThousandBench,
  start: startBench,
  memory: memoryBench,
  sidecar: sidecarBench,
  backfill: backfillBench,
  'backfill-long': longBackfillBench,
};

const { values, positionals } = parseArgs({
  options: { beside: { type: 'string' } },
  allowPositionals: true,
});
const builds: Build[] = [{ name: 'ours', directory: pathOf('../..') }];
if (values.beside !== undefined) builds.push({ name: 'beside', directory: resolve(values.beside) });
const names = positionals.length === 0 ? Object.keys(benches) : positionals;
const rows: Row[] = [];
const beginMs = performance.now();
const minutes = (): string => ((performance.now() - beginMs) / 60_000).toFixed(1);
for (const name of names) {
  const bench = benches[name];
  if (bench === undefined)
    throw new Error(`no bench "${name}": ${Object.keys(benches).join(', ')}`);
  writeSync(2, `${name}, after ${minutes()} minutes, load ${(loadavg()[0] ?? 0).toFixed(1)}\n`);
  try {
    rows.push(...(await bench(builds)));
  } catch (error) {
    // The others are worth their rows.
    process.stderr.write(`${name} failed: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
writeSync(
  1,
  `\n${tableOf(
    rows,
    builds.map(({ name }) => name),
  )}\n`,
);
writeSync(
  1,
  `Node.js ${process.versions.node}, ${minutes()} minutes, load ${(loadavg()[0] ?? 0).toFixed(1)}\n`,
);
