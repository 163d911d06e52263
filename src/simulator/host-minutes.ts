import { minuteMs } from '../model/time.ts';
import type { CallCounter, CallCounterOptions } from './call-counter.ts';
import type { CallShare } from './metric-catalogue.ts';
import { noiseAt } from './random.ts';
import type { MetricName, SimulatedApplication, SimulatedHost } from './simulated-application.ts';

/** A window of one host. */
export interface HostWindow {
  readonly application: SimulatedApplication;
  readonly host: SimulatedHost;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Calls at their mean rate, and levels at their mean, in one step for all minutes. */
  readonly coarse: boolean;
}

/** The minutes of a window in which a host ran, and what happened in them: all its metrics agree. */
export class HostMinutes {
  readonly application: SimulatedApplication;
  readonly #options: CallCounterOptions;
  readonly #calls: CallCounter;
  readonly #window: HostWindow;
  readonly #first: number;
  readonly #end: number;
  readonly #complete: number;
  readonly #transactions = new Map<MetricName, readonly number[]>();

  constructor(options: CallCounterOptions, window: HostWindow, calls: CallCounter) {
    const { application, host, fromMs, toMs, nowMs } = window;
    this.application = application;
    this.#options = options;
    this.#calls = calls;
    this.#window = window;
    this.#first = Math.ceil(Math.max(fromMs, host.startedMs) / minuteMs);
    this.#end = Math.ceil(
      Math.min(toMs, nowMs, host.endedMs ?? toMs, application.silentSinceMs ?? toMs) / minuteMs,
    );
    this.#complete = calls.liveMinutes(application, host, fromMs, toMs);
  }

  /** Visits the minutes with the calls that have arrived by now, perhaps none. */
  eachWithCalls(share: CallShare, visit: (minute: number, count: number) => void): void {
    if (this.#window.coarse) {
      visit(this.#first, Math.floor(this.#rate(share) * this.#complete));
      return;
    }
    const { nowMs } = this.#window;
    const arrivalMs = minuteMs + this.#options.ingestDelayMs;
    const transactions = this.#transactionsOf(share.source);
    for (const [index, calls] of transactions.entries()) {
      const minute = this.#first + index;
      const all = share.perCall === 1 ? calls : this.#derived(share, minute, calls);
      const arrived = (nowMs - minute * minuteMs) / arrivalMs;
      visit(minute, arrived >= 1 ? all : Math.floor(all * arrived));
    }
  }

  /** Visits the minutes of which everything has arrived; `count` says how many it stands for. */
  eachComplete(visit: (minute: number, count: number) => void): void {
    if (this.#window.coarse) {
      visit(this.#first, this.#complete);
      return;
    }
    for (let index = 0; index < this.#complete; index += 1) visit(this.#first + index, 1);
  }

  /** A factor of each minute with the mean 1; always 1 if all minutes are alike. */
  swing(salt: number, minute: number, size: number): number {
    if (this.#options.traffic === 'flat' || this.#window.coarse) return 1;
    return 1 + size * (this.#noise(salt, minute) - 0.5);
  }

  /** Where the host is in a range, from 0 to 1; in the middle if all hosts are alike. */
  position(salt: number): number {
    return this.#options.traffic === 'flat' ? 0.5 : this.#noise(salt, 0);
  }

  /** A whole number of calls that is the amount on average. */
  part(amount: number, salt: number, minute: number): number {
    const rounding = this.#options.traffic === 'flat' ? 0.5 : this.#noise(salt, minute);
    return Math.floor(amount + rounding);
  }

  #noise(salt: number, minute: number): number {
    return noiseAt(this.#options.seed + salt * 7919, this.#window.host.id, minute);
  }

  #rate({ source, perCall }: CallShare): number {
    const { host } = this.#window;
    const { ratesPerMinute, totalWeight } = this.application;
    return ((ratesPerMinute[source] * host.weight) / totalWeight) * perCall;
  }

  #derived(share: CallShare, minute: number, calls: number): number {
    if (this.#options.traffic !== 'flat') {
      return this.part(calls * share.perCall, share.salt, minute);
    }
    const rate = this.#rate(share);
    return Math.floor(rate * (minute + 1)) - Math.floor(rate * minute);
  }

  #transactionsOf(source: MetricName): readonly number[] {
    const known = this.#transactions.get(source);
    if (known !== undefined) return known;
    const length = Math.max(0, this.#end - this.#first);
    const counts = Array.from({ length }, (_, index) =>
      this.#calls.ofMinute(this.application, this.#window.host, source, this.#first + index),
    );
    this.#transactions.set(source, counts);
    return counts;
  }
}
