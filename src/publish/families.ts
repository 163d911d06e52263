import type { Query } from '../model/config.ts';
import {
  type GaugePair,
  isReadOf,
  type PolledSeries,
  presetGauges,
  seriesLabels,
  type Values,
} from '../model/polled-series.ts';
import { onOneLine } from '../model/shown-text.ts';
import type { AppSnapshot, QuerySnapshot } from '../model/snapshot.ts';
import {
  type Family,
  type FamilyHead,
  type HostLabelsOf,
  type Labels,
  renderBeside,
  renderLabels,
  type Sample,
} from './render.ts';

export type AppFamily = Family<AppSnapshot>;

/** The last sentence of the help of each family with data from New Relic. */
const cachedNotice = 'Polled in the background and cached.';

/** The one sample of a family without labels of its own; none without a finite value. */
function oneSample(value: number | undefined, labels = ''): readonly Sample[] {
  return value === undefined || !Number.isFinite(value) ? [] : [{ labels, value }];
}

/** Like `oneSample`, for milliseconds since the epoch, in seconds. */
function oneTimestamp(timeMs: number | undefined, labels = ''): readonly Sample[] {
  return oneSample(timeMs === undefined ? undefined : timeMs / 1000, labels);
}

/** Like `oneSample`, for a yes or no. */
function oneFlag(flag: boolean | undefined, labels = ''): readonly Sample[] {
  return oneSample(flag === undefined ? undefined : Number(flag), labels);
}

const knownStatuses: readonly string[] = ['green', 'orange', 'red', 'gray', 'unknown'];

function healthSamples({ application }: AppSnapshot): readonly Sample[] {
  const current = application.healthStatus;
  if (current === undefined || current === '') return [];
  const statuses = knownStatuses.includes(current) ? knownStatuses : [...knownStatuses, current];
  return statuses.map((status) => ({
    labels: renderLabels([['status', status]]),
    value: Number(status === current),
  }));
}

/** Every gauge that each application may have, in the order of the page; the polled ones come first. */
const fixedTexts: Readonly<Record<string, readonly [help: string, AppFamily['samplesOf']]>> = {
  newrelic_application_window_end_timestamp_seconds: [
    `End of the window that the published values describe, in seconds since the epoch. ${cachedNotice}`,
    ({ reading }) => oneTimestamp(reading?.windowEndMs),
  ],
  newrelic_application_hosts: [
    `Hosts that New Relic lists for the application; with REST, one that is gone stays listed for about an hour. ${cachedNotice}`,
    ({ application }) => oneSample(application.hostIds?.length ?? application.hostCount),
  ],
  newrelic_application_instances: [
    `Instances that New Relic lists for the application. ${cachedNotice}`,
    ({ application }) => oneSample(application.instances),
  ],
  newrelic_application_reporting: [
    `Whether the application reports to New Relic (1) or not (0). ${cachedNotice}`,
    ({ application }) => oneFlag(application.reporting),
  ],
  newrelic_application_last_reported_timestamp_seconds: [
    `When the application last reported to New Relic, in seconds since the epoch. ${cachedNotice}`,
    ({ application }) => oneTimestamp(application.lastReportedAtMs),
  ],
  newrelic_application_health_status: [
    `Health of the application as New Relic sees it: 1 for the current status, 0 for the others. ${cachedNotice}`,
    healthSamples,
  ],
  newrelic_application_info: [
    `Facts about the application as labels; always 1. ${cachedNotice}`,
    ({ application }) => oneSample(1, renderLabels([['language', application.language ?? '']])),
  ],
  newrelic_application_summary_requests_per_minute: [
    `Requests per minute in New Relic's rolling summary of the application. ${cachedNotice}`,
    ({ application }) => oneSample(application.summary?.requestsPerMinute),
  ],
  newrelic_application_summary_response_time_seconds: [
    `Average response time in New Relic's rolling summary of the application. ${cachedNotice}`,
    ({ application }) => oneSample(application.summary?.responseTimeSeconds),
  ],
  newrelic_application_summary_error_ratio: [
    `Share of requests that failed in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
    ({ application }) => oneSample(application.summary?.errorRatio),
  ],
  newrelic_application_summary_apdex_score: [
    `Apdex score in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
    ({ application }) => oneSample(application.summary?.apdexScore),
  ],
  newrelic_application_summary_apdex_target_seconds: [
    `Response time that New Relic's Apdex score of the application is measured against. ${cachedNotice}`,
    ({ application }) => oneSample(application.summary?.apdexTargetSeconds),
  ],
  newrelic_application_poll_success: [
    'Whether the last poll of the application got all that was asked for (1) or not (0).',
    ({ pollSucceeded }) => oneFlag(pollSucceeded),
  ],
  newrelic_application_last_success_timestamp_seconds: [
    'When a poll of the application last got all that was asked for, in seconds since the epoch.',
    ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs),
  ],
  newrelic_application_poll_failure_info: [
    'Why the last poll of the application did not get all that was asked for; always 1, and absent while polls succeed.',
    ({ failureReason: reason }) =>
      reason === undefined ? [] : oneSample(1, renderLabels([['reason', reason]])),
  ],
};
export const fixedFamilies: readonly AppFamily[] = Object.entries(fixedTexts).map(
  ([name, [help, ofApplication]]) => ({ name, help, samplesOf: ofApplication }),
);

