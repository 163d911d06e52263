import { closest } from '../config/suggestion.ts';
import { isReadOf, type PolledSeries } from '../model/polled-series.ts';
import { printable } from '../model/shown-text.ts';
import { type AppReading, applicationMetrics } from '../model/snapshot.ts';
import type { OpenAccount } from './ask.ts';
import type { CheckedConfig, Finding } from './check-finding.ts';
import type { Sample } from './discovered-account.ts';
import { type ListedMetric, listMetrics } from './metric-lists.ts';

/** Whether values of an application can be read, and which of its metrics New Relic does not know, at their lines. */
export async function sampleFindings(
  open: OpenAccount,
  { selected: { application, entry }, outcome }: Sample,
  { config, file }: CheckedConfig,
): Promise<readonly Finding[]> {
  const account = open.account.name;
  const subject = `application ${application.id}`;
  const { reading, error, gone } = outcome;
  if (error !== undefined) {
    const message = `${subject}: its values cannot be read`;
    return [{ severity: 'error', account, message, remedy: error.message }];
  }
  const unknown =
    reading === undefined ? [] : await unknownMetricsOf(open, application.id, reading);
  const findings = unknown.map(({ series, key, message, remedy }): Finding => {
    const index = entry.poll.metrics.findIndex(
      (one) =>
        typeof one === 'object' &&
        one.metric === series.metric &&
        one.value === series.value &&
        one.as === series.gauge.name,
    );
    const own = ['apps', config.apps.indexOf(entry)];
    const list = file.at(...own, 'metrics') === undefined ? ['poll'] : own;
    const place = file.placeOf(file.at(...list, 'metrics', index, key)?.span);
    return { severity: 'warning', account, message, remedy, place };
  });
  if (gone) {
    const message = `${subject}: New Relic lists it but has no values of it`;
    return [{ severity: 'error', account, message }, ...findings];
  }
  const told = new Set(unknown.map(({ series }) => series.gauge.name));
  const lacks = gaugesWithoutValue(reading).filter((name) => !told.has(name));
  const without = lacks.length === 0 ? '' : `, and no value at the moment of ${lacks.join(', ')}`;
  const message = `${subject}: values can be read, ${throughputText(reading)}${without}`;
  return [{ severity: 'ok', account, message }, ...findings];
}

function throughputText(reading: AppReading | undefined): string {
  const types = [...applicationMetrics(reading).keys()].join(' and ');
  if (types !== '') return `it has ${types} throughput`;
  const isAsked = reading?.series.some(({ preset }) => preset === 'throughput') !== false;
  return isAsked ? 'it has no throughput at the moment' : 'without throughput';
}

/** The gauges of the application itself, beside throughput, that none of its series has a value for. */
function gaugesWithoutValue(reading: AppReading | undefined): readonly string[] {
  if (reading === undefined) return [];
  const asked = reading.series.flatMap((series, index) =>
    series.preset === 'throughput' || !isReadOf('applications', series)
      ? []
      : [{ name: series.gauge.name, value: reading.application[index] }],
  );
  const having = new Set(asked.flatMap(({ name, value }) => (value === undefined ? [] : [name])));
  return [...new Set(asked.map(({ name }) => name))].filter((name) => !having.has(name));
}

/** A metric of the configuration that an application does not have, or not with this value. */
interface UnknownMetric {
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

/**
 * Looks up which of the metrics that the configuration names itself, and that brought no value, New Relic
 * does not know of the application. Rejects with the reason of a stop.
 */
async function unknownMetricsOf(
  open: OpenAccount,
  applicationId: string,
  { series, application }: AppReading,
): Promise<readonly UnknownMetric[]> {
  const listed: Listed = async (like) => {
    const found: ListedMetric[] = [];
    const question = { applicationId, hostId: undefined, like };
    const end = await listMetrics(open, question, 1, (some) => found.push(...some));
    return end.error === undefined && end.cut === undefined ? found : undefined;
  };
  // NerdGraph does not tell for certain which values a metric has.
  const tellsValues = open.account.source.kind === 'rest';
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
