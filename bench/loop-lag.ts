/**
 * What it costs to watch the event loop: CPU time of processes that do nothing else, side by side. With
 * an argument it is one of these processes.
 */
import { execFile } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSystemClock } from '../src/daemon/node-platform.ts';
import { createLoopLag } from '../src/telemetry/loop-lag.ts';
import { show, spreadOf } from './median.ts';

const rounds = 3;
const seconds = 20;
const watchers: Readonly<Record<string, () => unknown>> = {
  nothing: () => undefined,
  'newrelic-exporter': () =>
    createLoopLag({ clock: createSystemClock() }).watch(new AbortController().signal),
  'monitorEventLoopDelay, 10 ms': () => monitorEventLoopDelay({ resolution: 10 }).enable(),
};

/** The share of a core, in percent, after the start of the process has settled. */
async function watch(name: string): Promise<void> {
  await setTimeout(2000);
  void watchers[name]?.();
  const before = process.cpuUsage();
  await setTimeout(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(String((user + system) / 1e4 / seconds));
  process.exit(0);
}

async function compare(): Promise<void> {
  const names = Object.keys(watchers);
  const run = promisify(execFile);
  const shares = new Map(names.map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(
      names.map(async (name) => {
        const { stdout } = await run(process.execPath, [fileURLToPath(import.meta.url), name]);
        shares.get(name)?.push(Number(stdout));
      }),
    );
  }
  process.stdout.write(
    `loop-lag: % of a core; ${rounds} rounds of ${seconds} s, median (min to max)\n`,
  );
  for (const [name, measured] of shares) {
    process.stdout.write(`  ${name.padEnd(30)} ${show(spreadOf(measured), 3)}\n`);
  }
}

const [, , name] = process.argv;
await (name === undefined ? compare() : watch(name));
