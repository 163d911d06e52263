import type { GraphqlObject } from './graphql.ts';
import type { NrqlValue } from './nrql-row.ts';
import type { SimulatedApplication } from './simulated-application.ts';

/** Entities of a type that are no applications of APM. */
interface EntityKind {
  readonly domain: string;
  readonly type: string;
  readonly names: (applications: readonly SimulatedApplication[]) => readonly string[];
  /** The attribute with the name in their data. */
  readonly named: string;
  /** What New Relic shows of them: name, title, unit, SELECT and FROM, as newrelic/entity-definitions has it. */
  readonly golden: string;
  /**
   * What it has of each: the type of data, how often a minute, and the numbers that each record has; but for
   * what `nrql-samples.ts` makes.
   */
  readonly data: string;
}

/** Metrics that are no timeslices of APM; their attributes tell. */
export const dimensionalMetric = 'DimensionalMetric';
export const dimension: RegExp = /^(?:apm\.mobile|aws)\./u;

export const monitorNames = ['Checkout page', 'Login API', 'Search'] as const;

interface OtherEntities {
  readonly domain: string;
  readonly type: string;
  /** Those that report. */
  readonly outlines: () => readonly GraphqlObject[];
}

interface OtherData {
  readonly perMinute: number;
  readonly entity: Readonly<Record<string, NrqlValue>>;
  readonly numbers: readonly (readonly [attribute: string, usual: number])[];
}

const entityKinds: readonly EntityKind[] = [
  {
    domain: 'BROWSER',
    type: 'APPLICATION',
    names: (applications) => applications.filter(({ endUser }) => endUser).map(({ name }) => name),
    named: 'appName',
    golden: `
      throughputPpm | Throughput (ppm) | PAGES_PER_SECOND | rate(count(*), 1 minute) | PageView
      largestContentfulPaint75PercentileS | Largest contentful paint (75 percentile) (s) | SECONDS | percentile(largestContentfulPaint, 75) | PageViewTiming
      interactionToNextPaint75PercentileS | Interaction to next paint (75 percentile) (s) | SECONDS | percentile(interactionToNextPaint, 75) | PageViewTiming
      cumulativeLayoutShift75Percentile | Cumulative layout shift (75 percentile) | COUNT | percentile(cumulativeLayoutShift, 75) | PageViewTiming
      errors | Errors | COUNT | count(*) | JavaScriptError
      pageLoadSeconds | Pageload time (s) | SECONDS | average(duration) | PageView
      throughputAjax | Ajax throughput (rpm) | REQUESTS_PER_MINUTE | rate(count(*), 1 minute) | AjaxRequest`,
    data: `
      PageViewTiming | 70 | largestContentfulPaint 2.1, interactionToNextPaint 0.15, cumulativeLayoutShift 0.04
      JavaScriptError | 3
      AjaxRequest | 200`,
  },
  {
    domain: 'SYNTH',
    type: 'MONITOR',
    names: () => monitorNames,
    named: 'monitorName',
    golden: `
      medianDurationS | Median duration (s) | SECONDS | percentile(duration,50)/1000 | SyntheticCheck
      failures | Failures | COUNT | filter(count(*), WHERE result = 'FAILED') AS 'Failures' | SyntheticCheck`,
    data: '',
  },
  {
    domain: 'INFRA',
    type: 'HOST',
    names: (applications) =>
      applications.flatMap(({ hosts }) => Array.from(hosts.values(), ({ name }) => name)),
    named: 'entityName',
    golden: `
      cpuUsage | CPU usage (%) | PERCENTAGE | average(cpuPercent) | SystemSample
      memoryUsage | Memory usage (%) | PERCENTAGE | average(memoryUsedPercent) | SystemSample
      storageUsage | Storage usage (%) | PERCENTAGE | average(diskUsedPercent) | StorageSample
      networkTrafficTx | Network transmit traffic (bytes/s) | BYTES_PER_SECOND | average(transmitBytesPerSecond) | NetworkSample
      networkTrafficRx | Network receive traffic (bytes/s) | BYTES_PER_SECOND | average(receiveBytesPerSecond) | NetworkSample`,
    data: `
      SystemSample | 4 | cpuPercent 40, memoryUsedPercent 60
      StorageSample | 3 | diskUsedPercent 55
      NetworkSample | 6 | transmitBytesPerSecond 250000, receiveBytesPerSecond 400000`,
  },
  {
    domain: 'INFRA',
    type: 'AWSLAMBDAFUNCTION',
    names: () => ['resize-image', 'send-receipt'],
    named: 'entity.name',
    golden: `
      errorRate | Error rate % | PERCENTAGE | 100 * sum(aws.lambda.Errors.byFunction) / sum(aws.lambda.Invocations.byFunction) | Metric
      totalInvocations | Total Invocations | REQUESTS_PER_MINUTE | rate(sum(aws.lambda.Invocations.byFunction), 1 minute) | Metric
      duration99PercentileS | Duration (99 percentile) (s) | SECONDS | max(aws.lambda.Duration.byFunction) / 1000 | Metric
      throttles | Throttled invocations | COUNT | rate(sum(aws.lambda.Throttles.byFunction), 1 minute) | Metric`,
    data: `
      DimensionalMetric | 1 | aws.lambda.Errors.byFunction 1, aws.lambda.Invocations.byFunction 30, aws.lambda.Duration.byFunction 210, aws.lambda.Throttles.byFunction 0.2`,
  },
  {
    domain: 'MOBILE',
    type: 'APPLICATION',
    names: () => ['Shop for Android', 'Shop for iOS'],
    named: 'appName',
    golden: `
      appLaunchCountMetric | App launches | COUNT | count(apm.mobile.application.launch.count) | Metric
      crashCount | Crash count | COUNT | count(*) | MobileCrash
      httpResponseTimeMsMetric | HTTP response time (ms) | MS | average(apm.mobile.external.duration) * 1000 | Metric
      networkFailuresRateMetric | Network failures rate | COUNT | average(apm.mobile.failed.call.rate) | Metric
      httpErrorsRateMetric | HTTP error rate | PERCENTAGE | average(apm.mobile.status.error.rate) | Metric
      requestsPerMinute | Requests per minute (req/min) | REQUESTS_PER_MINUTE | rate(count(*), 1 minute) | MobileRequest`,
    data: `
      DimensionalMetric | 12 | apm.mobile.application.launch.count 1, apm.mobile.external.duration 0.3, apm.mobile.failed.call.rate 0.02, apm.mobile.status.error.rate 1.5
      MobileCrash | 1
      MobileRequest | 80`,
  },
];

