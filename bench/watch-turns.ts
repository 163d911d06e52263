/**
 * Watches the turns of the event loop of a program that imports this first. Writes the longest of each
 * second to the file that `BENCH_TURNS` names, as a line with its milliseconds and those of CPU time
 * of the main thread: on a busy machine a turn also waits for a processor.
 */
import { appendFileSync } from 'node:fs';
import { cpuMs } from './turns.ts';

const { BENCH_TURNS: file = '/dev/null' } = process.env;
const everyMs = 2;
let last = { ms: performance.now(), cpu: cpuMs() };
let longest = { ms: 0, cpu: 0 };

setInterval(() => {
  const now = { ms: performance.now(), cpu: cpuMs() };
  longest = {
    ms: Math.max(longest.ms, now.ms - last.ms - everyMs),
    cpu: Math.max(longest.cpu, now.cpu - last.cpu),
  };
  last = now;
}, everyMs).unref();

setInterval(() => {
  appendFileSync(file, `${longest.ms.toFixed(1)} ${longest.cpu.toFixed(1)}\n`);
  longest = { ms: 0, cpu: 0 };
}, 1000).unref();
