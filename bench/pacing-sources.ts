/**
 * P15 on the simulated clock: the whole daemon with each of the two sources, in the same scenes. The
 * REST API has 990 calls a minute against a quota of 1000; NerdGraph has the defaults of a configuration,
 * and slower answers. Argument: simulated minutes to measure, 20 if left out.
 */
import { type OursOptions, runOurs } from './pacing-ours.ts';
import type { CallCounts, PacingResult } from './pacing-result.ts';
import type { Scene } from './pacing-vendor.ts';

const minuteMs = 60_000;
const measuredMs = Number(process.argv[2] ?? '20') * minuteMs;
const hostsEach = 20;
const goal = { hosts: 10_000, nrql: 60, firstSeconds: 60, ageSeconds: 60 };

interface Contender {
  readonly name: string;
  readonly options: OursOptions;
  /** How long an answer takes. */
  readonly latencyMs: readonly [minMs: number, maxMs: number];
  /** Values of the first minutes say nothing about the steady state. */
  readonly warmUpMs: (hosts: number) => number;
}

const rest: Contender = {
  name: 'REST API v2',
  options: { requestsPerMinute: 990, concurrency: 8 },
  latencyMs: [80, 400],
  warmUpMs: (hosts) => Math.max(5, Math.ceil((3.2 * hosts) / 1000)) * minuteMs,
};
const nerdgraph: Contender = {
  name: 'NerdGraph',
  options: {
    requestsPerMinute: 800,
    concurrency: 5,
    source: { kind: 'nerdgraph', accountId: 1_234_567 },
  },
  // Not measured on the real API: about what the plan of the exporter assumes.
  latencyMs: [400, 1600],
  warmUpMs: () => 5 * minuteMs,
};

function sceneOf(hosts: number, { latencyMs, warmUpMs }: Contender): Scene {
  return {
    applications: hosts / hostsEach,
    hosts,
    sizes: 'even',
    quotaPhaseMs: 29_000,
    foreign: undefined,
    latencyMs,
    warmUpMs: warmUpMs(hosts),
    measuredMs,
  };
}

function seconds(value: number | undefined): string {
  return value === undefined ? 'never' : `${value.toFixed(1)} s`;
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

const widths = [20, 16, 11, 18, 10, 10, 9, 8];

function line(cells: readonly string[]): string {
  const padded = cells.map((cell, index) =>
    index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
  );
  return `  ${padded.join('')}`;
}

function counts({ calls, nrql }: CallCounts, digits: number): string {
  return `${calls.toFixed(digits)} (${nrql.toFixed(digits)})`;
}

function row(name: string, result: PacingResult): string {
  return line([
    name,
    counts(result.first, 0),
    seconds(result.firstSetSeconds),
    counts(result.perRefresh, 1),
    seconds(result.p50Seconds),
    seconds(result.p99Seconds),
    `${(100 * result.missingShare).toFixed(1)} %`,
    result.refusedPerHour.toFixed(0),
  ]);
}

const head = line([
  'source',
  'calls (NRQL)',
  'first set',
  'calls a refresh',
  'age p50',
  'age p99',
  'missing',
  '429s/h',
]);

function verdict(reached: boolean): string {
  return reached ? 'reached' : 'MISSED';
}

function printGoal(result: PacingResult, peer: PacingResult): void {
  const { firstSetSeconds = Number.POSITIVE_INFINITY, p99Seconds, mostNrqlPerMinute } = result;
  // A value that is asked for every minute is up to a minute old, beside the time of its answer.
  const ageGoal = goal.ageSeconds + (nerdgraph.latencyMs[1] ?? 0) / 1000;
  const isReached =
    firstSetSeconds <= goal.firstSeconds &&
    p99Seconds <= ageGoal &&
    mostNrqlPerMinute <= goal.nrql &&
    result.missingShare < 1e-6 &&
    result.refusedPerHour === 0;
  print([
    `  P15 fresh within an interval  first set ${seconds(firstSetSeconds)}, age p99 ${seconds(p99Seconds)}, goal <= ${goal.firstSeconds} s and ${ageGoal.toFixed(1)} s, at ${mostNrqlPerMinute} NRQL a minute at most, goal <= ${goal.nrql}: ${verdict(isReached)}`,
    `                                the REST API: first set ${seconds(peer.firstSetSeconds)}, age p99 ${seconds(peer.p99Seconds)}`,
  ]);
}

const [, , , only] = process.argv;
print([
  `pacing-sources: simulated clock, ${hostsEach} hosts an application, ${measuredMs / minuteMs} minutes`,
  ...[rest, nerdgraph].map(
    ({ name, options, latencyMs }) =>
      `  ${name}: ${options.requestsPerMinute} calls a minute, concurrency ${options.concurrency}, answers take ${latencyMs.join(' to ')} ms`,
  ),
]);
for (const hosts of [500, 2000, 10_000]) {
  if (only !== undefined && Number(only) !== hosts) continue;
  print(['', `pacing-sources: ${hosts} hosts of ${hosts / hostsEach} applications`, head]);
  const ofRest = await runOurs(sceneOf(hosts, rest), rest.options);
  print([row(rest.name, ofRest)]);
  const ofNerdGraph = await runOurs(sceneOf(hosts, nerdgraph), nerdgraph.options);
  print([row(nerdgraph.name, ofNerdGraph)]);
  if (hosts === goal.hosts) printGoal(ofNerdGraph, ofRest);
}
