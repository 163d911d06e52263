import { type Clock, sleep } from '../model/clock.ts';
import { createLogger, type LoggerOptions } from '../publish/logger.ts';
import {
  type ChildEnd,
  type ChildProgram,
  type ExitCode,
  heartbeatMs,
  type Platform,
} from './platform.ts';
import { type ShardingFlags, shardFrom } from './sharding.ts';

/** The pause before the first restart; each further one is twice as long. */
const firstRestartMs = 1000;
const longestRestartMs = 30_000;
/** A child that ran this long did not fail at its start: pauses begin anew. */
const longRunMs = 60_000;
/** With a hundredth of a processor a start takes a minute. */
const oldestHeartbeatMs = 120_000;

/** Runs the daemon as a child process and restarts it whenever it ends, until this process is stopped. */
export async function respawn(
  argv: readonly string[],
  flags: LoggerOptions & ShardingFlags,
  platform: Platform,
): Promise<ExitCode> {
  const { clock, stopSignal } = platform;
  // Every child would fail on a wrong command line.
  shardFrom(flags, platform);
  const logger = await createLogger(flags, platform);
  // For the daemon itself, whatever the environment says.
  const args = ['--respawn=false', ...argv.filter((word) => !/^--respawn(?:=|$)/u.test(word))];
  let child: ChildProgram | undefined;
  /** Before its first heartbeat a child would die of the signal: then it is sent later. */
  let hasBegun = false;
  let isHangupDue = false;
  const hangup = (): void => {
    isHangupDue = !hasBegun;
    if (hasBegun) child?.signal('SIGHUP');
  };
  stopSignal.addEventListener('abort', () => child?.signal('SIGTERM'));
  platform.onHangup(hangup);
  const live = async (): Promise<LifeEnd> => {
    hasBegun = false;
    isHangupDue = false;
    child = platform.startChild(args);
    child.onMessage(() => {
      hasBegun = true;
      if (isHangupDue) hangup();
    });
    return childEnd(child, clock);
  };
  for (let pauseMs = firstRestartMs; !stopSignal.aborted; ) {
    const startMs = clock.monotonicMs();
    const end = await live().catch((error: unknown) => ({ error }));
    if (stopSignal.aborted) break;
    const ranMs = clock.monotonicMs() - startMs;
    if (ranMs >= longRunMs) pauseMs = firstRestartMs;
    const facts = {
      ...end,
      ran_seconds: Math.round(ranMs / 1000),
      again_in_seconds: pauseMs / 1000,
      remedy: remedyAfter(end),
    };
    logger.error(facts, 'the daemon ended, starting it again');
    await sleep(clock, pauseMs, stopSignal).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestRestartMs);
  }
  return 0;
}

interface LifeEnd extends ChildEnd {
  /** Why this process killed it; `undefined` if it ended otherwise. */
  readonly problem: string | undefined;
}

/** Waits for the end of a child, and kills it if its last heartbeat is old. */
async function childEnd(child: ChildProgram, clock: Clock): Promise<LifeEnd> {
  /** Counted in ticks of this process: time in which both were frozen is not held against the child. */
  let silentMs = 0;
  let stalled = '';
  child.onMessage((message) => {
    stalled = String(message);
    if (stalled === '') silentMs = 0;
  });
  const over = new AbortController();
  const killIfSilent = async (): Promise<void> => {
    while (silentMs < oldestHeartbeatMs) {
      await sleep(clock, heartbeatMs, over.signal);
      silentMs += heartbeatMs;
    }
    child.signal('SIGKILL');
  };
  killIfSilent().catch(() => {});
  const end = await child.ended.finally(() => over.abort());
  const silence = stalled === '' ? `no sign of life for ${silentMs / 1000} seconds` : stalled;
  return { ...end, problem: silentMs < oldestHeartbeatMs ? undefined : silence };
}

function remedyAfter(end: LifeEnd | { readonly error: unknown }): string {
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
