import type { Flags } from '../../src/cli/flag-table.ts';

/** The values of the flags of `simulate` and `demo` when nothing is said. */
export const simulateDefaults: Pick<
  Flags,
  | 'demoApplications'
  | 'demoHosts'
  | 'demoSource'
  | 'demoPort'
  | 'demoFaults'
  | 'simulateApplications'
  | 'simulateHosts'
  | 'simulateChurnPerHour'
  | 'simulateQuota'
  | 'simulateLatencyMs'
  | 'simulatePort'
  | 'simulateFaults'
> = {
  demoApplications: 12,
  demoHosts: 48,
  demoSource: 'rest',
  demoPort: 0,
  demoFaults: '',
  simulateApplications: 12,
  simulateHosts: 48,
  simulateChurnPerHour: 0,
  simulateQuota: 1000,
  simulateLatencyMs: 100,
  simulatePort: 19_126,
  simulateFaults: '',
};
