import { type Clock, sleep } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';
import { createLogger, type LoggerOptions } from '../telemetry/logger.ts';
import type { ChildEnd, ChildProgram } from './child-program.ts';
import { heartbeatIn, heartbeatMs } from './heartbeat.ts';
import type { ExitCode, Platform } from './platform.ts';
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

/** Resolves when the signal is aborted and the last child has ended. */
export async function keepRunning(
  args: readonly string[],
  dependencies: Pick<Platform, 'clock' | 'onHangup' | 'startChild'> & { readonly logger: Logger },
  stopSignal: AbortSignal,
): Promise<void> {
  const { startChild, clock, logger, onHangup } = dependencies;
  let current: ChildLife | undefined;
  onHangup(() => current?.hangup());
  for (let pauseMs = firstPauseMs; !stopSignal.aborted; ) {
    const startMs = clock.monotonicMs();
    current = new ChildLife(clock);
    const end = await current.run(args, startChild, stopSignal);
    const ranMs = clock.monotonicMs() - startMs;
    if (stopSignal.aborted) return;
    if (ranMs >= longRunMs) pauseMs = firstPauseMs;
    const facts = {
      ...factsOf(end),
      problem: current.killedFor,
      ran_seconds: Math.round(ranMs / 1000),
      again_in_seconds: pauseMs / 1000,
      remedy: remedyFor(end, current.killedFor),
    };
    logger.error(facts, 'the daemon ended, starting it again');
    await sleep(clock, pauseMs, stopSignal).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
  }
}

/** One child from its start to its end. */
class ChildLife {
  readonly #clock: Clock;
  #child: ChildProgram | undefined;
  /** Counted in ticks of this process: time in which both were frozen is not held against the child. */
  #silentMs = 0;
  #stalled: string | null = null;
  #isHangupDue = false;
  #hasSentHeartbeat = false;
  /** Why this process killed it; `undefined` if it ended otherwise. */
  killedFor: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async run(
    args: readonly string[],
    start: Platform['startChild'],
    stopSignal: AbortSignal,
  ): Promise<ChildEnd> {
    const child = await start({ args, onMessage: (message) => this.#onMessage(message) });
    this.#child = child;
    const cancels = new Set<() => void>();
    const after = (delayMs: number, run: () => void): void => {
      const cancel = this.#clock.after(delayMs, () => {
        cancels.delete(cancel);
        run();
      });
      cancels.add(cancel);
    };
    const tick = (): void => {
      this.#tick();
      after(heartbeatMs, tick);
    };
    const stop = (): void => {
      child.signal('SIGTERM');
      after(killAfterMs, () => child.signal('SIGKILL'));
    };
    after(heartbeatMs, tick);
    stopSignal.addEventListener('abort', stop, { once: true });
    if (stopSignal.aborted) stop();
    try {
      return await child.ended;
    } finally {
      this.#child = undefined;
      stopSignal.removeEventListener('abort', stop);
      for (const cancel of cancels) cancel();
    }
  }

  /** Before its first heartbeat a child would die of the signal: then it is sent later. */
  hangup(): void {
    this.#isHangupDue = !this.#hasSentHeartbeat;
    if (this.#hasSentHeartbeat) this.#child?.signal('SIGHUP');
  }

  #onMessage(message: unknown): void {
    const heartbeat = heartbeatIn(message);
    if (heartbeat === undefined) return;
    this.#stalled = heartbeat.stalled;
    if (heartbeat.stalled === null) this.#silentMs = 0;
    this.#hasSentHeartbeat = true;
    if (this.#isHangupDue) this.hangup();
  }

  #tick(): void {
    this.#silentMs += heartbeatMs;
    const timeoutMs = this.#hasSentHeartbeat ? heartbeatTimeoutMs : firstHeartbeatTimeoutMs;
    if (this.#silentMs < timeoutMs) return;
    this.killedFor = this.#stalled ?? `no sign of life for ${this.#silentMs / 1000} seconds`;
    this.#child?.signal('SIGKILL');
  }
}

function factsOf(end: ChildEnd): Readonly<Record<string, unknown>> {
  return end.kind === 'ended' ? { code: end.code, signal: end.signal } : { error: end.error };
}

function remedyFor(end: ChildEnd, killedFor: string | undefined): string {
  if (killedFor !== undefined) return 'report the log lines before this one as a bug';
  if (end.kind === 'not_started') return 'give the container more memory or more processes';
  if (end.code === 2) return 'correct what the lines before this one name';
  if (end.signal === 'SIGABRT')
    return 'most likely its heap was full: give the container more memory';
  if (end.signal === 'SIGKILL')
    return 'somebody killed it; if that was the kernel, give the container more memory';
  return 'see the lines before this one';
}
