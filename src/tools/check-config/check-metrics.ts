import { closest } from '../../config/suggestion.ts';
import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import { printable } from '../../model/shown-text.ts';
import { type AppReading, throughputIn } from '../../model/snapshot.ts';
import { hasValueOf, watchedGauges } from '../../poll/metric-watch.ts';
import type { OpenAccount } from '../survey/ask.ts';
import type { Sample } from '../survey/discovered-account.ts';
import type { CheckedConfig, Finding } from '../survey/finding.ts';
import { type ListedMetric, listMetrics } from '../survey/metric-lists.ts';

/** Each may take four calls. */
const mostAsked = 10;

/**
 * Whether values of an application can be read, and which of the metrics that the configuration names itself,
 * and that brought no value, New Relic does not know of it. Rejects with the reason of a stop.
 */
export async function sampleFindings(
  open: OpenAccount,
  { selected, outcome }: Sample,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  const account = open.account.name;
  const { application, entry } = selected;
  const subject = `application ${application.id}`;
  const { reading, error, gone } = outcome;
  if (error !== undefined || gone || reading === undefined) {
    const isUnread = error !== undefined;
    const what = isUnread
      ? 'its values cannot be read'
      : 'New Relic lists it but has no values of it';
    return [{ severity: 'error', account, message: `${subject}: ${what}`, remedy: error?.message }];
  }
  const silent = watchedGauges(entry)
    .filter((gauge) => !hasValueOf(gauge, reading))
    .flatMap(({ indexes: [first = -1] }) => entry.series[first] ?? []);
  const read = silent.filter((one) => isReadOf('applications', one));
  const lacks = new Set(read.map(({ gauge }) => gauge.name));
  const unknown: Finding[] = [];
  for (const one of silent.filter(({ preset }) => preset === undefined).slice(0, mostAsked)) {
    const finding = await unknownFinding(open, selected, one, checked);
    if (finding === undefined) continue;
    unknown.push(finding);
    lacks.delete(one.gauge.name);
  }
  const without =
    lacks.size === 0 ? '' : `, and no value at the moment of ${[...lacks].join(', ')}`;
  const message = `${subject}: values can be read, ${throughputText(reading)}${without}`;
  return [{ severity: 'ok', account, message }, ...unknown];
}

function throughputText(reading: AppReading): string {
  const types = [...throughputIn(reading).keys()].join(' and ');
  if (types !== '') return `it has ${types} throughput`;
  const isAsked = reading.series.some(({ preset }) => preset === 'throughput');
  return isAsked ? 'it has no throughput at the moment' : 'without throughput';
}

/** Says so, at its line, if New Relic does not know a metric of the application, or not with this value. */
async function unknownFinding(
  open: OpenAccount,
  { application: { id }, entry }: SelectedApplication,
  series: PolledSeries,
  { config, file }: CheckedConfig,
): Promise<Finding | undefined> {
  const { metric, value, gauge } = series;
  const alike = await listed(open, id, metric);
  if (alike === undefined) return undefined;
  const found = alike.find(({ name }) => name === metric);
  const { values = [] } = found ?? {};
  // NerdGraph does not tell for certain which values a metric has.
  const mayHaveIt = open.account.source.kind === 'nerdgraph' || values.includes(value);
  if (found !== undefined && mayHaveIt) return undefined;
  const [key, what, remedy] =
    found === undefined
      ? ['metric', '', await meant(open, id, metric)]
      : ['value', `value "${value}" of the `, `it has ${values.map(printable).join(', ')}`];
  const own = ['apps', config.apps.indexOf(entry)];
  const list = file.at(...own, 'metrics') === undefined ? ['poll'] : own;
  const index = entry.poll.metrics.findIndex(
    (one) =>
      typeof one === 'object' &&
      one.metric === metric &&
      one.value === value &&
      one.as === gauge.name,
  );
  return {
    severity: 'warning',
    account: open.account.name,
    message: `application ${id} has no ${what}metric "${printable(metric)}"`,
    remedy,
    place: file.placeOf(file.at(...list, 'metrics', index, key)),
  };
}

/** The metrics whose names contain a text; `undefined` if they cannot be listed. */
async function listed(
  open: OpenAccount,
  applicationId: string,
  like: string | undefined,
): Promise<readonly ListedMetric[] | undefined> {
  const found: ListedMetric[] = [];
  const question = { applicationId, hostId: undefined, like };
  const { error, cut } = await listMetrics(open, question, 1, (some) => found.push(...some));
  return error === undefined && cut === undefined ? found : undefined;
}

/** What is probably meant by the name of a metric: one with the same first part, last part or beginning. */
async function meant(open: OpenAccount, applicationId: string, metric: string): Promise<string> {
  const parts = metric.split('/');
  for (const part of new Set([parts[0], parts.at(-1), metric.slice(0, 4)])) {
    const names = (await listed(open, applicationId, part))?.map(({ name }) => name) ?? [];
    const near = closest(metric, names);
    if (near !== undefined) return `did you mean "${printable(near)}"?`;
  }
  return 'newrelic-exporter metrics APP lists what an application has; case matters';
}
