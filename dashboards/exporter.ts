import type { DashboardOptions } from './dashboard.ts';
import { exporterAccounts } from './exporter-accounts.ts';
import { exporterCalls } from './exporter-calls.ts';
import { exporterPolls } from './exporter-polls.ts';
import { exporterProcess } from './exporter-process.ts';
import { exporterState } from './exporter-state.ts';
import { ofAccount } from './selectors.ts';
import { troubleRow } from './trouble.ts';
import { exporterVariables } from './variables.ts';

export const exporter: DashboardOptions = {
  name: 'exporter',
  title: 'New Relic / Exporter',
  description:
    'The exporter itself: its calls and their budget, its polls, its series, its process.',
  variables: exporterVariables,
  rows: [
    troubleRow(ofAccount, 'exporter'),
    exporterState,
    exporterAccounts,
    exporterCalls,
    exporterPolls,
    exporterProcess,
  ],
};
