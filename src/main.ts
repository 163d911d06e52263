#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { run } from './cli/run.ts';
import { createSystemClock } from './cli/system-clock.ts';

/** A stop that has not ended by then is cut short: five seconds is what it may take. */
const stopDeadlineMs = 4500;

const stop = new AbortController();

function onStopSignal(signal: NodeJS.Signals): void {
  // The second signal is somebody who does not want to wait.
  if (stop.signal.aborted) process.exit(0);
  stop.abort(new Error(`stopped by ${signal}`));
  setTimeout(() => process.exit(0), stopDeadlineMs).unref();
}

process.on('SIGTERM', onStopSignal);
process.on('SIGINT', onStopSignal);

function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`newrelic-exporter failed: this is a fault of the program. ${text}\n`);
  process.exit(1);
}

process.on('unhandledRejection', die);
process.on('uncaughtException', die);

try {
  process.exitCode = await run(process.argv.slice(2), {
    clock: createSystemClock(),
    random: Math.random,
    env: process.env,
    readFile,
    nextTurn: async () => {
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    },
    stdout: process.stdout,
    stderr: process.stderr,
    stopSignal: stop.signal,
  });
} catch (error) {
  if (!stop.signal.aborted) die(error);
}
