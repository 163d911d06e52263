import { z } from 'zod';
import type { WindowSetting } from '../model/window.ts';
import { labelName, labels, queryLabels } from './label-fields.ts';
import { gaugeName } from './metric-schema.ts';
import { aMap, notEmpty, text, wholeNumber } from './schema-fields.ts';

/** One entry of `queries` as the file has it. The defaults of what it leaves out are in `poll`. */
export interface FileQuery {
  /** The gauge, or several by the members of a row. */
  readonly as: string | Readonly<Record<string, string>>;
  readonly account?: string;
  readonly nrql: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly constant_labels: Readonly<Record<string, string>>;
  readonly help?: string;
  readonly max_series: number;
  readonly interval?: number;
  readonly window?: WindowSetting;
  readonly delay?: number;
  readonly stale_after?: number;
}

/** New Relic does not say how long a query may be. For a rule with one it is 4096 characters. */
const longestNrql = 4000;
const mostSeries = 100_000;

const nrql = z
  .string({ error: 'must be a string' })
  .min(1, { error: 'must not be empty' })
  .max(longestNrql, { error: `must have at most ${longestNrql} characters` })
  .meta({ description: 'The query in NRQL, without SINCE and UNTIL: the exporter adds them.' });

const gauge = gaugeName('Name of the gauge in Prometheus.');

interface QueryPollFields {
  readonly interval: z.ZodExactOptional<z.ZodType<number>>;
  readonly window: z.ZodExactOptional<z.ZodType<WindowSetting>>;
  readonly delay: z.ZodExactOptional<z.ZodType<number>>;
  readonly stale_after: z.ZodExactOptional<z.ZodType<number>>;
}

/** The shape of a query. Another check reads its NRQL. */
export function querySchema(poll: QueryPollFields): z.ZodType<FileQuery> {
  return z.strictObject(
    {
      as: z
        .union([
          gauge,
          z
            .record(z.string(), gauge, aMap)
            .refine((gauges) => Object.keys(gauges).length > 0, notEmpty)
            .meta({ description: 'Gauges by the names that the query gives its functions.' }),
        ])
        .meta({ description: 'The gauge, or a map from the names of functions to gauges.' }),
      account: text(
        'Name of the account, which has source: nerdgraph; required only when there are several accounts.',
      ).exactOptional(),
      nrql,
      labels: z
        .record(z.string(), labelName(queryLabels), aMap)
        .meta({ description: 'Labels by facet. Default: the name of the facet in snake case.' })
        .prefault({}),
      constant_labels: labels('Extra labels on every series.', queryLabels).prefault({}),
      help: text('Help text of the gauges.').exactOptional(),
      max_series: wholeNumber(
        { min: 1, max: mostSeries },
        'Series at most; those beyond are left out and counted.',
      ).prefault(1000),
      ...poll,
    },
    aMap,
  );
}
