import { spawnSync } from 'node:child_process';
import type { AccountDetails } from '../../src/model/status.ts';
import { createSelfMetrics, type SelfMetrics } from '../../src/publish/self-metrics.ts';
import { type Tool, toolOrSkip } from '../support/tools.ts';
import { anAccountStatus } from './account-status.ts';

interface Fixture {
  readonly metrics: SelfMetrics;
  readonly setStatus: (statuses: readonly AccountDetails[]) => void;
}

/** Self-metrics of accounts that are in the given states. */
export function aFixture(initial: readonly AccountDetails[] = [anAccountStatus()]): Fixture {
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

/** The value of a series, which is written exactly as in the exposition; `undefined` if absent. */
export function valueOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** All series of one metric, without their values. */
export function seriesOf(text: string, metric: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .map((line) => line.slice(0, line.lastIndexOf(' ')));
}

export const promtool: Tool = toolOrSkip('promtool');

/** What `promtool check metrics` complains about: empty if all is well. */
export function complaintsOfPromtool(text: string): string {
  const result = spawnSync(promtool.path, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  if (result.error !== undefined) throw result.error;
  return `${result.stdout}${result.stderr}`.trim();
}
