import type { FailureReason } from '../model/api-error.ts';
import type { Clock } from '../model/clock.ts';
import type { Logger } from '../model/telemetry.ts';

export interface ReminderDependencies {
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Says once an hour what still fails in an account, in one line however much it is: whoever reads only
 * the last hours of a log would not see a failure that began before.
 */
export interface Reminder {
  /** @param name the application as people know it */
  failed(id: string, name: string, reason: FailureReason | undefined): void;
  works(id: string): void;
  /** @param error why the discovery failed; `undefined` if it did not */
  discovered(error: Error | undefined): void;
  /** Forgets the applications that are no longer there. */
  keepOnly(known: { has(id: string): boolean }): void;
  /** Leaves no timer. */
  stop(): void;
}

interface Failing {
  readonly name: string;
  readonly sinceMs: number;
  reason: FailureReason | undefined;
}

const hourMs = 3_600_000;
const mostExamples = 5;

export function createReminder(account: string, dependencies: ReminderDependencies): Reminder {
  return new HourlyReminder(account, dependencies);
}

class HourlyReminder implements Reminder {
  readonly #account: string;
  readonly #dependencies: ReminderDependencies;
  /** By id. The one that has failed for longest comes first: maps keep the order of insertion. */
  readonly #applications = new Map<string, Failing>();
  #discovery: { readonly error: Error; readonly sinceMs: number } | undefined;
  #remindedMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  constructor(account: string, dependencies: ReminderDependencies) {
    this.#account = account;
    this.#dependencies = dependencies;
  }

  failed(id: string, name: string, reason: FailureReason | undefined): void {
    const known = this.#applications.get(id);
    const sinceMs = this.#dependencies.clock.monotonicMs();
    if (known === undefined) this.#applications.set(id, { name, sinceMs, reason });
    else known.reason = reason;
    this.#followTimer();
  }

  works(id: string): void {
    if (this.#applications.delete(id)) this.#followTimer();
  }

  discovered(error: Error | undefined): void {
    const sinceMs = this.#discovery?.sinceMs ?? this.#dependencies.clock.monotonicMs();
    this.#discovery = error === undefined ? undefined : { error, sinceMs };
    this.#followTimer();
  }

  keepOnly(known: { has(id: string): boolean }): void {
    for (const id of this.#applications.keys()) if (!known.has(id)) this.works(id);
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #oldest(): Failing | undefined {
    return this.#applications.values().next().value;
  }

  /** Infinite if nothing fails. */
  #sinceMs(): number {
    return Math.min(this.#oldest()?.sinceMs ?? Infinity, this.#discovery?.sinceMs ?? Infinity);
  }

  /** There is a timer exactly while something fails. */
  #followTimer(): void {
    const { clock } = this.#dependencies;
    const sinceMs = this.#sinceMs();
    if (sinceMs === Infinity) {
      this.stop();
      return;
    }
    const dueInMs = Math.max(sinceMs, this.#remindedMs) + hourMs - clock.monotonicMs();
    // Whole milliseconds, so that rounding errors cannot make the timer fire too early for ever.
    this.#cancelTimer ??= clock.after(Math.max(1, Math.ceil(dueInMs)), () => {
      this.#cancelTimer = undefined;
      this.#remind();
      this.#followTimer();
    });
  }

  #remind(): void {
    const { clock, logger } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    // What the timer was set for may work again, and something else fail since then.
    if (nowMs - Math.max(this.#sinceMs(), this.#remindedMs) < hourMs) return;
    this.#remindedMs = nowMs;
    const fields = { ...this.#applicationFields(), ...this.#discoveryFields() };
    logger.warn({ account: this.#account, ...fields }, 'still failing');
  }

  #applicationFields(): Readonly<Record<string, unknown>> {
    const oldest = this.#oldest();
    if (oldest === undefined) return {};
    const examples = [...this.#applications.values()].slice(0, mostExamples);
    return {
      applications: this.#applications.size,
      since: this.#timeOf(oldest.sinceMs),
      reason: oldest.reason,
      examples: examples.map(({ name }) => name),
    };
  }

  #discoveryFields(): Readonly<Record<string, unknown>> {
    if (this.#discovery === undefined) return {};
    const { error, sinceMs } = this.#discovery;
    return { discovery_since: this.#timeOf(sinceMs), error };
  }

  #timeOf(monotonicMs: number): string {
    const { clock } = this.#dependencies;
    return new Date(clock.wallMs() - clock.monotonicMs() + monotonicMs).toISOString();
  }
}
