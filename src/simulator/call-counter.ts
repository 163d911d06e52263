import type { Clock } from '../model/clock.ts';
import { minuteMs } from '../model/time.ts';
import { noiseAt } from './random.ts';
import type { MetricName, SimulatedApplication, SimulatedHost } from './simulated-application.ts';

/** `daily` is a sine over the day with noise; `flat` is the same rate every minute. */
export type TrafficShape = 'daily' | 'flat';

export interface CallCounterOptions {
  readonly seed: number;
  readonly traffic: TrafficShape;
  /** How long after its end a minute is complete. Until then only a part of it is counted. */
  readonly ingestDelayMs: number;
}

/** Counts calls: of one host, or of an application as the sum of its hosts. */
export interface CallCounter {
  /** The calls in the minutes that begin in [fromMs, toMs), as far as they have arrived by now. */
  count(
    application: SimulatedApplication,
    host: SimulatedHost | undefined,
    metric: MetricName,
    fromMs: number,
    toMs: number,
  ): number;
  /** All calls of a host in the minute of this number since the epoch, arrived or not. */
  ofMinute(
    application: SimulatedApplication,
    host: SimulatedHost,
    metric: MetricName,
    minute: number,
  ): number;
  /**
   * The minutes that begin in [fromMs, toMs) in which the host ran and its application reported, as far
   * as they are complete by now.
   */
  liveMinutes(
    application: SimulatedApplication,
    host: SimulatedHost,
    fromMs: number,
    toMs: number,
  ): number;
}

const minutesPerDay = 1440;
const dailySwing = 0.4;
const noiseSwing = 0.1;
/** More than a day has. The bound keeps the memory of a long run small. */
const cachedMinutes = 2000;

function isAlive(application: SimulatedApplication, host: SimulatedHost, minute: number): boolean {
  const startMs = minute * minuteMs;
  if (startMs < host.startedMs) return false;
  if (host.endedMs !== undefined && startMs >= host.endedMs) return false;
  return application.silentSinceMs === undefined || startMs < application.silentSinceMs;
}

/** All calls of one host in one minute, arrived or not. */
function callsOfHost(
  { seed, traffic }: CallCounterOptions,
  application: SimulatedApplication,
  host: SimulatedHost,
  metric: MetricName,
  minute: number,
): number {
  const rate = (application.ratesPerMinute[metric] * host.weight) / application.totalWeight;
  if (rate <= 0 || !isAlive(application, host, minute)) return 0;
  // Whole calls; their long-term mean is the exact rate, however small.
  if (traffic === 'flat') return Math.floor(rate * (minute + 1)) - Math.floor(rate * minute);
  const phase = noiseAt(seed, application.id, 0);
  const daily = 1 + dailySwing * Math.sin(2 * Math.PI * (minute / minutesPerDay + phase));
  const noise = 1 + noiseSwing * (noiseAt(seed, host.id, minute) - 0.5);
  return Math.floor(rate * daily * noise + noiseAt(~seed, host.id, minute));
}

export function createCallCounter(
  options: CallCounterOptions,
  dependencies: { readonly clock: Clock },
): CallCounter {
  // Records are replaced when they change, so a cache keyed by record is never stale.
  const sums = new WeakMap<SimulatedApplication, Map<string, number>>();

  /** The hosts one by one, so that the application is their sum in new minutes, too. */
  const arrivedOfApplication = (
    application: SimulatedApplication,
    metric: MetricName,
    minute: number,
    arrived: number,
  ): number => {
    let sum = 0;
    for (const host of application.hosts.values()) {
      sum += Math.floor(callsOfHost(options, application, host, metric, minute) * arrived);
    }
    return sum;
  };

  const ofApplication = (
    application: SimulatedApplication,
    metric: MetricName,
    minute: number,
  ): number => {
    const cache = sums.get(application) ?? new Map<string, number>();
    sums.set(application, cache);
    const key = `${metric} ${minute}`;
    const known = cache.get(key);
    if (known !== undefined) return known;
    const sum = arrivedOfApplication(application, metric, minute, 1);
    if (cache.size >= cachedMinutes) cache.clear();
    cache.set(key, sum);
    return sum;
  };

  return {
    ofMinute: (application, host, metric, minute) =>
      callsOfHost(options, application, host, metric, minute),
    count: (application, host, metric, fromMs, toMs) => {
      const nowMs = dependencies.clock.wallMs();
      let total = 0;
      const startedMs = host?.startedMs ?? earliestStartMs(application);
      const first = Math.ceil(Math.max(fromMs, startedMs) / minuteMs);
      const end = Math.ceil(Math.min(toMs, nowMs) / minuteMs);
      for (let minute = first; minute < end; minute += 1) {
        const age = (nowMs - minute * minuteMs) / (minuteMs + options.ingestDelayMs);
        const arrived = Math.min(1, age);
        if (host !== undefined) {
          total += Math.floor(callsOfHost(options, application, host, metric, minute) * arrived);
        } else if (arrived < 1) {
          total += arrivedOfApplication(application, metric, minute, arrived);
        } else total += ofApplication(application, metric, minute);
      }
      return total;
    },
    liveMinutes: (application, host, fromMs, toMs) => {
      const completeMs = dependencies.clock.wallMs() - options.ingestDelayMs - minuteMs;
      return liveMinutes(application, host, fromMs, Math.min(toMs, completeMs + 1));
    },
  };
}

/** The minutes that begin while the host runs, as `isAlive` says of a single one. */
function liveMinutes(
  application: SimulatedApplication,
  host: SimulatedHost,
  fromMs: number,
  toMs: number,
): number {
  const { silentSinceMs = Number.POSITIVE_INFINITY } = application;
  const { startedMs, endedMs = Number.POSITIVE_INFINITY } = host;
  const first = Math.ceil(Math.max(fromMs, startedMs) / minuteMs);
  const end = Math.ceil(Math.min(toMs, endedMs, silentSinceMs) / minuteMs);
  return Math.max(0, end - first);
}

function earliestStartMs(application: SimulatedApplication): number {
  let earliestMs = Number.POSITIVE_INFINITY;
  for (const host of application.hosts.values()) {
    earliestMs = Math.min(earliestMs, host.startedMs);
  }
  return earliestMs;
}
