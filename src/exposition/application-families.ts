import type { AppSnapshot } from '../model/snapshot.ts';
import {
  type AppFamily,
  cachedNotice,
  familiesFrom,
  oneFlag,
  oneSample,
  oneTimestamp,
} from './family.ts';
import { labelValueOf } from './label-value.ts';
import { renderLabels, type Sample } from './render.ts';

const knownStatuses: readonly string[] = ['green', 'orange', 'red', 'gray', 'unknown'];

function healthSamples({ application }: Pick<AppSnapshot, 'application'>): readonly Sample[] {
  const current = application.healthStatus;
  if (current === undefined || current === '') return [];
  const statuses = knownStatuses.includes(current) ? knownStatuses : [...knownStatuses, current];
  return statuses.map((status) => ({
    labels: renderLabels([['status', labelValueOf(status)]]),
    value: Number(status === current),
  }));
}

function infoSamples({ application }: Pick<AppSnapshot, 'application'>): readonly Sample[] {
  return oneSample(1, renderLabels([['language', labelValueOf(application.language ?? '')]]));
}

/** What the list of applications says about each, without its summary. */
export const applicationFamilies: readonly AppFamily[] = familiesFrom(
  ['application'],
  [
    {
      name: 'newrelic_application_hosts',
      help: `Hosts that New Relic lists for the application; one that is gone stays listed for about an hour. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.hostIds?.length),
    },
    {
      name: 'newrelic_application_instances',
      help: `Instances that New Relic lists for the application. ${cachedNotice}`,
      samplesOf: ({ application }) => oneSample(application.instanceIds?.length),
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
      samplesOf: infoSamples,
    },
  ],
);
