import { own } from '../model/own.ts';
import { entityGuidOf } from './entity-documents.ts';
import type { SimulatedAccount } from './fleet.ts';
import type { GraphqlSettings } from './graphql-options.ts';
import { metricsOf, type SimulatedMetric, transactionAt } from './metric-catalogue.ts';
import type { NrqlAttributes, NrqlCondition } from './nrql-condition.ts';
import { timesliceValue } from './nrql-reader.ts';
import type { NrqlRow, NrqlValue } from './nrql-row.ts';
import { samplesOf, sampleTypes } from './nrql-samples.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';
import { averageOf, type Timeslice } from './timeslice.ts';
import { hostTimeslices, type MetricWindow } from './timeslices.ts';

/** What the application alone decides; `undefined` for all other attributes. */
function applicationAttribute(
  application: SimulatedApplication,
  name: string,
  { appIds, accountId }: GraphqlSettings,
): string | number | undefined {
  if (name === 'appName') return application.name;
  if (name === 'appId') return appIds === 'number' ? application.id : String(application.id);
  return name === 'entity.guid' ? entityGuidOf(accountId, application) : undefined;
}

/** What is known before one looks at the hosts of an application, and perhaps at its metrics. */
function attributesOf(
  application: SimulatedApplication,
  options: GraphqlSettings,
  metric?: string,
): NrqlAttributes {
  return {
    attribute: (name) => {
      if (name === 'metricTimesliceName') return metric;
      if (name === 'host' || name === timesliceValue) return undefined;
      return applicationAttribute(application, name, options) ?? null;
    },
  };
}

/** A metric of an application; its attributes but those that only the host decides. */
interface RowSubject {
  readonly metric: SimulatedMetric;
  readonly attributes: NrqlAttributes;
}

/** A host, as far as its data is asked for. */
interface HostData {
  readonly host: SimulatedHost;
  readonly timesliceOf: (metric: SimulatedMetric) => Timeslice;
  readonly minutes: () => number;
}

class MetricRow implements NrqlRow {
  readonly #subject: RowSubject;
  readonly #data: HostData;
  #timeslice: Timeslice | undefined;

  constructor(subject: RowSubject, data: HostData) {
    this.#subject = subject;
    this.#data = data;
  }

  attribute(name: string): NrqlValue {
    if (name === 'host') return this.#data.host.name;
    const known = this.#subject.attributes.attribute(name);
    return known === undefined ? averageOf(this.timeslice()) : known;
  }

  timeslice(): Timeslice {
    this.#timeslice ??= this.#data.timesliceOf(this.#subject.metric);
    return this.#timeslice;
  }

  records(): number {
    return this.#data.minutes();
  }
}

/** The metric data of the account that a condition lets through, as far as it can be queried. */
export function* metricRows(
  window: MetricWindow,
  where: NrqlCondition | undefined,
  options: GraphqlSettings,
  { fleet, calls }: SimulatedAccount,
): Iterable<NrqlRow> {
  const verdict = where?.verdict ?? ((): boolean => true);
  for (const application of fleet.applications()) {
    // What the condition excludes as a whole costs nothing: accounts have many applications and hosts.
    if (verdict(attributesOf(application, options)) === false) continue;
    const subjects = metricsOf(application)
      .map((metric) => ({ metric, attributes: attributesOf(application, options, metric.name) }))
      .map((subject) => ({ subject, isMeant: verdict(subject.attributes) }))
      .filter(({ isMeant }) => isMeant !== false);
    if (subjects.length === 0) continue;
    for (const host of application.hosts.values()) {
      const data: HostData = {
        host,
        timesliceOf: hostTimeslices(calls, application, host, window),
        minutes: () => calls.liveMinutes(application, host, window.fromMs, window.toMs),
      };
      for (const { subject, isMeant } of subjects) {
        const row = new MetricRow(subject, data);
        if (isMeant === true || verdict(row) === true) yield row;
      }
    }
  }
}

