import { isMainThread } from 'node:worker_threads';

/** A stop that takes longer is cut short: it may take five seconds. */
const stopDeadlineMs = 4500;

const stop = new AbortController();
let redact = (text: string): string => text;
/** To be stopped is success for a daemon; any other command has not done its work then. */
let isStopSuccess = false;

function stopCode(signal: unknown): number {
  if (isStopSuccess) return 0;
  return signal === 'SIGINT' ? 130 : 143;
}

function onStopSignal(signal: NodeJS.Signals): void {
  if (stop.signal.aborted) {
    // The parent passes the signal on, which the whole process group may have been sent already.
    if (process.connected) return;
    // The second signal comes from somebody who does not want to wait.
    process.exit(stopCode(signal));
  }
  stop.abort(new Error(`stopped by ${signal}`, { cause: signal }));
  setTimeout(() => process.exit(stopCode(signal)), stopDeadlineMs).unref();
}

function die(error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const message = hasNoDescriptors(error)
    ? `newrelic-exporter ran out of file descriptors: raise the limit (ulimit -n) to 1024, or run the bundle, which is a single file (npm run bundle)\n${text}\n`
    : `newrelic-exporter failed, which is a fault of the program: ${text}\n`;
  process.stderr.write(redact(message));
  process.exit(1);
}

/** A child must not outlive its parent, which may have ended already. */
function followParent(): void {
  process.on('disconnect', () => onStopSignal('SIGTERM'));
  process.channel?.unref();
  if (!process.connected) onStopSignal('SIGTERM');
}

/** Loading a program of several hundred files opens about a hundred of them at the same time. */
function hasNoDescriptors(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EMFILE', 'ENFILE'].includes(String(error.code))
  );
}

async function runHere(program: URL): Promise<void> {
  process.on('SIGTERM', onStopSignal);
  process.on('SIGINT', onStopSignal);
  // Without a listener Node.js opens its debugger, in which anybody on this machine could read the keys.
  process.on('SIGUSR1', () => {});
  if (process.send !== undefined) followParent();
  process.on('unhandledRejection', die);
  process.on('uncaughtException', die);
  try {
    // Loaded only now, so that a signal that arrives meanwhile finds its handler.
    const { createNodePlatform } = await import('./daemon/node-platform.ts');
    const { run, runsUntilStopped } = await import('./cli/run.ts');
    const platform = createNodePlatform(program, stop.signal);
    const argv = process.argv.slice(2);
    redact = (text) => platform.redactor.redact(text);
    isStopSuccess = runsUntilStopped(argv, platform.env);
    process.exitCode = await run(argv, platform);
    // The calls of an interrupted command may take long, and nobody waits for their answers.
    if (stop.signal.aborted && !isStopSuccess) process.exit();
  } catch (error) {
    if (!stop.signal.aborted) die(error);
    const { reason } = stop.signal;
    process.exitCode = stopCode(reason instanceof Error ? reason.cause : undefined);
  }
}

/**
 * Runs the program in this process, and sets its exit code; in a thread, compares passwords instead.
 *
 * @param program the file that was started: it is started again as a thread and as a child process
 */
export async function runProgram(program: URL): Promise<void> {
  // The bundled program is one file, so its thread starts with the same file.
  if (isMainThread) await runHere(program);
  else await (await import('./daemon/password-thread.ts')).compareForParent();
}
