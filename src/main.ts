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
  const message = hasNoDescriptors(error)
    ? `newrelic-exporter failed for want of file descriptors: raise the limit (ulimit -n) to 1024, or run the bundle, which is a single file (npm run bundle)\n${text}\n`
    : `newrelic-exporter failed, which is a fault of the program: ${text}\n`;
  process.stderr.write(redact(message));
  process.exit(1);
}

/** Loading a program of several hundred files opens about a hundred of them at a time. */
function hasNoDescriptors(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EMFILE', 'ENFILE'].includes(String(error.code))
  );
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
