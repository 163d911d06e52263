import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { createLogger, type LoggerOptions } from '../publish/logger.ts';
import {
  type ChildEnd,
  type ChildProgram,
  type ExitCode,
  heartbeatMs,
  type Platform,
  type StartChild,
} from './platform.ts';
import { type ShardingFlags, shardFrom } from './sharding.ts';

/** The pause before the first restart; each further one is twice as long. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
/** A child that ran this long did not fail at its start: pauses begin anew. */
const longRunMs = 60_000;
/** With a hundredth of a processor a start takes a minute. */
const firstHeartbeatTimeoutMs = 300_000;
const heartbeatTimeoutMs = 120_000;
/** The program ends itself 4.5 seconds after it was asked to stop. */
const killAfterMs = 4300;

/** Runs the daemon as a child process and restarts it whenever it ends, until this process is stopped. */
export async function respawn(
  argv: readonly string[],
  flags: LoggerOptions & ShardingFlags,
  platform: Platform,
): Promise<ExitCode> {
  // Every child would fail on a wrong command line.
  shardFrom(flags, platform);
  const logger = await createLogger(flags, platform);
  await keepRunning(childArguments(argv), { ...platform, logger }, platform.stopSignal);
  return 0;
}

/** The same arguments, but for the daemon itself, whatever the environment says. */
export function childArguments(argv: readonly string[]): readonly string[] {
  return ['--respawn=false', ...argv.filter((word) => !/^--respawn(?:=|$)/u.test(word))];
}

type ParentContext = Pick<Platform, 'clock' | 'onHangup' | 'startChild'> & {
  readonly logger: Logger;
};

/** Resolves when the signal is aborted and the last child has ended. */
export async function keepRunning(
  args: readonly string[],
  context: ParentContext,
  stopSignal: AbortSignal,
): Promise<void> {
  const { clock, logger, onHangup } = context;
  const hangups = new EventTarget();
  onHangup(() => hangups.dispatchEvent(new Event('hangup')));
  for (let pauseMs = firstPauseMs; !stopSignal.aborted; ) {
    const startMs = clock.monotonicMs();
    const life = runChild(args, context, hangups, stopSignal);
    const end = await life.catch((error: unknown) => ({ error }));
    const ranMs = clock.monotonicMs() - startMs;
    if (stopSignal.aborted) return;
    if (ranMs >= longRunMs) pauseMs = firstPauseMs;
    const facts = {
      ...end,
      ran_seconds: Math.round(ranMs / 1000),
      again_in_seconds: pauseMs / 1000,
      remedy: remedyFor(end),
    };
    logger.error(facts, 'the daemon ended, starting it again');
    await sleep(clock, pauseMs, stopSignal).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

interface LifeEnd extends ChildEnd {
  /** Why this process killed it; `undefined` if it ended otherwise. */
  readonly problem: string | undefined;
}

/** One child from its start to its end. Rejects if it could not be started. */
async function runChild(
  args: readonly string[],
  { startChild, clock }: ParentContext,
  hangups: EventTarget,
  stopSignal: AbortSignal,
): Promise<LifeEnd> {
  let child: ChildProgram | undefined;
  /** The last heartbeat; `undefined` before the first. */
  let heard: string | undefined;
  /** Counted in ticks of this process: time in which both were frozen is not held against the child. */
  let silentMs = 0;
  let isHangupDue = false;
  let problem: string | undefined;
  const over = new AbortController();
  const { signal } = over;
  /** Before its first heartbeat a child would die of the signal: then it is sent later. */
  const hangup = (): void => {
    isHangupDue = heard === undefined;
    if (!isHangupDue) child?.signal('SIGHUP');
  };
  const stop = (): void => {
    child?.signal('SIGTERM');
    sleep(clock, killAfterMs, signal).then(
      () => child?.signal('SIGKILL'),
      () => {},
    );
  };
  const killIfSilent = async (): Promise<void> => {
    for (;;) {
      await sleep(clock, heartbeatMs, signal).catch(() => {});
      if (signal.aborted) return;
      silentMs += heartbeatMs;
      if (silentMs < (heard === undefined ? firstHeartbeatTimeoutMs : heartbeatTimeoutMs)) continue;
      const silence = `no sign of life for ${silentMs / 1000} seconds`;
      problem = heard === undefined || heard === '' ? silence : heard;
      child?.signal('SIGKILL');
    }
  };
  hangups.addEventListener('hangup', hangup, { signal });
  try {
    child = await startChild(args, (message) => {
      if (typeof message !== 'string') return;
      if (message === '') silentMs = 0;
      heard = message;
      if (isHangupDue) hangup();
    });
    stopSignal.addEventListener('abort', stop, { once: true, signal });
    if (stopSignal.aborted) stop();
    void killIfSilent();
    return { ...(await child.ended), problem };
  } finally {
    over.abort();
  }
}

function remedyFor(end: LifeEnd | { readonly error: unknown }): string {
  if ('error' in end) return 'give the container more memory or more processes';
  if (end.problem !== undefined) return 'report the log lines before this one as a bug';
  if (end.code === 2) return 'correct what the lines before this one name';
  if (end.signal === 'SIGABRT') {
    return 'most likely its heap was full: give the container more memory';
  }
  if (end.signal === 'SIGKILL') {
    return 'somebody killed it; if that was the kernel, give the container more memory';
  }
  return 'see the lines before this one';
}

/**
 * Starts the program's file once more, with the same flags of Node and the same standard streams. The
 * child runs out of heap before the container runs out of memory. It outlives this process only if this
 * process is killed while the child hangs.
 *
 * @param heapBytes what its heap may grow to
 */
export function startChildProgram(
  program: URL,
  heapBytes: number,
  ...[args, onMessage]: Parameters<StartChild>
): ChildProgram {
  const given = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const execArgv = [...process.execArgv, ...heapFlagsFor(heapBytes, given)];
  // Without memory for a process, it throws instead of emitting an error.
  const child: ChildProcess = fork(fileURLToPath(program), args, { execArgv, stdio: 'inherit' });
  const signal: ChildProgram['signal'] = (name) => void child.kill(name);
  const killWithUs = (): void => signal('SIGKILL');
  child.on('message', onMessage);
  process.once('exit', killWithUs);
  const ended = new Promise<ChildEnd>((resolve, reject) => {
    child.once('exit', (code, name) => resolve({ code, signal: name }));
    // Also emitted for a signal that could not be sent.
    child.on('error', (error) => {
      if (child.pid === undefined) reject(error);
    });
  });
  return { ended: ended.finally(() => process.removeListener('exit', killWithUs)), signal };
}

/**
 * Flags of Node that make a process with too many objects run out of heap before the kernel kills every
 * process of the container. None if others, `given` as one text, have a limit.
 */
export function heapFlagsFor(heapBytes: number, given: string): readonly string[] {
  if (/--max[-_](?:old[-_]space|heap)[-_]size/u.test(given)) return [];
  return [`--max-old-space-size=${Math.max(1, Math.floor(heapBytes / 1024 ** 2))}`];
}
