import type { Query } from '../model/config.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { type AppFamily, cachedNotice, oneFlag, oneTimestamp } from './families.ts';
import { inPageOrder } from './polled-families.ts';
import { labelValueOf, renderLabels, type Sample } from './render.ts';

/** The families of a query; the same object for the same query. */
export function createQueryFamilies(): (query: Query) => readonly AppFamily[] {
  const known = new WeakMap<Query, readonly AppFamily[]>();
  return (query) => {
    const families = known.get(query) ?? inPageOrder([...gaugesOf(query), ...factsOf(query)]);
    known.set(query, families);
    return families;
  };
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
    sources: ['reading'],
    samplesOf: (snapshot) => samplesOf(index, snapshot),
  }));
}

function factsOf(query: Query): readonly AppFamily[] {
  const labels = renderLabels([['query', labelValueOf(query.name)]]);
  return [
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
