import type { MissingMetric } from '../model/missing-metric.ts';
import type { ChangeLog, ChangeLogOptions, StateChange, StateLines } from './change-log.ts';

/** Tells which metrics have no value of any application of their entry. */
export interface MetricLog {
  /** @param isMissing whether they turn out to be missing, or have a value after all */
  readonly write: (metrics: readonly MissingMetric[], isMissing: boolean) => void;
  /** Writes what was only counted so far, and leaves no timer. */
  stop(): void;
}

/** A preset may have several, and a configuration may name any. */
const longestMetric = 256;
export const boundsOfMetrics: Omit<ChangeLogOptions, 'account'> = {
  // The status page and `newrelic_exporter_metric_missing` show the others.
  burst: { inFull: 10, countField: 'metrics' },
};
const metricLines: StateLines = {
  level: 'warn',
  fails: ['metric never has a value', 'more metrics never have a value'],
  works: ['metric has a value after all', 'more metrics have a value after all'],
  remedy:
    'see how the metric is spelt with "newrelic-exporter metrics"; if it is right, the agents do not send it: leave it out',
};

/** @param log a log within `boundsOfMetrics` */
export function createMetricLog(log: ChangeLog): MetricLog {
  return {
    write: (metrics, isMissing) => {
      log.write(metricChanges(metrics, isMissing));
    },
    stop: () => {
      log.stop();
    },
  };
}

function* metricChanges(
  metrics: readonly MissingMetric[],
  isMissing: boolean,
): Generator<StateChange> {
  const states = { before: { isFailing: !isMissing }, after: { isFailing: isMissing } };
  for (const { selector, name, metric, value } of metrics) {
    const fields = { selector, name, metric: metric.slice(0, longestMetric), value };
    const id = JSON.stringify([selector, name, metric, value]);
    yield { id, name, lines: metricLines, ...states, fields };
  }
}
