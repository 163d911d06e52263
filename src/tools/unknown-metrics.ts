import { closest } from '../config/suggestion.ts';
import type { PolledSeries } from '../model/polled-series.ts';
import { printable } from '../model/shown-text.ts';
import type { AppReading } from '../model/snapshot.ts';
import type { ListedMetric, ListMetrics } from './metric-list.ts';

/** A metric of the configuration that an application does not have, or not with this value. */
export interface UnknownMetric {
  readonly series: PolledSeries;
  /** The key of the configuration that is probably wrong. */
  readonly key: 'metric' | 'value';
  readonly message: string;
  readonly remedy: string;
}

/** Each may take four calls. */
const mostAsked = 10;

/** Lists metrics whose names contain a text; `undefined` if that fails. */
type Listed = (like: string) => Promise<readonly ListedMetric[] | undefined>;

export interface UnknownMetricsDependencies {
  readonly list: ListMetrics;
  /** Whether the list tells for certain which values a metric has. */
  readonly tellsValues: boolean;
  readonly signal: AbortSignal;
}

/**
 * Looks up which of the metrics that the configuration names itself, and that brought no value, New Relic
 * does not know of the application. Rejects with the signal's reason.
 */
export async function unknownMetricsOf(
  applicationId: string,
  { series, application }: Pick<AppReading, 'series' | 'application'>,
  { list, tellsValues, signal }: UnknownMetricsDependencies,
): Promise<readonly UnknownMetric[]> {
  const listed: Listed = async (like) => {
    const found: ListedMetric[] = [];
    const question = { applicationId, hostId: undefined, like };
    const end = await list(question, { signal, onPage: (some) => found.push(...some) });
    return end.error === undefined && end.cut === undefined ? found : undefined;
  };
  const silent = series.filter(
    ({ preset }, index) => preset === undefined && (application[index] ?? 0) === 0,
  );
  const unknown: UnknownMetric[] = [];
  for (const one of silent.slice(0, mostAsked)) {
    const alike = await listed(one.metric);
    const found = alike?.find(({ name }) => name === one.metric);
    const { values = [] } = found ?? {};
    const subject = `application ${applicationId} has no`;
    const metric = `metric "${printable(one.metric)}"`;
    if (alike !== undefined && found === undefined) {
      const remedy = await meant(one.metric, listed);
      unknown.push({ series: one, key: 'metric', message: `${subject} ${metric}`, remedy });
    } else if (found !== undefined && tellsValues && !values.includes(one.value)) {
      const message = `${subject} value "${one.value}" of the ${metric}`;
      const remedy = `it has ${values.map(printable).join(', ')}`;
      unknown.push({ series: one, key: 'value', message, remedy });
    }
  }
  return unknown;
}

/** As much of a name as is likely to be right. */
const beginning = 4;

/** What is probably meant by the name of a metric: one with the same beginning, or the same end. */
async function meant(metric: string, listed: Listed): Promise<string> {
  const parts = metric.split('/');
  const [first = metric] = parts;
  for (const part of new Set([first, parts.at(-1) ?? first, metric.slice(0, beginning)])) {
    const names = (await listed(part))?.map(({ name }) => name) ?? [];
    const near = closest(metric, names);
    if (near !== undefined) return `did you mean "${printable(near)}"?`;
  }
  return 'newrelic-exporter metrics APP lists what an application has; case matters';
}
