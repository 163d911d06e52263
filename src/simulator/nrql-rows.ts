import type { CallCounter } from './call-counter.ts';
import { entityGuidOf } from './entity-guid.ts';
import type { Fleet } from './fleet.ts';
import {
  type MetricName,
  metricNames,
  type SimulatedApplication,
  type SimulatedHost,
} from './simulated-application.ts';

/** The metric that each host of a reporting application sends every minute. */
const heartbeatName = 'Agent/MetricsReported/count';

const allNames = [...metricNames, heartbeatName] as const;

type TimesliceName = MetricName | typeof heartbeatName;

/** `null` for an attribute that the row does not have. */
export type NrqlValue = string | number | null;

/** The data of one metric of one host in the window of a query. */
export interface NrqlRow {
  attribute(name: string): NrqlValue;
  /** The calls; for the heartbeat, the minutes. */
  calls(): number;
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

/** The metric data of the account, as far as it can be queried. */
export type NrqlRows = (window: NrqlWindow) => Iterable<NrqlRow>;

/**
 * The vendor keeps long ranges in coarse steps only. Beyond this length the calls of a host are its
 * mean rate times its minutes: counting a day minute by minute would take seconds.
 */
const finestRangeMs = 6 * 3_600_000;

/** Counted once, whatever is asked of a row. */
function once(count: () => number): () => number {
  let known: number | undefined;
  return () => {
    known ??= count();
    return known;
  };
}

export function createNrqlRows(
  options: NrqlRowOptions,
  dependencies: { readonly fleet: Fleet; readonly calls: CallCounter },
): NrqlRows {
  const { fleet, calls } = dependencies;

  const rowOf = (
    application: SimulatedApplication,
    host: SimulatedHost,
    name: TimesliceName,
    { fromMs, toMs }: NrqlWindow,
  ): NrqlRow => {
    const records = once(() => calls.liveMinutes(application, host, fromMs, toMs));
    const count = (metric: MetricName): number => {
      if (toMs - fromMs <= finestRangeMs) {
        return calls.count(application, host, metric, fromMs, toMs);
      }
      const rate = (application.ratesPerMinute[metric] * host.weight) / application.totalWeight;
      return Math.floor(rate * records());
    };
    return {
      attribute: (attribute) => {
        switch (attribute) {
          case 'appId':
            return options.appIds === 'number' ? application.id : String(application.id);
          case 'appName':
            return application.name;
          case 'host':
            return host.name;
          case 'metricTimesliceName':
            return name;
          case 'entity.guid':
            return entityGuidOf(options.accountId, application);
          case 'newrelic.timeslice.value':
            return application.responseTimeMs / 1000;
          default:
            return null;
        }
      },
      calls: name === heartbeatName ? records : once(() => count(name)),
      records,
    };
  };

  return function* rows(window) {
    for (const application of fleet.applications()) {
      for (const host of application.hosts.values()) {
        for (const name of allNames) yield rowOf(application, host, name, window);
      }
    }
  };
}
