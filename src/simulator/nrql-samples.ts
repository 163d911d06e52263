import { own } from '../model/own.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import type { NrqlRow, NrqlValue } from './nrql-row.ts';
import {
  dimensionalMetric,
  guidOf,
  monitorNames,
  otherData,
  otherEventTypes,
} from './other-entities.ts';
import type { SimulatedApplication } from './simulated-application.ts';
import { emptyTimeslice, evenTimeslice } from './timeslice.ts';
import type { MetricWindow } from './timeslices.ts';

/** Events that are alike. */
interface Sample {
  readonly records: number;
  readonly attributes: Readonly<Record<string, NrqlValue>>;
}

function rowOf({ records, attributes }: Sample): NrqlRow {
  const duration = own(attributes, 'duration');
  return {
    attribute: (name) => own(attributes, name) ?? null,
    timeslice: () =>
      typeof duration === 'number' ? evenTimeslice(records, duration) : emptyTimeslice,
    records: () => records,
  };
}

/** What samples depend on. */
interface Moment {
  readonly minutes: number;
  readonly endMs: number;
  /** Those that report. */
  readonly applications: readonly SimulatedApplication[];
  readonly accountId: number;
}

/** A factor around 1 that swings by a quarter in the course of an hour. */
function swing({ endMs }: Moment, phase: number): number {
  return 1 + Math.sin((2 * Math.PI * endMs) / hourMs + phase) / 4;
}

type Make = (moment: Moment) => readonly Sample[];

const browsers = [
  ['Chrome', 40, 1.4],
  ['Safari', 25, 1.1],
  ['Firefox', 8, 1.7],
  ['Microsoft Edge', 6, 1.9],
] as const;

const pageViews: Make = (moment) =>
  moment.applications
    .filter(({ endUser }) => endUser)
    .flatMap(({ name: appName }, index) =>
      browsers.map(([userAgentName, perMinute, seconds]) => ({
        records: Math.round(perMinute * moment.minutes),
        attributes: {
          appName,
          entityGuid: guidOf(moment.accountId, 'BROWSER', 'APPLICATION', appName),
          userAgentName,
          duration: seconds * swing(moment, index),
        },
      })),
    );

const locations = ['Frankfurt, DE', 'Tokyo, JP', 'Washington, DC, USA'] as const;

/** One check a minute from each location; one in ten of the first monitor fails in the first location. */
const checks: Make = (moment) =>
  monitorNames.flatMap((monitorName, monitor) =>
    locations.flatMap((locationLabel, location) => {
      const failed = monitor + location === 0 ? Math.round(moment.minutes / 10) : 0;
      // Of synthetic checks New Relic has milliseconds.
      const duration = 400 * (1 + monitor) * swing(moment, location);
      const entityGuid = guidOf(moment.accountId, 'SYNTH', 'MONITOR', monitorName);
      const common = { monitorName, entityGuid, locationLabel, duration };
      return [
        { records: failed, attributes: { ...common, result: 'FAILED' } },
        { records: moment.minutes - failed, attributes: { ...common, result: 'SUCCESS' } },
      ];
    }),
  );

const consumers = [
  ['billing', 'orders', 120],
  ['billing', 'refunds', 8],
  ['search-indexer', 'products', 2400],
  ['mailer', 'orders', 15],
] as const;

const kafkaOffsets: Make = (moment) =>
  consumers.flatMap(([consumerGroup, topic, usual], index) =>
    [0, 1, 2].map((partition) => {
      const lag = Math.round(usual * swing(moment, index + partition));
      const attributes = { consumerGroup, topic, partition, 'consumer.lag': lag };
      return { records: moment.minutes, attributes };
    }),
  );

const lambdas = [
  ['resize-image', 30, 0],
  ['send-receipt', 12, 1],
] as const;

const invocations: Make = (moment) =>
  lambdas.flatMap(([name, perMinute, failuresPerMinute], index) => {
    const common = { 'aws.lambda.functionName': name, duration: 0.2 * swing(moment, index) };
    return [
      { records: moment.minutes * perMinute, attributes: { ...common, error: 'false' } },
      { records: moment.minutes * failuresPerMinute, attributes: { ...common, error: 'true' } },
    ];
  });

const levels = [
  ['INFO', 120],
  ['WARN', 6],
  ['ERROR', 1],
] as const;

const logs: Make = (moment) =>
  moment.applications.flatMap(({ name }, index) =>
    levels.map(([level, perMinute]) => ({
      records: Math.round(perMinute * moment.minutes * swing(moment, index)),
      attributes: { 'entity.name': name, level },
    })),
  );

const ingest = [
  ['ApmEventsBytes', 0.5],
  ['LoggingBytes', 1.5],
  ['MetricsBytes', 0.25],
] as const;

/** New Relic adds up each hour. */
const consumption: Make = ({ minutes }) =>
  ingest.map(([usageMetric, gigabytes]) => ({
    records: Math.floor(minutes / 60),
    attributes: { productLine: 'DataPlatform', usageMetric, GigabytesIngested: gigabytes },
  }));

/** Each policy has opened three; none, one or two of them are still open, another number each hour. */
const incidents: Make = ({ endMs }) =>
  ['Checkout', 'Infrastructure', 'Synthetics'].flatMap((policyName, index) => {
    const hour = Math.floor(endMs / hourMs);
    const isOpen = (number: number): boolean => number < (hour + index) % 3;
    return [0, 1, 2].flatMap((number) =>
      (isOpen(number) ? ['open'] : ['open', 'close']).map((event) => ({
        records: 1,
        attributes: { policyName, event, incidentId: `${policyName} ${number}` },
      })),
    );
  });

function ofOthers(eventType: string): Make {
  return (moment) =>
    otherData(eventType, moment.accountId, moment.applications).map(
      ({ perMinute, entity, numbers }, index) => {
        const now = numbers.map(([name, usual]) => [name, usual * swing(moment, index)] as const);
        const attributes = { ...entity, ...Object.fromEntries(now) };
        return { records: perMinute * moment.minutes, attributes };
      },
    );
}

const makers: ReadonlyMap<string, Make> = new Map([
  ...Array.from(otherEventTypes, (type) => [type, ofOthers(type)] as const),
  ['AwsLambdaInvocation', invocations],
  ['KafkaOffsetSample', kafkaOffsets],
  ['Log', logs],
  ['NrAiIncident', incidents],
  ['NrConsumption', consumption],
  ['PageView', pageViews],
  ['SyntheticCheck', checks],
]);

/** The types of events that no transaction causes. */
export const sampleTypes: readonly string[] = [...makers.keys()].filter(
  (type) => type !== dimensionalMetric,
);

/** Rows of such a type, the same for the same window; none of another type. */
export function samplesOf(
  eventType: string,
  { fromMs, toMs }: MetricWindow,
  applications: Iterable<SimulatedApplication>,
  accountId: number,
): readonly NrqlRow[] {
  const make = makers.get(eventType);
  if (make === undefined) return [];
  const moment = {
    minutes: Math.round((toMs - fromMs) / minuteMs),
    endMs: toMs,
    accountId,
    applications: [...applications].filter(({ silentSinceMs }) => silentSinceMs === undefined),
  };
  return make(moment)
    .filter(({ records }) => records > 0)
    .map(rowOf);
}
