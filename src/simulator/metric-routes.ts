import { type Answer, documentAnswer, errorAnswer } from './answer.ts';
import type { AccountDependencies } from './application-routes.ts';
import { type MetricSubject, metricDataDocument } from './metric-data.ts';
import type { Query } from './request.ts';
import {
  type MetricName,
  metricNames,
  records,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';
import { parseTimeRange } from './time-range.ts';

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

/** Whether the host could have reported anything within the range. */
function overlaps(host: SimulatedHost, fromMs: number, toMs: number): boolean {
  return host.startedMs < toMs && (host.endedMs === undefined || host.endedMs > fromMs);
}

export function createMetricRoute(
  options: MetricOptions,
  dependencies: AccountDependencies,
): MetricRoute {
  const { calls, clock } = dependencies;

  const subjectOf = (
    application: SimulatedApplication,
    host: SimulatedHost | undefined,
  ): MetricSubject => {
    const existed = (fromMs: number, toMs: number): boolean =>
      host === undefined
        ? [...application.hosts.values()].some((entry) => entry.startedMs < toMs)
        : overlaps(host, fromMs, toMs);
    const count = (name: string, fromMs: number, toMs: number): number =>
      isMetricName(name) ? calls.count(application, host, name, fromMs, toMs) : 0;
    return {
      responseTimeMs: application.responseTimeMs,
      count,
      found: (name, fromMs, toMs) =>
        isMetricName(name) &&
        records(application, name) &&
        existed(fromMs, toMs) &&
        (options.idleMetric === 'zero' || count(name, fromMs, toMs) > 0),
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
