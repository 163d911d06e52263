import type { MissingMetric } from '../../src/model/telemetry.ts';
import type { MirroredStatus } from '../../src/telemetry/status-metrics.ts';

export const missingMetric: MissingMetric = {
  selector: 'match=^checkout',
  name: 'queue_depth',
  metric: 'Custom/Queue/Depth',
  value: 'average_value',
};

export function anAccountStatus(changes: Partial<MirroredStatus> = {}): MirroredStatus {
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
    staleAfterSeconds: 900,
    backoffUntilMs: undefined,
    missingSelectors: [],
    missingMetrics: [],
    listedApplications: 316,
    lastDiscoveryMs: 1_700_000_000_500,
    key: {
      location: 'file api-key',
      problem: undefined,
      sinceMs: 1_690_000_000_000,
      readMs: 1_690_000_000_250,
    },
    ...changes,
  };
}
