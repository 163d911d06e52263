import type { AppSnapshot } from '../model/snapshot.ts';
import { renderLabels, type Sample } from './render.ts';

/** A gauge: its name, its help, and how what is published becomes samples. */
export interface Family<Of> extends FamilyHead {
  /** Whether its samples describe hosts instead of the application itself. */
  readonly isOfHosts?: boolean;
  readonly samplesOf: (published: Of, hostLabelsOf: HostLabelsOf) => Iterable<Sample>;
}

export type AppFamily = Family<AppSnapshot>;

export interface FamilyHead {
  readonly name: string;
  readonly help: string;
}

export type HostLabelsOf = (hostId: string) => string;

/** The last sentence of the help of each family with data from New Relic. */
export const cachedNotice = 'Polled in the background and cached.';

/** The one sample of a family without labels of its own; none without a finite value. */
export function oneSample(value: number | undefined, labels = ''): readonly Sample[] {
  return value === undefined || !Number.isFinite(value) ? [] : [{ labels, value }];
}

/** Like `oneSample`, for milliseconds since the epoch, in seconds. */
export function oneTimestamp(timeMs: number | undefined, labels = ''): readonly Sample[] {
  return oneSample(timeMs === undefined ? undefined : timeMs / 1000, labels);
}

/** Like `oneSample`, for a yes or no. */
export function oneFlag(flag: boolean | undefined, labels = ''): readonly Sample[] {
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
export const fixedFamilies: readonly AppFamily[] = [
  {
    name: 'newrelic_application_window_end_timestamp_seconds',
    help: `End of the window that the published values describe, in seconds since the epoch. ${cachedNotice}`,
    samplesOf: ({ reading }) => oneTimestamp(reading?.windowEndMs),
  },
  {
    name: 'newrelic_application_hosts',
    help: `Hosts that New Relic lists for the application; with REST, one that is gone stays listed for about an hour. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.hostIds?.length ?? application.hostCount),
  },
  {
    name: 'newrelic_application_instances',
    help: `Instances that New Relic lists for the application. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.instances),
  },
  {
    name: 'newrelic_application_reporting',
    help: `Whether the application reports to New Relic (1) or not (0). ${cachedNotice}`,
    samplesOf: ({ application }) => oneFlag(application.reporting),
  },
  {
    name: 'newrelic_application_last_reported_timestamp_seconds',
    help: `When the application last reported to New Relic, in seconds since the epoch. ${cachedNotice}`,
    samplesOf: ({ application }) => oneTimestamp(application.lastReportedAtMs),
  },
  {
    name: 'newrelic_application_health_status',
    help: `Health of the application as New Relic sees it: 1 for the current status, 0 for the others. ${cachedNotice}`,
    samplesOf: healthSamples,
  },
  {
    name: 'newrelic_application_info',
    help: `Facts about the application as labels; always 1. ${cachedNotice}`,
    samplesOf: ({ application }) =>
      oneSample(1, renderLabels([['language', application.language ?? '']])),
  },
  {
    name: 'newrelic_application_summary_requests_per_minute',
    help: `Requests per minute in New Relic's rolling summary of the application. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.summary?.requestsPerMinute),
  },
  {
    name: 'newrelic_application_summary_response_time_seconds',
    help: `Average response time in New Relic's rolling summary of the application. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.summary?.responseTimeSeconds),
  },
  {
    name: 'newrelic_application_summary_error_ratio',
    help: `Share of requests that failed in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.summary?.errorRatio),
  },
  {
    name: 'newrelic_application_summary_apdex_score',
    help: `Apdex score in New Relic's rolling summary of the application, 0 to 1. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.summary?.apdexScore),
  },
  {
    name: 'newrelic_application_summary_apdex_target_seconds',
    help: `Response time that New Relic's Apdex score of the application is measured against. ${cachedNotice}`,
    samplesOf: ({ application }) => oneSample(application.summary?.apdexTargetSeconds),
  },
  {
    name: 'newrelic_application_poll_success',
    help: 'Whether the last poll of the application got all that was asked for (1) or not (0).',
    samplesOf: ({ pollSucceeded }) => oneFlag(pollSucceeded),
  },
  {
    name: 'newrelic_application_last_success_timestamp_seconds',
    help: 'When a poll of the application last got all that was asked for, in seconds since the epoch.',
    samplesOf: ({ lastSuccessMs }) => oneTimestamp(lastSuccessMs),
  },
  {
    name: 'newrelic_application_poll_failure_info',
    help: 'Why the last poll of the application did not get all that was asked for; always 1, and absent while polls succeed.',
    samplesOf: ({ failureReason: reason }) =>
      reason === undefined ? [] : oneSample(1, renderLabels([['reason', reason]])),
  },
];

/** The one gauge of an account. */
export const upFamily: Family<boolean> = {
  name: 'newrelic_up',
  help: "Whether the last discovery of the account's applications succeeded (1) or not (0); of an account with queries only, whether its last query was answered.",
  samplesOf: (up) => oneFlag(up),
};
