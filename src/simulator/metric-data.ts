import { minuteMs } from '../model/time.ts';
import { type Answer, documentAnswer, errorAnswer } from './answer.ts';
import { formatTimestamp, rounded } from './documents.ts';
import type { SimulatedAccount } from './fleet.ts';
import { metricsOf, type SimulatedMetric } from './metric-catalogue.ts';
import { isCount, needsOnlyCount, valuesOfMetric } from './metric-values.ts';
import { lastOf } from './request.ts';
import {
  type MetricName,
  metricNames,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';
import type { SimulatorOptions } from './simulator-options.ts';
import { emptyTimeslice, hasData, type Timeslice } from './timeslice.ts';
import { applicationTimeslice, hostTimeslices, type MetricWindow } from './timeslices.ts';

/** The answer of both endpoints for metric data. */
export interface MetricDataDocument {
  readonly metric_data: {
    readonly from: string;
    readonly to: string;
    readonly metrics_not_found: readonly string[];
    readonly metrics_found: readonly string[];
    readonly metrics: readonly {
      readonly name: string;
      readonly timeslices: readonly {
        readonly from: string;
        readonly to: string;
        /** By the vendor's names. */
        readonly values: Readonly<Record<string, number>>;
      }[];
    }[];
  };
}

/** A request for metric data, of the application or of one of its hosts. */
export interface MetricDataRequest {
  readonly application: SimulatedApplication;
  readonly host: SimulatedHost | undefined;
  readonly query: URLSearchParams;
}

const isoTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;

/** What the data covers, and what the answer says of it. */
interface StatedRange {
  readonly window: MetricWindow;
  readonly from: string;
  readonly to: string;
  /** The end of the summary. */
  readonly end: string;
}

/** How much earlier the data of the vendor's own last half hour starts. Observed: 1.5 to 4 minutes. */
const ownShiftMs = 3 * minuteMs;
const halfHourMs = 30 * minuteMs;

/** The vendor's own range has data from some minutes earlier, and a summary that ends a second early. */
function ownRange(nowMs: number): StatedRange {
  const fromMs = Math.floor((nowMs - halfHourMs - ownShiftMs) / minuteMs) * minuteMs;
  const toMs = fromMs + halfHourMs;
  return {
    window: { fromMs, toMs },
    from: formatTimestamp(nowMs - halfHourMs),
    to: formatTimestamp(nowMs),
    end: formatTimestamp(toMs - 1000),
  };
}

/** The range of a request, by default the vendor's own; `undefined` for one that the vendor rejects. */
function rangeOf(query: URLSearchParams, nowMs: number): StatedRange | undefined {
  const texts = ['from', 'to'].map((name) => lastOf(query, name));
  if (texts.every((text) => text === undefined)) return ownRange(nowMs);
  const [fromMs, toMs] = texts.map((text = '') =>
    isoTimestamp.test(text) ? Date.parse(text) : Number.NaN,
  );
  if (fromMs === undefined || toMs === undefined || !(toMs - fromMs >= minuteMs)) return undefined;
  const to = formatTimestamp(toMs);
  return { window: { fromMs, toMs }, from: formatTimestamp(fromMs), to, end: to };
}

function isMetricName(name: string): name is MetricName {
  return metricNames.some((known) => known === name);
}

function timesliceOf(
  { application, host }: MetricDataRequest,
  metric: SimulatedMetric,
  range: MetricWindow,
  values: readonly string[],
  { calls }: SimulatedAccount,
): Timeslice {
  // Counting an application's calls is much faster than finding all that is known of them.
  if (isMetricName(metric.name) && values.length > 0 && values.every(needsOnlyCount)) {
    const count = calls.count(application, host, metric.name, range.fromMs, range.toMs);
    return { ...emptyTimeslice, count };
  }
  return host === undefined
    ? applicationTimeslice(calls, application, metric, range)
    : hostTimeslices(calls, application, host, range)(metric);
}

/** Whether the application or the host could have reported anything within the range. */
function existed(
  { application, host }: MetricDataRequest,
  { fromMs, toMs }: MetricWindow,
): boolean {
  if (host === undefined) {
    return [...application.hosts.values()].some(({ startedMs }) => startedMs < toMs);
  }
  return host.startedMs < toMs && (host.endedMs === undefined || host.endedMs > fromMs);
}

/**
 * Answers with a summary of the range: the vendor has a series of shorter slices for who does not ask for one.
 * Of `idleMetric` it documents both.
 */
export function metricDataAnswer(
  request: MetricDataRequest,
  { idleMetric }: SimulatorOptions,
  account: SimulatedAccount,
): Answer {
  const { application, query } = request;
  const names = [...new Set(query.getAll('names[]'))];
  if (names.length === 0) return errorAnswer(422, 'The parameter names[] is required');
  const stated = rangeOf(query, account.clock.wallMs());
  if (stated === undefined) {
    return errorAnswer(422, 'The time range must be at least 60 seconds, in ISO 8601');
  }
  if (lastOf(query, 'summarize') !== 'true') {
    return errorAnswer(422, 'The simulator has summaries only: summarize=true');
  }
  const { window: range, from, to, end } = stated;
  const known = new Map(metricsOf(application).map((metric) => [metric.name, metric]));
  const isFound = (metric: SimulatedMetric): boolean =>
    existed(request, range) &&
    (idleMetric !== 'not_found' ||
      hasData(timesliceOf(request, metric, range, ['call_count'], account)));
  const metrics = names.flatMap((name) => known.get(name) ?? []).filter(isFound);
  const found = metrics.map(({ name }) => name);
  const wanted = query.getAll('values[]');
  const isRaw = lastOf(query, 'raw') === 'true';
  const valuesOf = (metric: SimulatedMetric): Readonly<Record<string, number>> => {
    const slice = timesliceOf(request, metric, range, wanted, account);
    const values = valuesOfMetric(metric.kind, slice, (range.toMs - range.fromMs) / minuteMs);
    return Object.fromEntries(
      Object.entries(values)
        .filter(([name]) => wanted.length === 0 || wanted.includes(name))
        .map(([name, value]) => [name, isRaw || isCount(name) ? value : rounded(value)]),
    );
  };
  const document: MetricDataDocument = {
    metric_data: {
      from,
      to,
      metrics_not_found: names.filter((name) => !found.includes(name)),
      metrics_found: found,
      metrics: metrics.map((metric) => ({
        name: metric.name,
        timeslices: [{ from: formatTimestamp(range.fromMs), to: end, values: valuesOf(metric) }],
      })),
    },
  };
  return documentAnswer(document);
}
