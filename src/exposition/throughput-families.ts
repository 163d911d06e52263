import { transactionTypes } from '../model/application.ts';
import type { Throughput } from '../model/reading.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import { type AppFamily, cachedNotice, familiesFrom, oneTimestamp } from './family.ts';
import { labelValueOf } from './label-value.ts';
import { renderLabels, type Sample } from './render.ts';

const typeLabels = transactionTypes.map(
  (type) => [type, renderLabels([['transaction_type', type]])] as const,
);

function* throughputSamples(throughput: Throughput, scope: string): Iterable<Sample> {
  for (const [type, typeLabel] of typeLabels) {
    const value = throughput.get(type);
    if (value === undefined || !Number.isFinite(value)) continue;
    yield { labels: scope === '' ? typeLabel : `${scope},${typeLabel}`, value };
  }
}

function hostLabels(hostId: string, hostNames: AppSnapshot['hostNames']): string {
  const known = hostNames.get(hostId);
  const name = known === undefined || known === '' ? hostId : known;
  return renderLabels([
    ['host_id', labelValueOf(hostId)],
    ['host_name', labelValueOf(name)],
  ]);
}

/** One at a time: an application may have many thousands of hosts. */
function* hostSamples({
  reading,
  hostNames,
}: Pick<AppSnapshot, 'reading' | 'hostNames'>): Iterable<Sample> {
  for (const [hostId, throughput] of reading?.hosts ?? []) {
    yield* throughputSamples(throughput, hostLabels(hostId, hostNames));
  }
}

/** What the polls of throughput brought. */
export const throughputFamilies: readonly AppFamily[] = familiesFrom(
  ['reading', 'hostNames'],
  [
    {
      name: 'newrelic_application_requests_per_minute',
      help: `Average requests per minute of the application over the polled window, by transaction type. ${cachedNotice}`,
      samplesOf: ({ reading }) =>
        reading === undefined ? [] : throughputSamples(reading.application, ''),
    },
    {
      name: 'newrelic_application_host_requests_per_minute',
      help: `Average requests per minute of the application on one host over the polled window, by transaction type. ${cachedNotice}`,
      isOfHosts: true,
      samplesOf: hostSamples,
    },
    {
      name: 'newrelic_application_window_end_timestamp_seconds',
      help: `End of the window that the published requests per minute describe, in seconds since the epoch. ${cachedNotice}`,
      samplesOf: ({ reading }) => oneTimestamp(reading?.windowEndMs),
    },
  ],
);