/** What the account has data of. */
export const simulatedEventTypes: readonly string[] = [
  'Metric',
  'Transaction',
  'TransactionError',
  ...sampleTypes,
].toSorted();

/** A part of a timeslice in which all calls are alike. */
function partOf(slice: Timeslice, count: number): Timeslice {
  const share = slice.count === 0 ? 0 : count / slice.count;
  return {
    ...slice,
    count,
    total: slice.total * share,
    totalExclusive: slice.totalExclusive * share,
    sumOfSquares: slice.sumOfSquares * share,
  };
}

const types = [
  {
    transactionType: 'Web',
    metric: 'HttpDispatcher',
    errors: 'Errors/allWeb',
    prefix: 'WebTransaction/Controller',
  },
  {
    transactionType: 'Other',
    metric: 'OtherTransaction/all',
    errors: 'Errors/allOther',
    prefix: 'OtherTransaction/Job',
  },
] as const;

/**
 * The transactions of an application: one for each call of the timeslices in the same window, with the same
 * mean duration, and as many errors. Each row stands for those of a host that are alike.
 */
function* transactionsOf(
  application: SimulatedApplication,
  window: MetricWindow,
  options: GraphqlSettings,
  { calls }: SimulatedAccount,
): Iterable<NrqlRow> {
  const metrics = new Map(metricsOf(application).map((metric) => [metric.name, metric]));
  const names = Math.max(1, application.transactionNames);
  const rowOf = (slice: Timeslice, more: Readonly<Record<string, NrqlValue>>): NrqlRow => {
    const attributes = {
      ...more,
      transactionName: more['name'] ?? null,
      duration: averageOf(slice),
    };
    return {
      attribute: (name) =>
        applicationAttribute(application, name, options) ??
        own<NrqlValue>(attributes, name) ??
        null,
      timeslice: () => slice,
      records: () => slice.count,
    };
  };
  for (const host of application.hosts.values()) {
    const sliceOf = hostTimeslices(calls, application, host, window);
    for (const { transactionType, metric: name, errors, prefix } of types) {
      const [metric, errorMetric] = [metrics.get(name), metrics.get(errors)];
      if (metric === undefined) continue;
      const slice = sliceOf(metric);
      let failed = errorMetric === undefined ? 0 : sliceOf(errorMetric).count;
      for (let index = 0; index < names; index += 1) {
        const count = Math.floor((slice.count + index) / names);
        const bad = Math.min(failed, count);
        failed -= bad;
        const of = { host: host.name, transactionType, name: `${prefix}/${transactionAt(index)}` };
        const error = { error: 'true', 'error.class': 'java.lang.IllegalStateException' };
        if (bad > 0) yield rowOf(partOf(slice, bad), { ...of, ...error });
        if (count > bad) yield rowOf(partOf(slice, count - bad), { ...of, error: 'false' });
      }
    }
  }
}

/** Events of the account that a condition lets through; nothing of a type that it does not have. */
export function* eventRows(
  eventType: string,
  window: MetricWindow,
  where: NrqlCondition | undefined,
  options: GraphqlSettings,
  account: SimulatedAccount,
): Iterable<NrqlRow> {
  const verdict = where?.verdict ?? ((): boolean => true);
  const applications = account.fleet.applications();
  yield* samplesOf(eventType, window, applications, options.accountId).filter(
    (row) => verdict(row) === true,
  );
  if (eventType !== 'Transaction' && eventType !== 'TransactionError') return;
  for (const application of applications) {
    // What the condition excludes as a whole costs nothing.
    const known = { attribute: (name: string) => applicationAttribute(application, name, options) };
    if (verdict(known) === false) continue;
    for (const row of transactionsOf(application, window, options, account)) {
      const isOfType = eventType === 'Transaction' || row.attribute('error') === 'true';
      if (isOfType && verdict(row) === true) yield row;
    }
  }
}
