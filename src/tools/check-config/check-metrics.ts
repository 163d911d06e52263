import { closest } from '../../config/suggestion.ts';
import { isReadOf, type PolledSeries } from '../../model/polled-series.ts';
import { problemKinds } from '../../model/problem-kinds.ts';
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
 * What values of an application there are, and which of the metrics that the configuration names itself, and that
 * brought no value, New Relic does not know of it. That they cannot be read is a problem of the daemon. Rejects with
 * the reason of a stop.
 */
export async function sampleFindings(
  open: OpenAccount,
  { selected, outcome: { reading, error, gone } }: Sample,
  checked: CheckedConfig,
): Promise<readonly Finding[]> {
  if (error !== undefined) return [];
  const subject = `application ${selected.application.id}`;
  if (gone || reading === undefined) {
    const message = `${subject}: New Relic lists it but has no values of it`;
    return [{ severity: 'error', message }];
  }
  const { series } = selected.entry;
  const silent = watchedGauges(selected.entry)
    .filter((gauge) => !hasValueOf(gauge, reading))
    .flatMap(({ indexes: [first = -1] }) => series[first] ?? []);
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
  return [{ severity: 'ok', message }, ...unknown];
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
  { metric, value, gauge }: PolledSeries,
  { config, file }: CheckedConfig,
): Promise<Finding | undefined> {
  const known = await lookedUp(open, id, metric);
  if (known === undefined) return undefined;
  const { values = [], near } = known;
  // NerdGraph does not tell for certain which values a metric has.
  const mayHaveIt = open.account.source.kind === 'nerdgraph' || values.includes(value);
  if (near === undefined && mayHaveIt) return undefined;
  const [key, what, remedy] =
    near === undefined
      ? ['value', `value "${value}" of the `, `it has ${values.map(printable).join(', ')}`]
      : ['metric', '', near];
  const own = ['apps', config.apps.indexOf(entry)];
  const list = file.at(...own, 'metrics') === undefined ? ['poll'] : own;
  const index = entry.poll.metrics.findIndex((one) => {
    if (typeof one === 'string') return false;
    return one.metric === metric && one.value === value && one.as === gauge.name;
  });
  return {
    severity: 'warning',
    message: `application ${id} has no ${what}metric "${printable(metric)}"`,
    remedy,
    place: file.placeOf(file.at(...list, 'metrics', index, key)),
  };
}

/**
 * A metric of the application; or, as `near`, what is probably meant by its name: one with the same first part, last
 * part or beginning. `undefined` if nobody can tell.
 */
async function lookedUp(
  open: OpenAccount,
  applicationId: string,
  metric: string,
): Promise<{ readonly values?: ListedMetric['values']; readonly near?: string } | undefined> {
  const parts = metric.split('/');
  for (const like of new Set([metric, parts[0] ?? '', parts.at(-1) ?? '', metric.slice(0, 4)])) {
    const { metrics, lack } = await listMetrics(
      open,
      { applicationId, hostId: undefined, like },
      1,
    );
    open.platform.stopSignal.throwIfAborted();
    if (like === metric && lack !== undefined) return undefined;
    const same = metrics.find(({ name }) => name === metric);
    if (same !== undefined) return same;
    const names = lack === undefined ? metrics.map(({ name }) => name) : [];
    const near = closest(metric, names);
    if (near !== undefined) return { near: `did you mean "${printable(near)}"?` };
  }
  return { near: problemKinds.metric_without_value.remedy };
}
