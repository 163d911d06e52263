import type { Scrape } from './scrape.ts';

const throughputNames = [
  'newrelic_application_requests_per_minute',
  'newrelic_application_host_requests_per_minute',
  'newrelic_application_window_end_timestamp_seconds',
];

/** The throughput of an application with its window, as series and values. */
export function publishedOf(
  page: Scrape,
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(
    throughputNames.flatMap((name) =>
      page
        .series(name, labels)
        .map((series) => [JSON.stringify([name, series]), page.value(name, series)]),
    ),
  );
}
