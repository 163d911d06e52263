import type { Query } from '../model/config.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { type AppFamily, cachedNotice, oneFlag, oneTimestamp } from './families.ts';
import { inPageOrder } from './polled-families.ts';
import { labelValueOf, renderLabels, type Sample } from './render.ts';

/** The families of a query, in the order of the page. */
export function queryFamiliesOf(query: Query): readonly AppFamily[] {
  return inPageOrder([...gaugesOf(query), ...factsOf(query)]);
}

function gaugesOf({ gauges, help, constantLabels }: Query): readonly AppFamily[] {
  const constant = Object.entries(constantLabels);
  const rendered = (labels: readonly (readonly [string, string])[]): string =>
    renderLabels([...labels, ...constant].map(([name, value]) => [name, labelValueOf(value)]));
  function* samplesOf(index: number, { reading }: AppSnapshot): Iterable<Sample> {
    for (const { gauge, labels, value } of reading?.query?.series ?? []) {
      if (gauge === index && Number.isFinite(value)) yield { labels: rendered(labels), value };
    }
  }
  return gauges.map(({ name }, index) => ({
    name,
    help: `${help} ${cachedNotice}`,
    samplesOf: (snapshot) => samplesOf(index, snapshot),
  }));
}

function factsOf(query: Query): readonly AppFamily[] {
  const labels = renderLabels([['query', labelValueOf(query.name)]]);
  return [
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
  ];
}
