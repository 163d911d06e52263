/**
 * Whether anything grows: the whole daemon above the socket on simulated time, ten thousand poll
 * cycles in which three hosts in ten are replaced, applications come and go, keys are rotated, the
 * configuration is reloaded, and calls fail in every way. Prints what must stay flat, and exits with 1 if it did not.
 * Needs `--expose-gc`. Argument: cycles, 10,000 if left out.
 */
import { growthOf, problemsOf } from '../test/simulated/flatness.ts';
import { type Measurement, startSoak } from '../test/simulated/soak.ts';

const cycles = Number(process.argv[2] ?? '10000');
const every = Math.max(1, Math.floor(cycles / 20));
const { gc } = globalThis;
if (gc === undefined) throw new Error('start this with node --expose-gc');
const collectGarbage = (): void => {
  gc();
};

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(2);
const print = (...cells: readonly (string | number)[]): void => {
  process.stdout.write(`${cells.map((cell) => String(cell).padStart(10)).join('')}\n`);
};

const soak = await startSoak({ applications: 20, hosts: 60, seed: 1 });
const measurements: Measurement[] = [];
const startMs = performance.now();
print(
  'cycle',
  'heap MiB',
  'code MiB',
  'RSS MiB',
  'handles',
  'timers',
  'listeners',
  'series',
  'self',
  'log lines',
  'calls',
  'faults',
  'seconds',
);
for (let cycle = 1; cycle <= cycles; cycle += 1) {
  await soak.cycle();
  if (cycle % every !== 0) continue;
  await soak.calmDown();
  const one = await soak.measure(collectGarbage);
  measurements.push(one);
  print(
    cycle,
    mib(one.heapBytes),
    mib(one.codeBytes),
    mib(one.rssBytes),
    one.resources,
    one.timers,
    one.listeners,
    one.series,
    one.selfSeries,
    one.logLines,
    one.requests,
    one.faults,
    ((performance.now() - startMs) / 1000).toFixed(0),
  );
}
await soak.stop();

const growth = growthOf(measurements);
const problems = problemsOf(measurements);
process.stdout.write(
  [
    `heap from the first quarter to the end: ${mib(growth.heapBytes)} MiB`,
    `slope: ${mib(growth.heapBytesPerMeasurement * (1000 / every))} MiB in a thousand cycles`,
    ...problems.map((problem) => `FAILED: ${problem}`),
    problems.length === 0 ? 'nothing grows' : '',
    '',
  ].join('\n'),
);
process.exitCode = problems.length === 0 ? 0 : 1;
