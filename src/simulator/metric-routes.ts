import { type Answer, documentAnswer, errorAnswer } from './answer.ts';
import type { AccountDependencies } from './application-routes.ts';
import { metricsOf } from './metric-catalogue.ts';
import { type MetricSubject, metricDataDocument } from './metric-data.ts';
import { needsOnlyCount } from './metric-values.ts';
import type { Query } from './request.ts';
import {
  type MetricName,
  metricNames,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';
import { parseTimeRange, type Slice } from './time-range.ts';
import { emptyTimeslice, hasData } from './timeslice.ts';

export interface MetricOptions {
  /**
   * The answer for a metric that once had calls and has none in the range. The vendor documents both:
   * found with the value 0, and not found.
   */
  readonly idleMetric: 'zero' | 'not_found';
}

/** Answers one request for metric data, of the application or of one of its hosts. */
export type MetricRoute = (
  application: SimulatedApplication,
  host: SimulatedHost | undefined,
  query: Query,
) => Answer;

function isMetricName(name: string): name is MetricName {
  return metricNames.some((known) => known === name);
}

const counted = ['call_count'];

/** Whether the host could have reported anything within the range. */
function overlaps(host: SimulatedHost, fromMs: number, toMs: number): boolean {
  return host.startedMs < toMs && (host.endedMs === undefined || host.endedMs > fromMs);
}

export function createMetricRoute(
  options: MetricOptions,
  dependencies: AccountDependencies,
): MetricRoute {
  const { calls, timeslices, clock } = dependencies;

  const subjectOf = (
    application: SimulatedApplication,
    host: SimulatedHost | undefined,
  ): MetricSubject => {
    const metrics = new Map(metricsOf(application).map((metric) => [metric.name, metric]));
    const existed = ({ fromMs, toMs }: Slice): boolean =>
      host === undefined
        ? [...application.hosts.values()].some((entry) => entry.startedMs < toMs)
        : overlaps(host, fromMs, toMs);
    const timeslice: MetricSubject['timeslice'] = (metric, slice, values) => {
      // Counting an application's calls is much faster than finding all that is known of them.
      if (isMetricName(metric.name) && values.length > 0 && values.every(needsOnlyCount)) {
        const { fromMs, toMs } = slice;
        return {
          ...emptyTimeslice,
          count: calls.count(application, host, metric.name, fromMs, toMs),
        };
      }
      return host === undefined
        ? timeslices.ofApplication(application, metric, slice)
        : timeslices.ofHost(application, host, slice)(metric);
    };
    return {
      timeslice,
      found: (name, range) => {
        const metric = metrics.get(name);
        if (metric === undefined || !existed(range)) return undefined;
        const isIdle =
          options.idleMetric === 'not_found' && !hasData(timeslice(metric, range, counted));
        return isIdle ? undefined : metric;
      },
    };
  };

  return (application, host, query) => {
    const names = query.all('names[]');
    if (names.length === 0) return errorAnswer(422, 'The parameter names[] is required');
    const nowMs = clock.wallMs();
    const range = parseTimeRange(query.last('from'), query.last('to'), nowMs);
    if (range === undefined) {
      return errorAnswer(422, 'The time range must be at least 60 seconds, in ISO 8601');
    }
    const request = {
      range,
      nowMs,
      names,
      values: query.all('values[]'),
      summarize: query.flag('summarize'),
      raw: query.flag('raw'),
    };
    return documentAnswer(metricDataDocument(request, subjectOf(application, host)));
  };
}
