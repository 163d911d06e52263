#!/usr/bin/env node
import { isMainThread } from 'node:worker_threads';

/** A stop that has not ended by then is cut short: five seconds is what it may take. */
const stopDeadlineMs = 4500;

const stop = new AbortController();
let redact = (text: string): string => text;
/** Daemons are stopped in the end; whatever else is stopped did not do what it was asked for. */
let isStopSuccess = false;

function stopCode(signal: unknown): number {
  if (isStopSuccess) return 0;
  return signal === 'SIGINT' ? 130 : 143;
}

function onStopSignal(signal: NodeJS.Signals): void {
  if (stop.signal.aborted) {
    // A parent passes on what the whole group of processes may have been sent.
    if (process.connected) return;
    // The second signal is somebody who does not want to wait.
    process.exit(stopCode(signal));
  }
  stop.abort(new Error(`stopped by ${signal}`, { cause: signal }));
  setTimeout(() => process.exit(stopCode(signal)), stopDeadlineMs).unref();
}

function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = hasNoDescriptors(error)
    ? `newrelic-exporter failed for want of file descriptors: raise the limit (ulimit -n) to 1024, or run the bundle, which is a single file (npm run bundle)\n${text}\n`
    : `newrelic-exporter failed, which is a fault of the program: ${text}\n`;
  process.stderr.write(redact(message));
  process.exit(1);
}

/** Whoever has started us as a child must not be outlived; when we stop already, at once. */
function followParent(): void {
  process.on('disconnect', () => onStopSignal('SIGTERM'));
  process.channel?.unref();
  if (!process.connected) onStopSignal('SIGTERM');
}

/** Loading a program of several hundred files opens about a hundred of them at a time. */
function hasNoDescriptors(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EMFILE', 'ENFILE'].includes(String(error.code))
  );
}

async function runProgram(): Promise<void> {
  process.on('SIGTERM', onStopSignal);
  process.on('SIGINT', onStopSignal);
  if (process.send !== undefined) followParent();
  process.on('unhandledRejection', die);
  process.on('uncaughtException', die);
  try {
    // Loaded only now: a signal that arrives meanwhile must not find us without its handler.
    const { createNodePlatform } = await import('./daemon/node-platform.ts');
    const { run, runsUntilStopped } = await import('./cli/run.ts');
    const program = new URL(import.meta.url);
    const platform = createNodePlatform({ program, stopSignal: stop.signal });
    const argv = process.argv.slice(2);
    redact = (text) => platform.redactor.redact(text);
    isStopSuccess = runsUntilStopped(argv, platform.env);
    process.exitCode = await run(argv, platform);
    // Calls of an interrupted command may be under way for long: nobody waits for their answers.
    if (stop.signal.aborted && !isStopSuccess) process.exit();
  } catch (error) {
    if (!stop.signal.aborted) die(error);
    const { reason } = stop.signal;
    process.exitCode = stopCode(reason instanceof Error ? reason.cause : undefined);
  }
}

// The program is one file where it is bundled: its thread is the same file.
if (isMainThread) await runProgram();
else await (await import('./daemon/config-thread.ts')).parseForParent();
