#!/usr/bin/env node
import { run } from './cli/run.ts';
import { createThisMachine } from './cli/this-machine.ts';

/** A stop that has not ended by then is cut short: five seconds is what it may take. */
const stopDeadlineMs = 4500;

const stop = new AbortController();
const machine = createThisMachine(stop.signal);

function onStopSignal(signal: NodeJS.Signals): void {
  // The second signal is somebody who does not want to wait.
  if (stop.signal.aborted) process.exit(0);
  stop.abort(new Error(`stopped by ${signal}`));
  setTimeout(() => process.exit(0), stopDeadlineMs).unref();
}

function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `newrelic-exporter failed, which is a fault of the program: ${text}\n`;
  process.stderr.write(machine.redactor.redact(message));
  process.exit(1);
}

process.on('SIGTERM', onStopSignal);
process.on('SIGINT', onStopSignal);
process.on('unhandledRejection', die);
process.on('uncaughtException', die);

try {
  process.exitCode = await run(process.argv.slice(2), machine);
} catch (error) {
  if (!stop.signal.aborted) die(error);
}
