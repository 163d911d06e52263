import type { Query } from '../model/config.ts';
import { type AppFamily, cachedNotice, oneFlag, oneTimestamp } from './families.ts';
import { inPageOrder } from './polled-families.ts';
import { labelValueOf, renderLabels } from './render.ts';

/** The families of a query, in the order of the page. */
export function queryFamiliesOf({ name: query, gauges, help }: Query): readonly AppFamily[] {
  const labels = rendered([['query', query]]);
  return inPageOrder([
    ...gauges.map(
      ({ name }, index): AppFamily => ({
        name,
        help: `${help} ${cachedNotice}`,
        samplesOf: ({ reading, labels: constant }) =>
          (reading?.query?.series ?? [])
            .filter(({ gauge }) => gauge === index)
            .map(({ labels: own, value }) => ({
              labels: rendered([...own, ...Object.entries(constant)]),
              value,
            })),
      }),
    ),
    {
      name: 'newrelic_query_success',
      help: 'Whether the last poll of the query got its rows (1) or not (0).',
      samplesOf: ({ pollSucceeded }) => oneFlag(pollSucceeded, labels),
    },
    {
      name: 'newrelic_query_last_success_timestamp_seconds',
      help: 'When a poll of the query last got its rows, in seconds since the epoch.',
      samplesOf: ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs, labels),
    },
  ]);
}

function rendered(labels: readonly (readonly [name: string, text: string])[]): string {
  return renderLabels(labels.map(([name, text]) => [name, labelValueOf(text)]));
}