/** The one gauge of an account. */
export const upFamily: Family<boolean> = {
  name: 'newrelic_up',
  help: "Whether the last discovery of the account's applications succeeded (1) or not (0); of an account with queries only, whether one of its last two queries was answered.",
  samplesOf: (up) => oneFlag(up),
};

/** The families of an application whose reading has these series, in the order of the page. */
export function familiesOf(series: readonly PolledSeries[]): readonly AppFamily[] {
  return inPageOrder([...polledFamilies(series), ...fixedFamilies]);
}

/** A series of a gauge: the index of its value in a reading, and its own labels. */
interface GaugeSeries {
  readonly index: number;
  readonly own: Labels;
}

function gaugesOf(series: readonly PolledSeries[], what: 'applications' | 'hosts') {
  const byName = new Map<string, { readonly gauge: GaugePair; readonly series: GaugeSeries[] }>();
  for (const [index, one] of series.entries()) {
    if (!isReadOf(what, one)) continue;
    const known = byName.get(one.gauge.name) ?? { gauge: one.gauge, series: [] };
    known.series.push({ index, own: Object.entries(seriesLabels(one)) });
    byName.set(one.gauge.name, known);
  }
  return [...byName.values()];
}

/** Yields one at a time: an application may have many thousands of hosts. */
function* samplesOf(
  gauge: readonly GaugeSeries[],
  shared: AppSnapshot['labels'],
  readings: Iterable<readonly [hostId: string, values: Values]>,
  hostLabelsOf: HostLabelsOf = () => '',
): Iterable<Sample> {
  const series = gauge.map(({ index, own }) => ({ index, labels: renderBeside(own, shared) }));
  for (const [hostId, values] of readings) {
    const host = hostLabelsOf(hostId);
    for (const { index, labels } of series) {
      const value = values[index];
      if (value !== undefined && Number.isFinite(value)) yield { host, ...labels, value };
    }
  }
}

/** Those of them that have polled values, in any order. */
export function polledFamilies(all: readonly PolledSeries[]): readonly AppFamily[] {
  const ofApplications = gaugesOf(all, 'applications').map(
    ({ gauge: { name, help }, series }): AppFamily => ({
      name,
      help: `${help} ${cachedNotice}`,
      samplesOf: ({ reading, labels }) =>
        samplesOf(series, labels, reading === undefined ? [] : [['', reading.application]]),
    }),
  );
  const ofHosts = gaugesOf(all, 'hosts').map(
    ({ gauge: { hostName, hostHelp }, series }): AppFamily => ({
      name: hostName,
      help: `${hostHelp} ${cachedNotice}`,
      isOfHosts: true,
      samplesOf: ({ reading, labels }, hostLabelsOf) =>
        samplesOf(series, labels, reading?.hosts ?? [], hostLabelsOf),
    }),
  );
  return [...ofApplications, ...ofHosts];
}

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
        samplesOf: ({ reading, query: { labels: constant, accountLabels } }) =>
          (reading?.series ?? [])
            .filter(({ gauge }) => gauge === index)
            .map(({ labels: own, value }) => ({
              ...renderBeside([...own, ...Object.entries(constant)], accountLabels),
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

/** The order of a page; the metrics that configurations name stand in the place of the empty name. */
const places: ReadonlyMap<string, number> = new Map(
  [
    upFamily.name,
    ...presetGauges.flatMap(({ name, hostName }) => [name, hostName]),
    '',
    ...fixedFamilies.map(({ name }) => name),
  ].map((name, index) => [name, index]),
);

function familyPlace({ name }: FamilyHead): number {
  return places.get(name) ?? places.get('') ?? 0;
}

/** `newrelic_up` and the presets come first, then the metrics that configurations name, then what every application has. */
export function inPageOrder<Head extends FamilyHead>(families: readonly Head[]): readonly Head[] {
  return families.toSorted(
    (left, right) => familyPlace(left) - familyPlace(right) || (left.name < right.name ? -1 : 1),
  );
}
