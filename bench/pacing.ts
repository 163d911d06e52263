/**
 * P11, P12, P13 on the simulated clock: the whole daemon at 990 calls a minute against the vendor's
 * 1000 in fixed windows of unknown phase, beside two naive strategies in the same scene. Argument:
 * simulated minutes to measure, 30 if left out.
 */
import { runBurst, runTokenBucket } from './pacing-naive.ts';
import { type OursOptions, runOurs } from './pacing-ours.ts';
import {
  type AgeTheory,
  type PacingResult,
  roundSecondsOf,
  theoryOf,
  theoryOfWholes,
} from './pacing-result.ts';
import { type ForeignUser, type Scene, sizesOf } from './pacing-vendor.ts';

const minuteMs = 60_000;
const measuredMs = Number(process.argv[2] ?? '30') * minuteMs;
/** Bursts send ten times as many calls as the quota allows; they repeat themselves every minute. */
const naiveMeasuredMs = Math.min(measuredMs, 10 * minuteMs);
const ours: OursOptions = { requestsPerMinute: 990, concurrency: 8 };
const goals = { quota: 0.985, p50: 1.03, p99: 1.06, smallSeconds: 3, large: 1.05, foreign: 6 };

function sceneOf(hosts: number, quotaPhaseMs: number): Scene {
  return {
    applications: hosts / 50,
    hosts,
    sizes: 'even',
    quotaPhaseMs,
    foreign: undefined,
    // Three rounds are enough to come into step.
    warmUpMs: Math.max(5, Math.ceil((3.2 * hosts) / 1000)) * minuteMs,
    measuredMs,
  };
}

function seconds(value: number | undefined): string {
  return value === undefined ? 'never' : `${value.toFixed(1)} s`;
}

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function verdict(reached: boolean): string {
  return reached ? 'reached' : 'MISSED';
}

function row(name: string, result: PacingResult): string {
  const cells = [
    name.padEnd(20),
    result.refusedPerHour.toFixed(0).padStart(9),
    `${(100 * result.quotaShare).toFixed(1)} %`.padStart(9),
    seconds(result.p50Seconds).padStart(10),
    seconds(result.p99Seconds).padStart(10),
    `${(100 * result.missingShare).toFixed(1)} %`.padStart(9),
    seconds(result.firstSetSeconds).padStart(11),
  ];
  return `  ${cells.join('')}`;
}

const head = `  ${'strategy'.padEnd(20)}${'429s/h'.padStart(9)}${'calls'.padStart(9)}${'age p50'.padStart(10)}${'age p99'.padStart(10)}${'missing'.padStart(9)}${'first set'.padStart(11)}`;

function theoryRow(name: string, { p50Seconds, p99Seconds }: AgeTheory): string {
  return `  ${name.padEnd(38)}${seconds(p50Seconds).padStart(10)}${seconds(p99Seconds).padStart(10)}`;
}

async function compare(scene: Scene): Promise<PacingResult> {
  const result = await runOurs(scene, ours);
  const naiveScene = { ...scene, measuredMs: Math.min(scene.measuredMs, naiveMeasuredMs) };
  print([
    head,
    row('newrelic-exporter', result),
    row('burst per cycle', await runBurst(naiveScene)),
    row('token bucket', await runTokenBucket(scene)),
    theoryRow('theory', theoryOf(scene)),
    theoryRow('theory, applications as a whole', theoryOfWholes(scene, sizesOf(scene))),
  ]);
  return result;
}

function printAges(name: string, result: PacingResult, theory: AgeTheory): void {
  const p50 = result.p50Seconds / theory.p50Seconds;
  const p99 = result.p99Seconds / theory.p99Seconds;
  print([
    `  P12 age / ${name} p50 ${p50.toFixed(3)}, p99 ${p99.toFixed(3)}, goal <= ${goals.p50} and ${goals.p99}: ${verdict(p50 <= goals.p50 && p99 <= goals.p99)}`,
  ]);
}

