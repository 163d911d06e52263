import type { FailureReason } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { AppSnapshot } from '../model/snapshot.ts';
import type { AppState } from './app-state.ts';

/** What to publish. Of a stale discovery only the identity of the application remains. */
export function snapshotOf(
  account: string,
  state: AppState,
  isDiscoveryStale: boolean,
): AppSnapshot {
  const { application, entry } = state.selected;
  return {
    account,
    application: isDiscoveryStale ? identityOf(application) : application,
    labels: entry.labels,
    hostsOnly: !entry.application,
    hostNames: state.hostNames.names,
    reading: state.reading,
    pollSucceeded: state.pollSucceeded,
    failureReason: failureReasonOf(state),
    lastSuccessMs: state.lastSuccessMs,
  };
}

/** Of a poll that hangs, no outcome says why. */
function failureReasonOf({ pollSucceeded, failure }: AppState): FailureReason | undefined {
  return pollSucceeded === false ? (failure?.reason ?? 'timeout') : undefined;
}

function identityOf({ id, name, language }: Application): Application {
  return {
    id,
    name,
    language,
    healthStatus: undefined,
    reporting: undefined,
    lastReportedAtMs: undefined,
    summary: undefined,
    hostIds: undefined,
    instances: undefined,
  };
}
