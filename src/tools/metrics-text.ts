import { aligned } from '../cli/one-shot.ts';
import { printable } from '../model/line-text.ts';
import type { ListedMetric } from '../model/metric-list.ts';
import { presetOf, presetsOf } from './preset-values.ts';

/** What a list is of, and whether it is all. */
export interface ListedTarget {
  readonly account: string;
  readonly source: 'rest' | 'nerdgraph';
  readonly application: { readonly id: string; readonly name: string };
  readonly host: { readonly id: string; readonly name: string | undefined } | undefined;
  readonly isComplete: boolean;
}

const none = '-';
const mark = '*';

/** The list as a table. Values that a preset reads are marked. */
export function metricsTable(metrics: readonly ListedMetric[]): string {
  const rows = metrics.map(({ name, values = [] }) => [
    printable(name),
    presetsOf(name, values).join(', ') || none,
    values
      .map((value) =>
        presetOf(name, value) === undefined ? printable(value) : `${printable(value)}${mark}`,
      )
      .join(', ') || none,
  ]);
  const isMarked = metrics.some(({ name, values = [] }) => presetsOf(name, values).length > 0);
  const legend = isMarked ? ['', `${mark} read by the preset beside it`] : [];
  return `${[...aligned([['metric', 'presets', 'values'], ...rows]), ...legend].join('\n')}\n`;
}

/** The list for machines. */
export function metricsJson(
  metrics: readonly ListedMetric[],
  { account, source, application, host, isComplete }: ListedTarget,
): string {
  const document = {
    account,
    source,
    application,
    host: host === undefined ? null : { id: host.id, name: host.name ?? null },
    complete: isComplete,
    metrics: metrics.map(({ name, values }) => ({
      name,
      values: values ?? null,
      presets: presetsOf(name, values ?? []),
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