async function alone(scene: Scene): Promise<void> {
  print([
    '',
    `pacing: ${scene.hosts} hosts of ${scene.applications} applications of ${scene.sizes} size, alone on the key`,
  ]);
  const result = await compare(scene);
  const exceeds = roundSecondsOf(scene) > 60;
  const p11 = result.refusedPerHour === 0 && (!exceeds || result.quotaShare >= goals.quota);
  print([
    `  P11 429s an hour   ${result.refusedPerHour.toFixed(0)} at ${(100 * result.quotaShare).toFixed(2)} % of the quota, goal 0${exceeds ? ' at >= 98.5 %' : ''}: ${verdict(p11)}`,
  ]);
  if (scene.sizes === 'even') printAges('theory  ', result, theoryOf(scene));
  printAges('wholes  ', result, theoryOfWholes(scene, sizesOf(scene)));
  if (exceeds) printLargeStart(scene, result);
  else await printSmallStart(scene, result);
}

function printLargeStart(scene: Scene, { firstSetSeconds }: PacingResult): void {
  const ratio = (firstSetSeconds ?? Number.POSITIVE_INFINITY) / (roundSecondsOf(scene) + 60);
  print([
    `  P13 first set      ${seconds(firstSetSeconds)}, ${ratio.toFixed(3)} of (bound + one window), goal <= ${goals.large}: ${verdict(ratio <= goals.large)}`,
  ]);
}

async function printSmallStart(scene: Scene, { firstSetSeconds }: PacingResult): Promise<void> {
  const short = { ...scene, warmUpMs: minuteMs, measuredMs: minuteMs };
  const wide = await runOurs(short, { ...ours, concurrency: 64 });
  const wideSeconds = wide.firstSetSeconds ?? Number.POSITIVE_INFINITY;
  const boundSeconds = ((scene.hosts + scene.applications) * 0.24) / ours.concurrency;
  print([
    `  P13 first set      ${seconds(wideSeconds)} with concurrency 64, goal <= ${goals.smallSeconds} s: ${verdict(wideSeconds <= goals.smallSeconds)}; ${seconds(firstSetSeconds)} with 8, where latency alone takes ${seconds(boundSeconds)}`,
  ]);
}

print([
  `pacing: simulated clock, vendor limit 1000 calls a minute, ours ${ours.requestsPerMinute}, answers take 80 to 400 ms`,
]);
await alone(sceneOf(500, 17_000));
await alone(sceneOf(2000, 41_000));
await alone(sceneOf(10_000, 29_000));
await alone({ ...sceneOf(2000, 7000), sizes: 'uneven' });

/**
 * With 800 the two of them fit the quota. With 990 they do not, and the whole budget is tried again
 * five minutes after each 429: so a vendor's minute with 429s comes at least every seven minutes, five
 * of recovery and the two in which the whole budget meets the quota. Bursts at random times are no
 * steady use: a minute has 200 calls of them, give or take 63, which is for nobody to plan.
 */
async function besideForeignUser(arrivals: ForeignUser['arrivals']): Promise<void> {
  const scene = { ...sceneOf(2000, 41_000), foreign: { perMinute: 200, arrivals } };
  print([
    '',
    `pacing: ${scene.hosts} hosts beside a foreign user of 200 calls a minute, ${arrivals}`,
  ]);
  const { refusedPerHour: saturated } = await compare(scene);
  const { refusedPerHour, quotaShare } = await runOurs(scene, { ...ours, requestsPerMinute: 800 });
  const share = `at ${(100 * quotaShare).toFixed(2)} % of the quota`;
  const goal =
    arrivals === 'even'
      ? `goal <= ${goals.foreign}: ${verdict(refusedPerHour <= goals.foreign)}`
      : 'no goal: not a steady user';
  print([
    `  P11 429s an hour   ${refusedPerHour.toFixed(0)} with a budget of 800, ${share}, ${goal}`,
    `                     ${saturated.toFixed(0)} with one of 990, where fewer than ${(60 / 7).toFixed(1)} are not possible`,
  ]);
}

for (const arrivals of ['even', 'bursts'] as const) await besideForeignUser(arrivals);
