import { type TransactionType, transactionTypes } from './application.ts';
import {
  type PresetGauge,
  type PresetName,
  presetNames,
  presets,
  type VendorMetric,
} from './presets.ts';
import { type Unit, type ValueName, vendorValues } from './vendor-value.ts';

export const metricScopes = ['applications', 'hosts', 'both'] as const;

export type MetricScope = (typeof metricScopes)[number];

/** A metric that a configuration names itself. */
export interface CustomMetric extends VendorMetric {
  /** The Prometheus name of the gauge of applications. */
  readonly as: string;
  /** Factor on the value in the unit of `vendorValues`. */
  readonly scale: number;
  readonly help: string | undefined;
  /** Further labels of this series alone. */
  readonly labels: Readonly<Record<string, string>>;
  readonly scope: MetricScope;
}

/** One element of a list of metrics. */
export type MetricChoice = PresetName | CustomMetric;

export interface GaugePair {
  readonly name: string;
  readonly hostName: string;
  readonly help: string;
  readonly hostHelp: string;
  readonly unit: Unit;
}

/**
 * One series of each application and of each of its hosts: where its value comes from, and how it is
 * published. Plain data.
 */
export interface PolledSeries extends VendorMetric {
  readonly gauge: GaugePair;
  /** The preset that it belongs to; `undefined` for a metric that the configuration names. */
  readonly preset: PresetName | undefined;
  readonly transactionType: TransactionType | undefined;
  /** Labels of this series alone, beside `transaction_type`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Factor on the value in the unit of `gauge`. */
  readonly scale: number;
  readonly scope: MetricScope;
}

const applicationPrefix = 'newrelic_application_';
const hostPrefix = 'newrelic_application_host_';

/** The gauge of hosts that belongs to a gauge of applications. */
export function hostGaugeName(name: string): string {
  return name.startsWith(applicationPrefix)
    ? `${hostPrefix}${name.slice(applicationPrefix.length)}`
    : `host_${name}`;
}

function seriesOfPreset(
  preset: PresetName,
  { name, help, hostHelp = help, sources }: PresetGauge,
  transactions: readonly TransactionType[],
): readonly PolledSeries[] {
  const gaugeOf = (value: ValueName, byType: string): GaugePair => ({
    name: `${applicationPrefix}${name}`,
    hostName: `${hostPrefix}${name}`,
    help: `${help} of the application over the polled window${byType}.`,
    hostHelp: `${hostHelp} of the application on one host over the polled window${byType}.`,
    unit: vendorValues[value],
  });
  const shared = { preset, labels: {}, scale: 1, scope: 'both' } as const;
  if ('all' in sources) {
    const gauge = gaugeOf(sources.all.value, '');
    return [{ ...shared, ...sources.all, gauge, transactionType: undefined }];
  }
  const gauge = gaugeOf(sources.web.value, ', by transaction type');
  return transactionTypes
    .filter((type) => transactions.includes(type))
    .map((type) => ({ ...shared, ...sources[type], gauge, transactionType: type }));
}

function customSeries({ as, help, ...custom }: CustomMetric): PolledSeries {
  const { metric, value } = custom;
  const subject = `${value} of New Relic's metric ${metric}`;
  return {
    ...custom,
    gauge: {
      name: as,
      hostName: hostGaugeName(as),
      help: help ?? `${subject} over the polled window.`,
      hostHelp: help ?? `${subject} on one host over the polled window.`,
      unit: vendorValues[value],
    },
    preset: undefined,
    transactionType: undefined,
  };
}

/** The series that a list of metrics stands for: presets in their order, then the others in theirs. */
export function seriesOf(
  metrics: readonly MetricChoice[],
  transactions: readonly TransactionType[],
): readonly PolledSeries[] {
  const chosen = presetNames.filter((name) => metrics.includes(name));
  return [
    ...chosen.flatMap((name) =>
      presets[name].flatMap((gauge) => seriesOfPreset(name, gauge, transactions)),
    ),
    ...metrics.flatMap((choice) => (typeof choice === 'string' ? [] : [customSeries(choice)])),
  ];
}

/** The gauges of all presets, in the order of the page. */
export const presetGauges: readonly GaugePair[] = [
  ...new Map(
    seriesOf(presetNames, transactionTypes).map(({ gauge }) => [gauge.name, gauge]),
  ).values(),
];

export function isReadOf(what: 'applications' | 'hosts', { scope }: PolledSeries): boolean {
  return scope === 'both' || scope === what;
}

/** The labels of a series beside those of its application or host. */
export function seriesLabels({
  transactionType,
  labels,
}: PolledSeries): Readonly<Record<string, string>> {
  return transactionType === undefined ? labels : { transaction_type: transactionType, ...labels };
}

/**
 * Values of an application or of a host, in the order of the series that were asked for. `undefined`, or
 * nothing at all, where New Relic gave no value.
 */
export type Values = readonly (number | undefined)[];

/** The values of a preset by transaction type, as far as they were asked for and there are any. */
export function valuesByTransaction(
  wanted: PresetName,
  series: readonly PolledSeries[],
  values: Values = [],
): ReadonlyMap<TransactionType, number> {
  const byType = new Map<TransactionType, number>();
  for (const [index, { preset, transactionType }] of series.entries()) {
    const value = values[index];
    if (preset !== wanted || transactionType === undefined || value === undefined) continue;
    byType.set(transactionType, value);
  }
  return byType;
}

/** All transaction types together; `undefined` without any value. */
export function totalOf(byType: ReadonlyMap<TransactionType, number>): number | undefined {
  const values = [...byType.values()];
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}
