import { hourMs, minuteMs } from '../model/time.ts';
import type { NrqlValue } from './nrql-query.ts';
import type { NrqlRow, NrqlWindow } from './nrql-rows.ts';
import type { SimulatedApplication } from './simulated-application.ts';
import { emptyTimeslice, evenTimeslice, type Timeslice } from './timeslice.ts';

/** Events that are alike. */
interface Sample {
  readonly records: number;
  readonly attributes: Readonly<Record<string, NrqlValue>>;
}

class SampleRow implements NrqlRow {
  readonly #records: number;
  readonly #attributes: ReadonlyMap<string, NrqlValue>;

  constructor({ records, attributes }: Sample) {
    this.#records = records;
    this.#attributes = new Map(Object.entries(attributes));
  }

  attribute(name: string): NrqlValue {
    return this.#attributes.get(name) ?? null;
  }

  timeslice(): Timeslice {
    const duration = this.attribute('duration');
    return typeof duration === 'number' ? evenTimeslice(this.#records, duration) : emptyTimeslice;
  }

  records(): number {
    return this.#records;
  }
}

/** What samples depend on. */
interface Moment {
  readonly minutes: number;
  readonly endMs: number;
  /** Those that report. */
  readonly applications: readonly SimulatedApplication[];
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
          userAgentName,
          deviceType: 'Desktop',
          duration: seconds * swing(moment, index),
        },
      })),
    );

const locations = ['Frankfurt, DE', 'Tokyo, JP', 'Washington, DC, USA'] as const;

/** One check a minute from each location; one in ten of the first monitor fails in the first location. */
const checks: Make = (moment) =>
  ['Checkout page', 'Login API', 'Search'].flatMap((monitorName, monitor) =>
    locations.flatMap((locationLabel, location) => {
      const failed = monitor + location === 0 ? Math.round(moment.minutes / 10) : 0;
      const durationMs = 400 * (1 + monitor) * swing(moment, location);
      return [
        { records: failed, result: 'FAILED' },
        { records: moment.minutes - failed, result: 'SUCCESS' },
      ]
        .filter(({ records }) => records > 0)
        .map(({ records, result }) => ({
          records,
          // Of synthetic checks New Relic has milliseconds.
          attributes: { monitorName, locationLabel, result, duration: durationMs },
        }));
    }),
  );

const consumers = [
  ['billing', 'orders', 120],
  ['billing', 'refunds', 8],
  ['search-indexer', 'products', 2400],
  ['mailer', 'orders', 15],
] as const;

const kafkaOffsets: Make = (moment) =>
  consumers.flatMap(([consumerGroup, topic, lag], index) =>
    [0, 1, 2].map((partition) => ({
      records: moment.minutes,
      attributes: {
        clusterName: 'events',
        consumerGroup,
        topic,
        partition,
        'consumer.lag': Math.round(lag * swing(moment, index + partition)),
      },
    })),
  );

const lambdas = [
  ['resize-image', 30, 0],
  ['send-receipt', 12, 1],
] as const;

const invocations: Make = (moment) =>
  lambdas.flatMap(([functionName, perMinute, failuresPerMinute], index) =>
    (['false', 'true'] as const).map((error) => ({
      records: moment.minutes * (error === 'true' ? failuresPerMinute : perMinute),
      attributes: {
        'aws.lambda.functionName': functionName,
        'aws.region': 'eu-central-1',
        error,
        duration: 0.2 * swing(moment, index),
      },
    })),
  );

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
        attributes: {
          policyName,
          event,
          incidentId: `${policyName} ${number}`,
          priority: 'critical',
        },
      })),
    );
  });

const makers: ReadonlyMap<string, Make> = new Map([
  ['AwsLambdaInvocation', invocations],
  ['KafkaOffsetSample', kafkaOffsets],
  ['Log', logs],
  ['NrAiIncident', incidents],
  ['NrConsumption', consumption],
  ['PageView', pageViews],
  ['SyntheticCheck', checks],
]);

/** The types of events that no transaction causes. */
export const sampleTypes: readonly string[] = [...makers.keys()];

/** Rows of such a type, the same for the same window; none of another type. */
export function samplesOf(
  eventType: string,
  { fromMs, toMs }: NrqlWindow,
  applications: Iterable<SimulatedApplication>,
): readonly NrqlRow[] {
  const make = makers.get(eventType);
  if (make === undefined) return [];
  const moment = {
    minutes: Math.round((toMs - fromMs) / minuteMs),
    endMs: toMs,
    applications: [...applications].filter(({ silentSinceMs }) => silentSinceMs === undefined),
  };
  return make(moment)
    .filter(({ records }) => records > 0)
    .map((sample) => new SampleRow(sample));
}
