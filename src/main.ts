#!/usr/bin/env node

/** A stop that has not ended by then is cut short: five seconds is what it may take. */
const stopDeadlineMs = 4500;

const stop = new AbortController();
let redact = (text: string): string => text;

function onStopSignal(signal: NodeJS.Signals): void {
  // The second signal is somebody who does not want to wait.
  if (stop.signal.aborted) process.exit(0);
  stop.abort(new Error(`stopped by ${signal}`));
  setTimeout(() => process.exit(0), stopDeadlineMs).unref();
}

function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = `newrelic-exporter failed, which is a fault of the program: ${text}\n`;
  process.stderr.write(redact(message));
  process.exit(1);
}

process.on('SIGTERM', onStopSignal);
process.on('SIGINT', onStopSignal);
process.on('unhandledRejection', die);
process.on('uncaughtException', die);

try {
  // Loaded only now: a signal that arrives meanwhile must not find us without its handler.
  const { createThisMachine } = await import('./cli/this-machine.ts');
  const { run } = await import('./cli/run.ts');
  const machine = createThisMachine(stop.signal);
  redact = (text) => machine.redactor.redact(text);
  process.exitCode = await run(process.argv.slice(2), machine);
} catch (error) {
  if (!stop.signal.aborted) die(error);
}
