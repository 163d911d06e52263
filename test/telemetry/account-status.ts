import type { AccountStatus } from '../../src/model/telemetry.ts';

export function anAccountStatus(changes: Partial<AccountStatus> = {}): AccountStatus {
  return {
    name: 'production',
    up: true,
    error: undefined,
    firstCycleEnded: true,
    applications: 3,
    hosts: 12,
    polledApplications: 3,
    requestsInFlight: 2,
    budgetRequestsPerMinute: 800,
    demandRequestsPerMinute: 16,
    pollIntervalSeconds: 60,
    backoffUntilMs: undefined,
    missingSelectors: [],
    ...changes,
  };
}
