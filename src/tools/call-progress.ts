import { countOf } from '../cli/one-shot.ts';
import type { Progress } from '../model/progress.ts';
import type { ApiObserver, Operation } from '../model/telemetry.ts';

const wordsFor: Readonly<Record<Operation, string>> = {
  list_applications: 'the list of applications',
  list_hosts: 'the names of hosts',
  list_metrics: 'the names of metrics',
  application_metrics: 'the values of applications',
  host_metrics: 'the values of hosts',
};

interface ObservingMetrics {
  readonly apiObserver: (account: string) => ApiObserver;
}

/** Metrics that count as before, and show each call to New Relic as progress. */
export function withCallProgress<Metrics extends ObservingMetrics>(
  metrics: Metrics,
  progress: Progress,
): Metrics {
  let answered = 0;
  const apiObserver = (account: string): ApiObserver => {
    const observer = metrics.apiObserver(account);
    return {
      ...observer,
      started: (operation) => {
        progress.show(
          () =>
            `asking New Relic for ${wordsFor[operation]} of account ${account}, ${countOf(answered, 'answer')} so far`,
        );
        observer.started(operation);
      },
      ended: (operation, code, durationSeconds) => {
        answered += 1;
        observer.ended(operation, code, durationSeconds);
      },
    };
  };
  return { ...metrics, apiObserver };
}
