import type { Clock } from '../model/clock.ts';
import type { CallCounter, CallCounterOptions } from './call-counter.ts';
import { HostMinutes } from './host-minutes.ts';
import type { CallShare, SampledLevel, SimulatedMetric } from './metric-catalogue.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';
import { emptyTimeslice, merged, type Timeslice } from './timeslice.ts';

export interface MetricWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** Calls at their mean rate, not minute by minute: for ranges that would take seconds to add up. */
  readonly coarse?: boolean | undefined;
}

/** The data of all metrics: of one host, or of an application as the sum of its hosts. */
export interface Timeslices {
  /** The returned function finds the data of one metric of the host. */
  ofHost(
    application: SimulatedApplication,
    host: SimulatedHost,
    window: MetricWindow,
  ): (metric: SimulatedMetric) => Timeslice;
  ofApplication(
    application: SimulatedApplication,
    metric: SimulatedMetric,
    window: MetricWindow,
  ): Timeslice;
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

/** A timeslice that is being added up. */
type Sums = { -readonly [Key in keyof Timeslice]: Timeslice[Key] };

function addCalls(sums: Sums, count: number, seconds: number): void {
  if (count === 0) return;
  const total = count * seconds;
  sums.count += count;
  sums.total += total;
  sums.totalExclusive += total * exclusiveShare;
  sums.min = Math.min(sums.min, seconds * leastTime);
  sums.max = Math.max(sums.max, seconds * mostTime);
  sums.sumOfSquares += total * seconds * (1 + deviation ** 2);
}

function addSamples(sums: Sums, count: number, value: number): void {
  if (count === 0) return;
  sums.count += count;
  sums.total += count * value;
  sums.totalExclusive += count * value;
  sums.min = Math.min(sums.min, value);
  sums.max = Math.max(sums.max, value);
  sums.sumOfSquares += count * value ** 2;
}

function callsOf(share: CallShare, minutes: HostMinutes): Timeslice {
  const sums: Sums = { ...emptyTimeslice };
  const seconds = (minutes.application.responseTimeMs / 1000) * share.timeShare;
  minutes.eachWithCalls(share, (minute, count) => {
    addCalls(sums, count, seconds * minutes.swing(share.salt, minute, timeSwing));
  });
  return sums;
}

function levelsOf({ from, to, salt }: SampledLevel, minutes: HostMinutes): Timeslice {
  const sums: Sums = { ...emptyTimeslice };
  const level = from + (to - from) * minutes.position(salt);
  minutes.eachComplete((minute, count) => {
    addSamples(sums, count, from === to ? level : level * minutes.swing(salt, minute, levelSwing));
  });
  return sums;
}

function apdexOf(
  { tolerating, frustrated }: Extract<SimulatedMetric, { kind: 'apdex' }>,
  minutes: HostMinutes,
): Timeslice {
  const sums: Sums = { ...emptyTimeslice };
  const web = { source: 'HttpDispatcher', perCall: 1, timeShare: 1, salt: 1 } as const;
  minutes.eachWithCalls(web, (minute, count) => {
    if (count === 0) return;
    const f = minutes.part(count * frustrated, frustratedSalt, minute);
    const t = Math.min(count - f, minutes.part(count * tolerating, toleratingSalt, minute));
    sums.count += count - f - t;
    sums.total += t;
    sums.totalExclusive += f;
    sums.min = apdexThresholdSeconds;
    sums.max = apdexThresholdSeconds;
  });
  return sums;
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

export function createTimeslices(
  options: CallCounterOptions,
  dependencies: { readonly calls: CallCounter; readonly clock: Clock },
): Timeslices {
  const { calls, clock } = dependencies;

  const ofHost: Timeslices['ofHost'] = (application, host, { fromMs, toMs, coarse = false }) => {
    const window = { application, host, fromMs, toMs, nowMs: clock.wallMs(), coarse };
    const minutes = new HostMinutes(options, window, calls);
    return (metric) => timesliceOf(metric, minutes);
  };

  return {
    ofHost,
    ofApplication: (application, metric, window) =>
      [...application.hosts.values()]
        .map((host) => ofHost(application, host, window)(metric))
        .reduce(merged, emptyTimeslice),
  };
}
