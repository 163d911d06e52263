import { entityGuidOf } from './entity-guid.ts';
import { metricsOf, transactionAt } from './metric-catalogue.ts';
import { predicateOf, verdictOf } from './nrql-conditions.ts';
import type { NrqlCondition, NrqlValue } from './nrql-query.ts';
import type { NrqlRow, NrqlRowDependencies, NrqlRowOptions, NrqlWindow } from './nrql-rows.ts';
import { samplesOf, sampleTypes } from './nrql-samples.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';
import { averageOf, type Timeslice } from './timeslice.ts';

/** Events of the account that a condition lets through; nothing of a type that it does not have. */
export type NrqlEvents = (
  eventType: string,
  window: NrqlWindow,
  where: NrqlCondition | undefined,
) => Iterable<NrqlRow>;

/** What the account has data of. */
export const simulatedEventTypes: readonly string[] = [
  'Metric',
  'Transaction',
  'TransactionError',
  ...sampleTypes,
].toSorted();

/** Transactions that are alike, as many as `count` says. */
interface Alike {
  readonly application: SimulatedApplication;
  readonly host: SimulatedHost;
  readonly type: 'Web' | 'Other';
  readonly name: string;
  readonly isError: boolean;
  /** Of their durations: those of a host are all about the same mean. */
  readonly slice: Timeslice;
}

/** What the application alone decides; `undefined` for all other attributes. */
function ownAttribute(
  application: SimulatedApplication,
  name: string,
  { appIds, accountId }: NrqlRowOptions,
): NrqlValue | undefined {
  switch (name) {
    case 'appName':
      return application.name;
    case 'appId':
      return appIds === 'number' ? application.id : String(application.id);
    case 'entity.guid':
      return entityGuidOf(accountId, application);
    default:
      return undefined;
  }
}

class EventRow implements NrqlRow {
  readonly #of: Alike;
  readonly #options: NrqlRowOptions;

  constructor(of: Alike, options: NrqlRowOptions) {
    this.#of = of;
    this.#options = options;
  }

  attribute(name: string): NrqlValue {
    const { application, host, type, isError } = this.#of;
    const own = ownAttribute(application, name, this.#options);
    if (own !== undefined) return own;
    switch (name) {
      case 'host':
        return host.name;
      case 'name':
      case 'transactionName':
        return this.#of.name;
      case 'transactionType':
        return type;
      case 'duration':
        return averageOf(this.#of.slice);
      case 'error':
        return String(isError);
      case 'error.class':
        return isError ? 'java.lang.IllegalStateException' : null;
      default:
        return null;
    }
  }

  timeslice(): Timeslice {
    return this.#of.slice;
  }

  records(): number {
    return this.#of.slice.count;
  }
}

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
    type: 'Web',
    metric: 'HttpDispatcher',
    errors: 'Errors/allWeb',
    prefix: 'WebTransaction/Controller',
  },
  {
    type: 'Other',
    metric: 'OtherTransaction/all',
    errors: 'Errors/allOther',
    prefix: 'OtherTransaction/Job',
  },
] as const;

/**
 * The samples, and `Transaction` and `TransactionError`: one transaction for each call of the timeslices in the same window,
 * with the same mean duration, and as many errors.
 */
export function createNrqlEvents(
  options: NrqlRowOptions,
  { fleet, timeslices }: Pick<NrqlRowDependencies, 'fleet' | 'timeslices'>,
): NrqlEvents {
  function* transactionsOf(application: SimulatedApplication, window: NrqlWindow): Iterable<Alike> {
    const metrics = new Map(metricsOf(application).map((metric) => [metric.name, metric]));
    const names = Math.max(1, application.transactionNames);
    for (const host of application.hosts.values()) {
      const sliceOf = timeslices.ofHost(application, host, window);
      for (const { type, metric: name, errors, prefix } of types) {
        const [metric, errorMetric] = [metrics.get(name), metrics.get(errors)];
        if (metric === undefined) continue;
        const slice = sliceOf(metric);
        let failed = errorMetric === undefined ? 0 : sliceOf(errorMetric).count;
        for (let index = 0; index < names; index += 1) {
          const count = Math.floor((slice.count + index) / names);
          const bad = Math.min(failed, count);
          failed -= bad;
          const of = { application, host, type, name: `${prefix}/${transactionAt(index)}` };
          if (bad > 0) yield { ...of, isError: true, slice: partOf(slice, bad) };
          if (count > bad) yield { ...of, isError: false, slice: partOf(slice, count - bad) };
        }
      }
    }
  }

  return function* events(eventType, window, where) {
    const isMeant = where === undefined ? () => true : predicateOf(where);
    if (eventType !== 'Transaction' && eventType !== 'TransactionError') {
      yield* samplesOf(eventType, window, fleet.applications()).filter(isMeant);
      return;
    }
    const verdict = where === undefined ? () => true : verdictOf(where);
    for (const application of fleet.applications()) {
      // What the condition excludes as a whole costs nothing.
      const own = { attribute: (name: string) => ownAttribute(application, name, options) };
      if (verdict(own) === false) continue;
      for (const alike of transactionsOf(application, window)) {
        if (eventType === 'TransactionError' && !alike.isError) continue;
        const row = new EventRow(alike, options);
        if (isMeant(row)) yield row;
      }
    }
  };
}
