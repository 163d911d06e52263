import type { Clock } from '../model/clock.ts';
import { minuteMs } from '../model/time.ts';
import { noiseAt } from './random.ts';
import type { MetricName, SimulatedApplication, SimulatedHost } from './simulated-application.ts';

export interface CallCounterOptions {
  readonly seed: number;
  /** `daily` is a sine over the day with noise; `flat` is the same rate every minute. */
  readonly traffic: 'daily' | 'flat';
  /** How long after its end a minute is complete. Until then only a part of it is counted. */
  readonly ingestDelayMs: number;
}

const minutesPerDay = 1440;
const dailySwing = 0.4;
const noiseSwing = 0.1;
/** The summaries in lists are means over the newest complete minutes. */
const summaryMinutes = 4;
const summaryDelayMs = 3 * minuteMs;

/** Counts calls: of one host, or of an application as the sum of its hosts. */
export class CallCounter {
  readonly options: CallCounterOptions;
  readonly #clock: Pick<Clock, 'wallMs'>;

  constructor(options: CallCounterOptions, clock: Pick<Clock, 'wallMs'>) {
    this.options = options;
    this.#clock = clock;
  }

  /** All calls of a host in the minute of this number since the epoch, arrived or not. */
  ofMinute(
    application: SimulatedApplication,
    host: SimulatedHost,
    metric: MetricName,
    minute: number,
  ): number {
    const { seed, traffic } = this.options;
    const rate = (application.ratesPerMinute[metric] * host.weight) / application.totalWeight;
    if (rate <= 0 || runningMinutes(application, host, minute, minute + 1) === 0) return 0;
    // Whole calls; their long-term mean is the exact rate, however small.
    if (traffic === 'flat') return Math.floor(rate * (minute + 1)) - Math.floor(rate * minute);
    const phase = noiseAt(seed, application.id, 0);
    const daily = 1 + dailySwing * Math.sin(2 * Math.PI * (minute / minutesPerDay + phase));
    const noise = 1 + noiseSwing * (noiseAt(seed, host.id, minute) - 0.5);
    return Math.floor(rate * daily * noise + noiseAt(~seed, host.id, minute));
  }

  /** The vendor's time. */
  nowMs(): number {
    return this.#clock.wallMs();
  }

  /** The part of a minute that has arrived by now; at most 1. */
  arrived(minute: number): number {
    const ageMs = this.nowMs() - minute * minuteMs;
    return Math.min(1, ageMs / (minuteMs + this.options.ingestDelayMs));
  }

  /** The calls in the minutes that begin in [fromMs, toMs), as far as they have arrived by now. */
  count(
    application: SimulatedApplication,
    host: SimulatedHost | undefined,
    metric: MetricName,
    fromMs: number,
    toMs: number,
  ): number {
    const hosts = host === undefined ? [...application.hosts.values()] : [host];
    const startedMs = hosts.reduce(
      (earliestMs, one) => Math.min(earliestMs, one.startedMs),
      Number.POSITIVE_INFINITY,
    );
    const first = Math.ceil(Math.max(fromMs, startedMs) / minuteMs);
    const end = Math.ceil(Math.min(toMs, this.nowMs()) / minuteMs);
    let total = 0;
    for (let minute = first; minute < end; minute += 1) {
      const arrived = this.arrived(minute);
      // Host by host, so that the application is the sum of its hosts in new minutes, too.
      for (const one of hosts) {
        total += Math.floor(this.ofMinute(application, one, metric, minute) * arrived);
      }
    }
    return total;
  }

  /** The calls per minute that the summary in a list states. */
  recentRate(
    application: SimulatedApplication,
    host: SimulatedHost | undefined,
    metric: MetricName,
  ): number {
    const toMs = Math.floor((this.nowMs() - summaryDelayMs) / minuteMs) * minuteMs;
    const fromMs = toMs - summaryMinutes * minuteMs;
    return this.count(application, host, metric, fromMs, toMs) / summaryMinutes;
  }

  /**
   * The minutes that begin in [fromMs, toMs) in which the host ran and its application reported, as far
   * as they are complete by now.
   */
  liveMinutes(
    application: SimulatedApplication,
    host: SimulatedHost,
    fromMs: number,
    toMs: number,
  ): number {
    const completeMs = this.nowMs() - this.options.ingestDelayMs - minuteMs;
    const endMs = Math.min(toMs, completeMs + 1);
    return runningMinutes(application, host, fromMs / minuteMs, endMs / minuteMs);
  }
}

/** The minutes with a number in [from, to) that begin while the host runs and its application reports. */
function runningMinutes(
  { silentSinceMs = Number.POSITIVE_INFINITY }: SimulatedApplication,
  { startedMs, endedMs = Number.POSITIVE_INFINITY }: SimulatedHost,
  from: number,
  to: number,
): number {
  const first = Math.ceil(Math.max(from, startedMs / minuteMs));
  return Math.max(0, Math.ceil(Math.min(to, endedMs / minuteMs, silentSinceMs / minuteMs)) - first);
}
