import type { Query } from '../model/config.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { type AppFamily, cachedNotice, oneFlag, oneTimestamp } from './families.ts';
import { labelValueOf, renderLabels, type Sample } from './render.ts';

/** The gauges of a query, and whether it works. */
export function queryFamilies({ name: query, gauges, help }: Query): readonly AppFamily[] {
  const labels = renderLabels([['query', labelValueOf(query)]]);
  return [
    ...gauges.map(
      ({ name }, index): AppFamily => ({
        name,
        help: `${help} ${cachedNotice}`,
        sources: ['reading', 'labels'],
        samplesOf: (snapshot) => samplesOf(index, snapshot),
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

function* samplesOf(index: number, { reading, labels: constant }: AppSnapshot): Iterable<Sample> {
  for (const { gauge, labels, value } of reading?.query?.series ?? []) {
    if (gauge !== index) continue;
    const all = [...labels, ...Object.entries(constant)];
    yield { labels: renderLabels(all.map(([name, text]) => [name, labelValueOf(text)])), value };
  }
}
