/**
 * What a host costs with each of the two sources, in turns: CPU time of a refresh, memory and the
 * longest turn of the event loop. Arguments: rounds, of which the median counts, 3 if left out;
 * simulated minutes of each, 10 if left out; the hosts of the only scene to run, all scenes if left out;
 * the applications of that scene; the metrics that are polled, as a list with commas, `throughput` if
 * left out, `all` for all presets.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { presetNames } from '../src/model/presets.ts';
import { show, spreadOf } from './median.ts';
import type { SourceCost } from './source-cost-process.ts';

const rounds = Number(process.argv[2] ?? '3');
const minutes = process.argv[3] ?? '10';
const onlyHosts = Number(process.argv[4] ?? '0');
const onlyApplications = Number(process.argv[5] ?? '0');
const [, , , , , , list = 'throughput'] = process.argv;
const metrics = list === 'all' ? presetNames.join() : list;
/** The hosts of the scene with goals. */
const goal = { hosts: 10_000, turnMs: 20, cpu: 1, memory: 1 };
const kinds = ['rest', 'nerdgraph'] as const;
type Kind = (typeof kinds)[number];

interface Scene {
  readonly applications: number;
  readonly hostsEach: number;
}

/** The heap of a container of 192 MiB, the one of the chart. */
const nodeFlags = ['--expose-gc', '--max-old-space-size=96', '--max-semi-space-size=4'];

async function costOf(kind: Kind, { applications, hostsEach }: Scene): Promise<SourceCost> {
  const program = fileURLToPath(new URL('source-cost-process.js', import.meta.url));
  const child = fork(program, [kind, `${applications}`, `${hostsEach}`, minutes, metrics], {
    execArgv: [
      ...nodeFlags,
      // For a profile: `--cpu-prof --cpu-prof-dir=DIRECTORY`.
      ...(process.env['BENCH_NODE_OPTIONS'] ?? '').split(' ').filter((option) => option !== ''),
    ],
  });
  const ended = once(child, 'exit');
  const message = once(child, 'message') as Promise<[SourceCost]>;
  const first = await Promise.race([message, ended]);
  await ended;
  const [cost] = first;
  if (typeof cost !== 'object') throw new Error(`the process with the source ${kind} failed`);
  return cost as SourceCost;
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function verdict(value: number, limit: number): string {
  return value <= limit ? 'reached' : 'MISSED';
}

const mebibyte = 1024 ** 2;

async function run(scene: Scene): Promise<void> {
  const hosts = scene.applications * scene.hostsEach;
  const all: Record<Kind, SourceCost[]> = { rest: [], nerdgraph: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of kinds) all[kind].push(await costOf(kind, scene));
  }
  const showAll = (kind: Kind, digits: number, of: (cost: SourceCost) => number): string =>
    show(spreadOf(all[kind].map(of)), digits).padEnd(30);
  const row = (name: string, digits: number, of: (cost: SourceCost) => number): string =>
    `  ${name.padEnd(34)}${showAll('rest', digits, of)}${showAll('nerdgraph', digits, of)}`.trimEnd();
  const phases = Object.keys(all.rest[0]?.turnsMs ?? {});
  const ratioOf = (of: (cost: SourceCost) => number): number =>
    spreadOf(all.nerdgraph.map(of)).median / spreadOf(all.rest.map(of)).median;
  const cpu = ratioOf(({ cpuMsPerRefresh }) => cpuMsPerRefresh);
  const peak = ratioOf(({ peakGrowthBytes }) => peakGrowthBytes);
  const longest = (cost: SourceCost): number => Math.max(...Object.values(cost.turnsMs));
  print([
    '',
    `source-cost: ${hosts} hosts of ${scene.applications} applications`,
    `  ${''.padEnd(34)}${'REST API v2'.padEnd(30)}NerdGraph`,
    row('calls of a discovery', 0, ({ discoveryCalls }) => discoveryCalls),
    row('first discovery, s', 1, ({ discoverySeconds }) => discoverySeconds),
    row('first full set, s', 1, ({ firstSetSeconds }) => firstSetSeconds),
    row('calls a refresh', 1, ({ callsPerRefresh }) => callsPerRefresh),
    row('CPU a host and refresh, us', 1, ({ cpuMsPerRefresh }) => (1000 * cpuMsPerRefresh) / hosts),
    row('peak resident growth, MiB', 1, ({ peakGrowthBytes }) => peakGrowthBytes / mebibyte),
    row('heap after a collection, MiB', 1, ({ heapBytes }) => heapBytes / mebibyte),
    ...phases.map((name) => row(`longest turn, ${name}, ms`, 1, (cost) => cost.turnsMs[name] ?? 0)),
  ]);
  if (hosts !== goal.hosts) return;
  const turn = spreadOf(all.nerdgraph.map(longest));
  print([
    `  P15 CPU, NerdGraph / REST API     ${cpu.toFixed(3)}, goal <= ${goal.cpu}: ${verdict(cpu, goal.cpu)}`,
    `  P15 memory, NerdGraph / REST API  ${peak.toFixed(3)}, goal <= ${goal.memory}: ${verdict(peak, goal.memory)}`,
    `  P15 longest turn, NerdGraph       ${show(turn)} ms, goal <= ${goal.turnMs} ms: ${verdict(turn.median, goal.turnMs)}`,
  ]);
}

print([
  `source-cost: 800 calls a minute, answers take 600 ms; ${rounds} rounds of ${minutes} minutes, median (min to max); metrics: ${metrics}`,
]);
const scenes: readonly Scene[] = [
  { applications: 500, hostsEach: 20 },
  { applications: 5000, hostsEach: 10 },
];
const chosen =
  onlyApplications === 0
    ? scenes.filter((one) => onlyHosts === 0 || one.applications * one.hostsEach === onlyHosts)
    : [{ applications: onlyApplications, hostsEach: onlyHosts / onlyApplications }];
for (const scene of chosen) await run(scene);
