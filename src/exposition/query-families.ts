import type { Query } from '../model/config.ts';
import { type AppFamily, cachedNotice, oneFlag, oneTimestamp } from './families.ts';
import { labelValueOf, renderLabels } from './render.ts';

/** The gauges of a query, and whether it works. */
export function queryFamilies({ name: query, gauges, help }: Query): readonly AppFamily[] {
  const labels = rendered([['query', query]]);
  return [
    ...gauges.map(
      ({ name }, index): AppFamily => ({
        name,
        help: `${help} ${cachedNotice}`,
        sources: ['reading', 'labels'],
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
      sources: ['pollSucceeded'],
      samplesOf: ({ pollSucceeded }) => oneFlag(pollSucceeded, labels),
    },
    {
      name: 'newrelic_query_last_success_timestamp_seconds',
      help: 'When a poll of the query last got its rows, in seconds since the epoch.',
      sources: ['lastSuccessMs'],
      samplesOf: ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs, labels),
    },
  ];
}

function rendered(labels: readonly (readonly [name: string, text: string])[]): string {
  return renderLabels(labels.map(([name, text]) => [name, labelValueOf(text)]));
}
