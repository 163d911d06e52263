/**
 * Watches the turns of the event loop of a program that imports this first. Every 200 ms it writes the
 * longest one to the file that `BENCH_TURNS` names, in milliseconds of CPU time of the main thread: on a
 * busy machine a turn also waits for a processor.
 */
import { appendFileSync } from 'node:fs';
import { mainThreadMs } from './cpu-time.ts';

const { BENCH_TURNS: file = '/dev/null' } = process.env;
let last = mainThreadMs();
let longest = 0;

setInterval(() => {
  const now = mainThreadMs();
  longest = Math.max(longest, now - last);
  last = now;
}, 2).unref();

setInterval(() => {
  appendFileSync(file, `${longest.toFixed(1)}\n`);
  longest = 0;
}, 200).unref();
