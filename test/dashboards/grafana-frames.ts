import type { Field, FieldValue, Frame } from './grafana-data.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [time: number, value: string];

/** One series of an answer of Prometheus: with `value` for a moment, with `values` for a range. */
export interface PrometheusSeries {
  readonly metric: Labels;
  readonly value?: Sample;
  readonly values?: readonly Sample[];
}

/** The field `data` of an answer of Prometheus. */
export interface PrometheusData {
  readonly resultType: string;
  readonly result: Sample | readonly PrometheusSeries[];
}

/** A query of a panel with what Prometheus answered. */
export interface Answered {
  readonly refId: string;
  /** With the variables filled in. */
  readonly expr: string;
  readonly legendFormat?: string;
  readonly format?: string;
  readonly data: PrometheusData;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  return text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);
}

function seriesOf({ resultType, result }: PrometheusData): readonly PrometheusSeries[] {
  if (resultType !== 'scalar') return result as readonly PrometheusSeries[];
  return [{ metric: {}, value: result as Sample }];
}

/** As the back end names a series: `metricNameFromLabels` and `getName` of its Prometheus client. */
function nameOf({ legendFormat = '', expr }: Answered, labels: Labels): string {
  if (legendFormat !== '') {
    return legendFormat.replaceAll(
      /\{\{\s*(.+?)\s*\}\}/g,
      (_, label: string) => labels[label] ?? '',
    );
  }
  const { __name__: name = '', ...others } = labels;
  const pairs = Object.entries(others).map(([label, value]) => `${label}="${value}"`);
  const full = `${name}{${pairs.join(', ')}}`;
  if (full === '{}') return expr;
  return pairs.length === 0 ? name : full;
}

function frameOf(answered: Answered, series: PrometheusSeries): Frame {
  const samples = series.values ?? (series.value === undefined ? [] : [series.value]);
  const name = nameOf(answered, series.metric);
  return {
    refId: answered.refId,
    name,
    length: samples.length,
    fields: [
      { name: 'Time', type: 'time', config: {}, values: samples.map(([time]) => time * 1000) },
      {
        // The back end calls the field as the metric, if the answer has one.
        name: series.metric['__name__'] ?? 'Value',
        type: 'number',
        labels: series.metric,
        config: { displayNameFromDS: name },
        values: samples.map(([, value]) => numberOf(value)),
      },
    ],
  };
}

/** As `transformDFToTable` of the data source: a table for each query, with a column for each label. */
function tableOf(refId: string, frames: readonly Frame[], isAlone: boolean): Frame {
  const filled = frames.filter(({ fields }) => fields.length > 0);
  const labelsOf = ({ fields }: Frame): Labels => fields[1]?.labels ?? {};
  const labels = [...new Set(filled.flatMap((frame) => Object.keys(labelsOf(frame)).toSorted()))];
  const valuesAt = (index: number): FieldValue[] =>
    filled.flatMap(({ fields }) => fields[index]?.values ?? []);
  const columns: readonly Field[] = labels.map((label) => ({
    name: label,
    type: 'string',
    config: {},
    values: filled.flatMap((frame) =>
      Array.from({ length: frame.length }, () => labelsOf(frame)[label] ?? ''),
    ),
  }));
  return {
    refId,
    length: valuesAt(0).length,
    fields: [
      { name: 'Time', type: 'time', config: {}, values: valuesAt(0) },
      ...columns,
      {
        name: isAlone ? 'Value' : `Value #${refId}`,
        type: 'number',
        config: {},
        values: valuesAt(1),
      },
    ],
  };
}

/**
 * Frames as Grafana's data source for Prometheus makes them of the answers of one panel
 * (`packages/grafana-prometheus/src/result_transformer.ts` and `pkg/promlib` of Grafana). An answer
 * without series is an empty frame, as the back end sends it.
 */
export function framesOf(answers: readonly Answered[]): readonly Frame[] {
  const byQuery = answers.map((answered) => {
    const frames = seriesOf(answered.data).map((series) => frameOf(answered, series));
    const { refId, format } = answered;
    return {
      refId,
      format,
      frames: frames.length === 0 ? [{ refId, length: 0, fields: [] }] : frames,
    };
  });
  const tables = byQuery.filter(({ format }) => format === 'table');
  const first = tables[0]?.frames[0];
  const isBare = tables.length === 1 && tables[0]?.frames.length === 1 && first?.length === 0;
  return [
    ...byQuery.filter(({ format }) => format !== 'table').flatMap(({ frames }) => frames),
    ...(isBare
      ? tables.flatMap(({ frames }) => frames)
      : tables.map(({ refId, frames }) => tableOf(refId, frames, tables.length === 1))),
  ];
}
