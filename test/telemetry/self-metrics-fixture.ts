import { createSelfMetrics, type SelfMetrics } from '../../src/telemetry/self-metrics.ts';
import type { MirroredStatus } from '../../src/telemetry/status-metrics.ts';
import { anAccountStatus } from './account-status.ts';

interface Fixture {
  readonly metrics: SelfMetrics;
  readonly setStatus: (statuses: readonly MirroredStatus[]) => void;
}

/** Self-metrics of accounts that are in the given states. */
export function aFixture(initial: readonly MirroredStatus[] = [anAccountStatus()]): Fixture {
  let statuses = initial;
  const metrics = createSelfMetrics(
    { version: '1.2.3', revision: 'abc1234', nodeVersion: 'v24.0.0' },
    {
      status: () => statuses,
      seriesOf: (account) => account.length,
      droppedSeriesOf: (account) => account.length * 2,
      nextTurn: async () => undefined,
    },
  );
  return {
    metrics,
    setStatus: (changed) => {
      statuses = changed;
    },
  };
}

/** The prefix of the exporter's own names. */
export const prefix = 'newrelic_exporter_';