function sampleRows(table: string): readonly (readonly string[])[] {
  return table
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('|').map((cell) => cell.trim()));
}

export function guidOf(accountId: number, domain: string, type: string, name: string): string {
  const text = [accountId, domain, type, name].join('|');
  return Buffer.from(text).toString('base64').replaceAll('=', '');
}

function entityNames(
  kind: EntityKind,
  applications: readonly SimulatedApplication[],
): readonly string[] {
  return [...new Set(kind.names(applications))];
}

/** Each kind, and its entities as elements of a search. */
export function otherEntities(
  accountId: number,
  applications: readonly SimulatedApplication[],
): readonly OtherEntities[] {
  return entityKinds.map((kind) => {
    const { domain, type } = kind;
    const metrics = sampleRows(kind.golden).map(([name, title, unit, select, from]) => {
      const eventId = from === 'Metric' ? 'entity.guid' : 'entityGuid';
      return { name, title, unit, definition: { select, from, where: '', facet: '', eventId } };
    });
    const outlineOf = (name: string): GraphqlObject => ({
      __typename: 'GenericEntityOutline',
      guid: guidOf(accountId, domain, type, name),
      name,
      accountId,
      reporting: true,
      alertSeverity: 'NOT_CONFIGURED',
      tags: [],
      goldenMetrics: { metrics },
    });
    return { domain, type, outlines: () => entityNames(kind, applications).map(outlineOf) };
  });
}

/** The types of data that only these entities have. */
export const otherEventTypes: ReadonlySet<string> = new Set(
  entityKinds.flatMap(({ data }) => sampleRows(data).map(([eventType = '']) => eventType)),
);

/** What there is of a type of data a minute: what each record says of its entity, and its numbers. */
export function otherData(
  eventType: string,
  accountId: number,
  applications: readonly SimulatedApplication[],
): readonly OtherData[] {
  return entityKinds.flatMap((kind) =>
    sampleRows(kind.data)
      .filter(([type]) => type === eventType)
      .flatMap(([, perMinute, list = '']) =>
        entityNames(kind, applications).map((name): OtherData => {
          const guid = guidOf(accountId, kind.domain, kind.type, name);
          const numbers = list.split(', ').map((one) => one.split(' '));
          return {
            perMinute: Number(perMinute),
            entity: { [kind.named]: name, entityGuid: guid, 'entity.guid': guid },
            numbers: numbers.map(([attribute = '', value]) => [attribute, Number(value)]),
          };
        }),
      ),
  );
}
