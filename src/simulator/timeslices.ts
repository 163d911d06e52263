import { minuteMs } from '../model/time.ts';
import type { CallCounter } from './call-counter.ts';
import type { CallShare, SampledLevel, SimulatedMetric } from './metric-catalogue.ts';
import { noiseAt } from './random.ts';
import type { MetricName, SimulatedApplication, SimulatedHost } from './simulated-application.ts';
import { emptyTimeslice, evenTimeslice, merged, type Timeslice } from './timeslice.ts';

/** Wall times. */
export interface MetricWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The minutes of a window in which a host ran, and what happened in them: all its metrics agree. */
class HostMinutes {
  readonly application: SimulatedApplication;
  readonly #calls: CallCounter;
  readonly #host: SimulatedHost;
  readonly #first: number;
  readonly #end: number;
  readonly #complete: number;
  readonly #transactions = new Map<MetricName, readonly number[]>();

  constructor(
    calls: CallCounter,
    application: SimulatedApplication,
    host: SimulatedHost,
    { fromMs, toMs }: MetricWindow,
  ) {
    this.application = application;
    this.#calls = calls;
    this.#host = host;
    this.#first = Math.ceil(Math.max(fromMs, host.startedMs) / minuteMs);
    const endMs = Math.min(toMs, calls.nowMs());
    this.#end = Math.ceil(
      Math.min(endMs, host.endedMs ?? endMs, application.silentSinceMs ?? endMs) / minuteMs,
    );
    this.#complete = calls.liveMinutes(application, host, fromMs, toMs);
  }

  /** Visits the minutes with the calls that have arrived by now, perhaps none. */
  eachWithCalls(share: CallShare, visit: (minute: number, count: number) => void): void {
    const transactions = this.#transactionsOf(share.source);
    for (const [index, calls] of transactions.entries()) {
      const minute = this.#first + index;
      const all = share.perCall === 1 ? calls : this.#derived(share, minute, calls);
      visit(minute, Math.floor(all * this.#calls.arrived(minute)));
    }
  }

  /** Visits the minutes of which everything has arrived. */
  eachComplete(visit: (minute: number) => void): void {
    for (let index = 0; index < this.#complete; index += 1) visit(this.#first + index);
  }

  /** A factor of each minute with the mean 1; always 1 if all minutes are alike. */
  swing(salt: number, minute: number, size: number): number {
    if (this.#calls.options.traffic === 'flat') return 1;
    return 1 + size * (this.#noise(salt, minute) - 0.5);
  }

  /** Where the host is in a range, from 0 to 1; in the middle if all hosts are alike. */
  position(salt: number): number {
    return this.#calls.options.traffic === 'flat' ? 0.5 : this.#noise(salt, 0);
  }

  /** A whole number of calls that is the amount on average. */
  part(amount: number, salt: number, minute: number): number {
    const rounding = this.#calls.options.traffic === 'flat' ? 0.5 : this.#noise(salt, minute);
    return Math.floor(amount + rounding);
  }

  #noise(salt: number, minute: number): number {
    return noiseAt(this.#calls.options.seed + salt * 7919, this.#host.id, minute);
  }

  #rate({ source, perCall }: CallShare): number {
    const { ratesPerMinute, totalWeight } = this.application;
    return ((ratesPerMinute[source] * this.#host.weight) / totalWeight) * perCall;
  }

  #derived(share: CallShare, minute: number, calls: number): number {
    if (this.#calls.options.traffic !== 'flat') {
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
      this.#calls.ofMinute(this.application, this.#host, source, this.#first + index),
    );
    this.#transactions.set(source, counts);
    return counts;
  }
}

/** Of the times of single calls, relative to their mean in a minute. */
const leastTime = 1 / 97;
const mostTime = 23.7;
const deviation = 1.9;
/** Of a call's time, what it does not spend in others. */
const exclusiveShare = 0.35;
/** How much the mean time of a minute, and a level, differ from those of all minutes. */
const timeSwing = 0.4;
const levelSwing = 0.1;
const apdexThresholdSeconds = 0.5;
const toleratingSalt = 18;
const frustratedSalt = 19;

/** So many calls with this mean. */
function callsLasting(count: number, seconds: number): Timeslice {
  const slice = evenTimeslice(count, seconds);
  return {
    ...slice,
    totalExclusive: slice.total * exclusiveShare,
    min: slice.min * leastTime,
    max: slice.max * mostTime,
    sumOfSquares: slice.sumOfSquares * (1 + deviation ** 2),
  };
}

function callsOf(share: CallShare, minutes: HostMinutes): Timeslice {
  const seconds = (minutes.application.responseTimeMs / 1000) * share.timeShare;
  let sum = emptyTimeslice;
  minutes.eachWithCalls(share, (minute, count) => {
    sum = merged(sum, callsLasting(count, seconds * minutes.swing(share.salt, minute, timeSwing)));
  });
  return sum;
}

function levelsOf({ from, to, salt }: SampledLevel, minutes: HostMinutes): Timeslice {
  const level = from + (to - from) * minutes.position(salt);
  let sum = emptyTimeslice;
  minutes.eachComplete((minute) => {
    const value = from === to ? level : level * minutes.swing(salt, minute, levelSwing);
    sum = merged(sum, evenTimeslice(1, value));
  });
  return sum;
}

/** The timeslices of Apdex have other members: see `Timeslice`. */
function apdexOf(
  { tolerating, frustrated }: Extract<SimulatedMetric, { kind: 'apdex' }>,
  minutes: HostMinutes,
): Timeslice {
  const web = { source: 'HttpDispatcher', perCall: 1, timeShare: 1, salt: 1 } as const;
  let [satisfied, t, f] = [0, 0, 0];
  minutes.eachWithCalls(web, (minute, count) => {
    const bad = minutes.part(count * frustrated, frustratedSalt, minute);
    const fair = Math.min(count - bad, minutes.part(count * tolerating, toleratingSalt, minute));
    satisfied += count - bad - fair;
    t += fair;
    f += bad;
  });
  if (satisfied + t + f === 0) return emptyTimeslice;
  const threshold = { min: apdexThresholdSeconds, max: apdexThresholdSeconds };
  return { ...emptyTimeslice, ...threshold, count: satisfied, total: t, totalExclusive: f };
}

function timesliceOf(metric: SimulatedMetric, minutes: HostMinutes): Timeslice {
  switch (metric.kind) {
    case 'calls':
    case 'errors':
      return metric.shares.map((share) => callsOf(share, minutes)).reduce(merged, emptyTimeslice);
    case 'apdex':
      return apdexOf(metric, minutes);
    case 'memory':
    case 'cpu_time':
    case 'utilization':
    case 'recorded':
      return levelsOf(metric.level, minutes);
  }
}

/** The returned function finds the data of one metric of the host. */
export function hostTimeslices(
  calls: CallCounter,
  application: SimulatedApplication,
  host: SimulatedHost,
  window: MetricWindow,
): (metric: SimulatedMetric) => Timeslice {
  const minutes = new HostMinutes(calls, application, host, window);
  return (metric) => timesliceOf(metric, minutes);
}

/** The data of an application: the sum of its hosts. */
export function applicationTimeslice(
  calls: CallCounter,
  application: SimulatedApplication,
  metric: SimulatedMetric,
  window: MetricWindow,
): Timeslice {
  return [...application.hosts.values()]
    .map((host) => hostTimeslices(calls, application, host, window)(metric))
    .reduce(merged, emptyTimeslice);
}
