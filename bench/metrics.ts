/**
 * What further metrics of each application and host cost: calls a minute, which must be none, and
 * bytes and CPU time for each further series. With both sources; the same fleet, once with `throughput`
 * alone and once with each list below. Arguments: rounds, of which the median counts, 3 if
 * left out; applications, 200 if left out; hosts of each, 10 if left out.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { presetNames } from '../src/model/presets.ts';
import { spreadOf } from './median.ts';
import type { MetricsCost } from './metrics-process.ts';

const [rounds = '3', applications = '200', hosts = '10'] = process.argv.slice(2);
const lists: readonly (readonly string[])[] = [
  ['throughput'],
  ['throughput', 'response_time', 'errors', 'apdex'],
  presetNames,
];

async function costOf(kind: string, metrics: readonly string[]): Promise<MetricsCost> {
  const program = fileURLToPath(new URL('metrics-process.js', import.meta.url));
  const child = fork(program, [kind, metrics.join(), applications, hosts, '10'], {
    execArgv: ['--expose-gc'],
  });
  const ended = once(child, 'exit');
  const [cost] = (await Promise.race([once(child, 'message'), ended])) as [unknown];
  await ended;
  if (typeof cost !== 'object') throw new Error(`the process with ${kind} failed`);
  return cost as MetricsCost;
}

async function medianOf(kind: string, metrics: readonly string[]): Promise<MetricsCost> {
  const costs: MetricsCost[] = [];
  for (let round = 0; round < Number(rounds); round += 1) costs.push(await costOf(kind, metrics));
  const median = (of: (cost: MetricsCost) => number): number => spreadOf(costs.map(of)).median;
  return {
    callsPerMinute: median(({ callsPerMinute }) => callsPerMinute),
    series: median(({ series }) => series),
    pageBytes: median(({ pageBytes }) => pageBytes),
    compressedBytes: median(({ compressedBytes }) => compressedBytes),
    pageCpuMs: median(({ pageCpuMs }) => pageCpuMs),
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}

print(
  `metrics: ${applications} applications with ${hosts} hosts each on average, polled every minute; median of ${rounds} rounds`,
);
for (const kind of ['rest', 'nerdgraph']) {
  const costs: MetricsCost[] = [];
  for (const list of lists) costs.push(await medianOf(kind, list));
  print(`\n  source: ${kind}`);
  const row = (name: string, digits: number, of: (cost: MetricsCost) => number): void => {
    print(
      `  ${name.padEnd(26)}${costs.map((cost) => of(cost).toFixed(digits).padStart(14)).join('')}`,
    );
  };
  print(
    `  ${'metrics'.padEnd(26)}${['throughput', 'and RED', 'all presets'].map((name) => name.padStart(14)).join('')}`,
  );
  row('calls a minute', 1, ({ callsPerMinute }) => callsPerMinute);
  row('series', 0, ({ series }) => series);
  row('page, kB', 0, ({ pageBytes }) => pageBytes / 1000);
  row('page, compressed, kB', 0, ({ compressedBytes }) => compressedBytes / 1000);
  row('CPU of a new page, ms', 1, ({ pageCpuMs }) => pageCpuMs);
  const [one, , all] = costs;
  if (one === undefined || all === undefined) throw new Error('there are three lists');
  const further = all.series - one.series;
  const each = (of: (cost: MetricsCost) => number): number => (of(all) - of(one)) / further;
  print(
    `  a further series: ${each(({ pageBytes }) => pageBytes).toFixed(0)} bytes of the page, ` +
      `${each(({ compressedBytes }) => compressedBytes).toFixed(1)} compressed, ` +
      `${(1000 * each(({ pageCpuMs }) => pageCpuMs)).toFixed(1)} us of CPU a page`,
  );
  const ratio = all.callsPerMinute / one.callsPerMinute;
  print(
    `  calls, all presets / throughput alone: ${ratio.toFixed(3)}, goal <= 1: ${verdict(ratio <= 1)}`,
  );
}
