import type { Flags } from '../../src/cli/flag-table.ts';

/** The values of the flags of `simulate`, and of the faults of `demo`, when nothing is said. */
export const simulateDefaults: Pick<
  Flags,
  | 'demoFaults'
  | 'simulateApplications'
  | 'simulateHosts'
  | 'simulateChurnPerHour'
  | 'simulateQuota'
  | 'simulateLatencyMs'
  | 'simulatePort'
  | 'simulateFaults'
> = {
  demoFaults: [],
  simulateApplications: 12,
  simulateHosts: 48,
  simulateChurnPerHour: 0,
  simulateQuota: 1000,
  simulateLatencyMs: 100,
  simulatePort: 19_126,
  simulateFaults: [],
};
