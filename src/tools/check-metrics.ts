import { closest } from '../config/suggestion.ts';
import { isReadOf, type PolledSeries } from '../model/polled-series.ts';
import type { SelectedApplication } from '../model/selected-application.ts';
import { printable } from '../model/shown-text.ts';
import { type AppReading, applicationMetrics } from '../model/snapshot.ts';
import type { OpenAccount } from './ask.ts';
import type { CheckedConfig, Finding } from './check-finding.ts';
import type { Sample } from './discovered-account.ts';
import { type ListedMetric, listMetrics } from './metric-lists.ts';

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
  const subject = `application ${selected.application.id}`;
  const { reading, error, gone } = outcome;
  if (error !== undefined) {
    const message = `${subject}: its values cannot be read`;
    return [{ severity: 'error', account, message, remedy: error.message }];
  }
  if (gone || reading === undefined) {
    const message = `${subject}: New Relic lists it but has no values of it`;
    return [{ severity: 'error', account, message }];
  }
  const { series, application } = reading;
  const silent = series.filter(
    ({ preset }, index) => preset === undefined && (application[index] ?? 0) === 0,
  );
  const unknown: Finding[] = [];
  const told = new Set<string>();
  for (const one of silent.slice(0, mostAsked)) {
    const finding = await unknownFinding(open, selected, one, checked);
    if (finding === undefined) continue;
    unknown.push(finding);
    told.add(one.gauge.name);
  }
  const lacks = gaugesWithoutValue(reading).filter((name) => !told.has(name));
  const without = lacks.length === 0 ? '' : `, and no value at the moment of ${lacks.join(', ')}`;
  const message = `${subject}: values can be read, ${throughputText(reading)}${without}`;
  return [{ severity: 'ok', account, message }, ...unknown];
}

function throughputText(reading: AppReading): string {
  const types = [...applicationMetrics(reading).keys()].join(' and ');
  if (types !== '') return `it has ${types} throughput`;
  const isAsked = reading.series.some(({ preset }) => preset === 'throughput');
  return isAsked ? 'it has no throughput at the moment' : 'without throughput';
}

/** The gauges of the application itself, beside throughput, that none of its series has a value for. */
function gaugesWithoutValue({ series, application }: AppReading): readonly string[] {
  const asked = [...series.entries()].filter(
    ([, one]) => one.preset !== 'throughput' && isReadOf('applications', one),
  );
  const having = asked.filter(([index]) => application[index] !== undefined);
  const names = new Set(having.map(([, { gauge }]) => gauge.name));
  const all = new Set(asked.map(([, { gauge }]) => gauge.name));
  return [...all].filter((name) => !names.has(name));
}

/** Says so, at its line, if New Relic does not know a metric of the application, or not with this value. */
async function unknownFinding(
  open: OpenAccount,
  { application: { id }, entry }: SelectedApplication,
  series: PolledSeries,
  { config, file }: CheckedConfig,
): Promise<Finding | undefined> {
  const { metric, value } = series;
  const alike = await listed(open, id, metric);
  if (alike === undefined) return undefined;
  const found = alike.find(({ name }) => name === metric);
  const { values = [] } = found ?? {};
  // NerdGraph does not tell for certain which values a metric has.
  const mayHaveIt = open.account.source.kind === 'nerdgraph' || values.includes(value);
  if (found !== undefined && mayHaveIt) return undefined;
  const index = entry.poll.metrics.findIndex(
    (one) =>
      typeof one === 'object' &&
      one.metric === metric &&
      one.value === value &&
      one.as === series.gauge.name,
  );
  const own = ['apps', config.apps.indexOf(entry)];
  const list = file.at(...own, 'metrics') === undefined ? ['poll'] : own;
  const key = found === undefined ? 'metric' : 'value';
  const what = found === undefined ? '' : `value "${value}" of the `;
  return {
    severity: 'warning',
    account: open.account.name,
    message: `application ${id} has no ${what}metric "${printable(metric)}"`,
    remedy:
      found === undefined
        ? await meant(open, id, metric)
        : `it has ${values.map(printable).join(', ')}`,
    place: file.placeOf(file.at(...list, 'metrics', index, key)?.span),
  };
}

/** The metrics whose names contain a text; `undefined` if they cannot be listed. */
async function listed(
  open: OpenAccount,
  applicationId: string,
  like: string,
): Promise<readonly ListedMetric[] | undefined> {
  const found: ListedMetric[] = [];
  const question = { applicationId, hostId: undefined, like };
  const end = await listMetrics(open, question, 1, (some) => found.push(...some));
  return end.error === undefined && end.cut === undefined ? found : undefined;
}

/** As much of a name as is likely to be right. */
const beginning = 4;

/** What is probably meant by the name of a metric: one with the same beginning, or the same end. */
async function meant(open: OpenAccount, applicationId: string, metric: string): Promise<string> {
  const parts = metric.split('/');
  const [first = metric] = parts;
  for (const part of new Set([first, parts.at(-1) ?? first, metric.slice(0, beginning)])) {
    const names = (await listed(open, applicationId, part))?.map(({ name }) => name) ?? [];
    const near = closest(metric, names);
    if (near !== undefined) return `did you mean "${printable(near)}"?`;
  }
  return 'newrelic-exporter metrics APP lists what an application has; case matters';
}
