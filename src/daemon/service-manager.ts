import { type Clock, sleep } from '../model/clock.ts';
import { onOneLine } from '../model/line-text.ts';
import type { Logger } from '../model/telemetry.ts';

/** The way to a service manager such as systemd. */
export interface ServiceManagerChannel {
  /** Sends assignments such as `READY=1` in one message. Rejects if they cannot be sent. */
  tell(assignments: readonly string[]): Promise<void>;
  /** The clock that the service manager compares reloads with. */
  monotonicMicroseconds(): bigint;
  /** It restarts a process that is silent for so long; `undefined` if it never does. */
  readonly watchdogMs: number | undefined;
}

export interface ServiceManagerDependencies {
  /** `undefined` where nobody wants to be told. */
  readonly channel: ServiceManagerChannel | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The state in a sentence, without secrets. */
  readonly sentence: () => string;
  /** Why the process should be restarted; `undefined` while it works. */
  readonly stalled: () => string | undefined;
}

/** Tells the service manager what this process is doing. Does nothing where there is none. */
export interface ServiceManager {
  /** From now on the process serves. */
  ready(): void;
  /** Does the work of a reload that was asked for by a signal. */
  reload(work: () => Promise<void>): Promise<void>;
  stopping(): void;
  /**
   * Sends the state whenever it has changed, and a sign of life as often as it is wanted, until the
   * signal is aborted. A process that is stalled sends none.
   */
  watch(signal: AbortSignal): Promise<void>;
}

const silent: ServiceManager = {
  ready: () => {},
  reload: async (work) => work(),
  stopping: () => {},
  watch: async () => {},
};

export function createServiceManager({
  channel,
  ...others
}: ServiceManagerDependencies): ServiceManager {
  return channel === undefined ? silent : new ToldServiceManager(channel, others);
}

const statusEveryMs = 10_000;
/** The sign of life may come late twice. */
const signsOfLifePerWatchdog = 3;
/** `systemctl status` shows one line. */
const longestStatus = 200;

type Others = Omit<ServiceManagerDependencies, 'channel'>;

interface Message {
  /** A state is only worth sending while it is new; a step is sent until it has arrived. */
  readonly kind: 'step' | 'state';
  readonly assignments: readonly string[];
}

class ToldServiceManager implements ServiceManager {
  readonly #channel: ServiceManagerChannel;
  readonly #others: Others;
  #unsent: readonly Message[] = [];
  /** One message at a time, so that none overtakes another. */
  #isSending = false;
  #isReady = false;
  #reloads = 0;
  #lastStatus = '';
  #hasFailed = false;
  #isStopping = false;

  constructor(channel: ServiceManagerChannel, others: Others) {
    this.#channel = channel;
    this.#others = others;
  }

  ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#say(['READY=1']);
  }

  async reload(work: () => Promise<void>): Promise<void> {
    this.#reloads += 1;
    if (this.#isReady) {
      this.#say(['RELOADING=1', `MONOTONIC_USEC=${this.#channel.monotonicMicroseconds()}`]);
    }
    try {
      await work();
    } finally {
      this.#reloads -= 1;
      if (this.#reloads === 0 && this.#isReady) this.#say(['READY=1']);
    }
  }

  stopping(): void {
    this.#isReady = false;
    this.#isStopping = true;
    this.#unsent = [];
    this.#say(['STOPPING=1', 'STATUS=Stopping.']);
  }

  async watch(signal: AbortSignal): Promise<void> {
    const { clock } = this.#others;
    const { watchdogMs = Number.POSITIVE_INFINITY } = this.#channel;
    const everyMs = Math.min(statusEveryMs, watchdogMs / signsOfLifePerWatchdog);
    while (!signal.aborted) {
      const assignments = this.#state();
      if (assignments.length > 0) this.#unsent = [...this.#unsent, { kind: 'state', assignments }];
      await this.#send();
      await sleep(clock, everyMs, signal).catch(() => {});
    }
  }

  #state(): readonly string[] {
    const { sentence, stalled } = this.#others;
    const problem = stalled();
    const status = onOneLine(
      problem === undefined ? sentence() : `Stalled: ${problem}`,
      longestStatus,
    );
    const isNew = status !== this.#lastStatus;
    this.#lastStatus = status;
    const isAlive = problem === undefined && this.#channel.watchdogMs !== undefined;
    return [...(isNew ? [`STATUS=${status}`] : []), ...(isAlive ? ['WATCHDOG=1'] : [])];
  }

  #say(assignments: readonly string[]): void {
    this.#unsent = [...this.#unsent, { kind: 'step', assignments }];
    void this.#send();
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#unsent.length > 0) {
        if (!(await this.#sendNext())) break;
      }
    } finally {
      this.#isSending = false;
    }
  }

  /** False if it did not arrive. */
  async #sendNext(): Promise<boolean> {
    const [next, ...others] = this.#unsent;
    if (next === undefined) return true;
    this.#unsent = others;
    try {
      await this.#channel.tell(next.assignments);
      this.#hasFailed = false;
      return true;
    } catch (error) {
      this.#warn(error);
      this.#unsent = [next, ...this.#unsent].filter(({ kind }) => kind === 'step');
      this.#lastStatus = '';
      return false;
    }
  }

  #warn(error: unknown): void {
    // At its stop systemd may end everything that the service runs.
    if (this.#hasFailed || this.#isStopping) return;
    this.#hasFailed = true;
    const problem = error instanceof Error ? error.message : String(error);
    const remedy =
      'install systemd-notify, which comes with systemd, and set NotifyAccess=all in the unit; or use Type=exec without WatchdogSec';
    this.#others.logger.warn({ problem, remedy }, 'the service manager cannot be told');
  }
}
