import type { Query } from '../model/config.ts';
import { onOneLine } from '../model/line-text.ts';
import type { QuerySnapshot } from '../model/snapshot.ts';
import { cachedNotice, type Family, oneFlag, oneSample, oneTimestamp } from './families.ts';
import { inPageOrder } from './polled-families.ts';
import { renderLabels } from './render.ts';

/** Characters of the NRQL in a help text. */
const longestNrql = 200;

/** The families of a query, in the order of the page. */
export function queryFamiliesOf({
  name: query,
  gauges,
  help,
  written,
}: Query): readonly Family<QuerySnapshot>[] {
  const labels = renderLabels([['query', query]]);
  // A quotation mark would have to be escaped in one of the two formats.
  const text = help ?? `${onOneLine(written, longestNrql).replaceAll('"', "'")}.`;
  return inPageOrder([
    ...gauges.map(
      ({ name }, index): Family<QuerySnapshot> => ({
        name,
        help: `${text} ${cachedNotice}`,
        samplesOf: ({ reading, query: { labels: constant } }) =>
          (reading?.series ?? [])
            .filter(({ gauge }) => gauge === index)
            .map(({ labels: own, value }) => ({
              labels: renderLabels([...own, ...Object.entries(constant)]),
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
    {
      name: 'newrelic_query_rows',
      help: `Rows that New Relic gave for the query, whatever became of them. ${cachedNotice}`,
      samplesOf: ({ reading }) => oneSample(reading?.rows, labels),
    },
  ]);
}
