import type { CallCounter } from './call-counter.ts';
import { entityGuidOf } from './entity-guid.ts';
import type { Fleet } from './fleet.ts';
import { metricsOf, type SimulatedMetric } from './metric-catalogue.ts';
import { type NrqlAttributes, type NrqlVerdict, verdictOf } from './nrql-conditions.ts';
import type { NrqlCondition, NrqlValue } from './nrql-query.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';
import { averageOf, type Timeslice } from './timeslice.ts';
import type { MetricWindow, Timeslices } from './timeslices.ts';

/** The data of one metric of one host in the window of a query. */
export interface NrqlRow {
  attribute(name: string): NrqlValue;
  timeslice(): Timeslice;
  /** How many records it stands for: one for each minute in which the host ran. */
  records(): number;
}

export interface NrqlRowOptions {
  readonly accountId: number;
  /** Of which type the attribute `appId` is. */
  readonly appIds: 'string' | 'number';
}

export interface NrqlWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The metric data of the account that a condition lets through, as far as it can be queried. */
export type NrqlRows = (window: NrqlWindow, where: NrqlCondition | undefined) => Iterable<NrqlRow>;

/**
 * The vendor keeps long ranges in coarse steps only. Beyond this length the calls of a host are its
 * mean rate times its minutes: counting a day minute by minute would take seconds.
 */
const finestRangeMs = 6 * 3_600_000;

export interface NrqlRowDependencies {
  readonly fleet: Fleet;
  readonly calls: CallCounter;
  readonly timeslices: Timeslices;
}

/** The hosts of an application, as far as their data is asked for. */
interface HostData {
  readonly host: SimulatedHost;
  readonly timesliceOf: (metric: SimulatedMetric) => Timeslice;
  readonly minutes: () => number;
}

/** What is known of an application before one looks at its metrics and hosts. */
class ApplicationAttributes implements NrqlAttributes {
  readonly #application: SimulatedApplication;
  readonly #options: NrqlRowOptions;

  constructor(application: SimulatedApplication, options: NrqlRowOptions) {
    this.#application = application;
    this.#options = options;
  }

  attribute(name: string): NrqlValue | undefined {
    switch (name) {
      case 'appId': {
        const { id } = this.#application;
        return this.#options.appIds === 'number' ? id : String(id);
      }
      case 'appName':
        return this.#application.name;
      case 'entity.guid':
        return entityGuidOf(this.#options.accountId, this.#application);
      case 'metricTimesliceName':
      case 'host':
      case 'newrelic.timeslice.value':
        return undefined;
      default:
        return null;
    }
  }
}

/** A metric of an application; its attributes but those that only the host decides. */
class Subject implements NrqlAttributes {
  readonly metric: SimulatedMetric;
  readonly #application: NrqlAttributes;

  constructor(metric: SimulatedMetric, application: NrqlAttributes) {
    this.metric = metric;
    this.#application = application;
  }

  attribute(name: string): NrqlValue | undefined {
    return name === 'metricTimesliceName' ? this.metric.name : this.#application.attribute(name);
  }
}

class Row implements NrqlRow {
  readonly #subject: Subject;
  readonly #data: HostData;
  #timeslice: Timeslice | undefined;

  constructor(subject: Subject, data: HostData) {
    this.#subject = subject;
    this.#data = data;
  }

  attribute(name: string): NrqlValue {
    if (name === 'host') return this.#data.host.name;
    const known = this.#subject.attribute(name);
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

export function createNrqlRows(
  options: NrqlRowOptions,
  dependencies: NrqlRowDependencies,
): NrqlRows {
  const { fleet, calls, timeslices } = dependencies;

  function* rowsOf(
    application: SimulatedApplication,
    window: MetricWindow,
    verdict: (row: NrqlAttributes) => NrqlVerdict,
  ): Iterable<NrqlRow> {
    // What the condition excludes as a whole costs nothing: accounts have many applications and hosts.
    const attributes = new ApplicationAttributes(application, options);
    if (verdict(attributes) === false) return;
    const subjects = metricsOf(application)
      .map((metric) => new Subject(metric, attributes))
      .map((subject) => ({ subject, isMeant: verdict(subject) }))
      .filter(({ isMeant }) => isMeant !== false);
    if (subjects.length === 0) return;
    for (const host of application.hosts.values()) {
      const data: HostData = {
        host,
        timesliceOf: timeslices.ofHost(application, host, window),
        minutes: () => calls.liveMinutes(application, host, window.fromMs, window.toMs),
      };
      for (const { subject, isMeant } of subjects) {
        const row = new Row(subject, data);
        if (isMeant === true || verdict(row) === true) yield row;
      }
    }
  }

  return function* rows({ fromMs, toMs }, where) {
    const verdict = where === undefined ? () => true : verdictOf(where);
    const window = { fromMs, toMs, coarse: toMs - fromMs > finestRangeMs };
    for (const application of fleet.applications()) yield* rowsOf(application, window, verdict);
  };
}
