import type { AccountDetails } from '../../src/model/status.ts';
import type { MissingMetric } from '../../src/model/telemetry.ts';
import { anAccountDetails } from '../support/status-source.ts';

export const missingMetric: MissingMetric = {
  selector: 'match=^checkout',
  name: 'queue_depth',
  metric: 'Custom/Queue/Depth',
  value: 'average_value',
};

export function anAccountStatus(changes: Partial<AccountDetails> = {}): AccountDetails {
  return anAccountDetails({
    demandRequestsPerMinute: 16,
    lastDiscoveryMs: 1_700_000_000_500,
    key: {
      location: 'file api-key',
      problem: undefined,
      sinceMs: 1_690_000_000_000,
      readMs: 1_690_000_000_250,
    },
    ...changes,
  });
}
