import { cpSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Intercept } from '../../../src/simulator/simulator-options.ts';
import { slow } from '../../support/slow.ts';
import {
  accountOf,
  type BackfillRun,
  backfilled,
  pageAt,
  pageOf,
  temporaryDirectory,
} from './backfill-bench.ts';

const secondsAt = (time: string): number => Date.parse(`2026-09-01T${time}:00Z`) / 1000;

interface Metric {
  /** From when to when it has calls, and a sum of 0. Outside of that it has nothing. */
  readonly calls: readonly [from: string, to: string];
  /** From when on the agent sends its heartbeat. */
  readonly live?: string;
}

/** New Relic with such a metric. What is about one window is about one with calls. */
function having({ calls: [from, to], live = '00:00' }: Metric): Intercept {
  return () => (answer) => ({
    ...answer,
    body: JSON.stringify(JSON.parse(answer.body), (_, value: unknown): unknown => {
      const row: Readonly<Record<string, unknown>> = Object(value);
      if (!('c1' in row)) return value;
      const end = Number(row['endTimeSeconds'] ?? secondsAt(from));
      const hasCalls = secondsAt(from) <= end && end < secondsAt(to);
      return {
        ...row,
        c1: hasCalls ? 50 : null,
        c2: hasCalls ? 0 : null,
        live: Number(end >= secondsAt(live)),
      };
    }),
  });
}

const gauges = ['newrelic_q', 'newrelic_q_calls', 'host_newrelic_q', 'host_newrelic_q_calls'];

/** Ten hours by the minute: two slices of an application, and two of its host. */
function runWith(metric: Metric): BackfillRun & { readonly options: object } {
  return {
    file: `${accountOf('nerdgraph')}poll: { delay: 0s, metrics: [{ metric: Custom/Queue/Depth, value: call_count, as: newrelic_q_calls }, { metric: Custom/Queue/Depth, value: total_value, as: newrelic_q }] }
apps: [{ match: "." }]\n`,
    options: {
      fleet: { applications: 1, hosts: 1 },
      ingestDelayMs: 0,
      intercept: having(metric),
    },
    flags: ['--from=2026-09-01T00:00:00Z', '--to=2026-09-01T10:00:00Z'],
  };
}

/** Runs of equal values of a gauge: how many samples, of which value, and the time of the first. */
function valuesOf(output: string | undefined, gauge: string): readonly string[] {
  const samples = [
    ...(output ?? '').matchAll(new RegExp(`^${gauge}\\{.*\\} (\\S+) (\\d+)$`, 'gmu')),
  ];
  const runs: { value: string | undefined; count: number; from: string }[] = [];
  for (const [, value, time] of samples) {
    const last = runs.at(-1);
    if (last !== undefined && last.value === value) last.count += 1;
    else
      runs.push({
        value,
        count: 1,
        from: new Date(Number(time) * 1000).toISOString().slice(11, 16),
      });
  }
  return runs.map(({ value, count, from }) => `${count} x ${value} from ${from}`);
}

describe('amounts of nothing, of an application and of its host', () => {
  it.each<{ what: string; metric: Metric; calls: readonly string[]; sums: readonly string[] }>([
    {
      what: 'are 0 beside other values of the metric, and after them',
      metric: { calls: ['02:00', '03:00'] },
      calls: ['60 x 50 from 02:00', '421 x 0 from 03:00'],
      sums: ['481 x 0 from 02:00'],
    },
    {
      what: 'are none before the first value, in whatever slice that is',
      metric: { calls: ['08:00', '09:00'] },
      calls: ['60 x 50 from 08:00', '61 x 0 from 09:00'],
      sums: ['121 x 0 from 08:00'],
    },
    {
      what: 'are none without a heartbeat, and 0 once there is one again',
      metric: { calls: ['02:00', '03:00'], live: '09:00' },
      calls: ['60 x 50 from 02:00', '61 x 0 from 09:00'],
      sums: ['61 x 0 from 09:00'],
    },
    {
      what: 'are none of what has never had any',
      metric: { calls: ['00:00', '00:00'] },
      calls: [],
      sums: [],
    },
  ])('$what', async ({ metric, calls, sums }) => {
    const { output, exitCode } = await backfilled(runWith(metric));

    expect(exitCode).toBe(0);
    expect(gauges.map((gauge) => valuesOf(output, gauge))).toEqual([sums, calls, sums, calls]);
  });

  it('are there where once shows them', async () => {
    const run = runWith({ calls: ['02:00', '03:00'] });
    const { output } = await backfilled(run);
    const page = await pageOf(run.file, run.options, '2026-09-01T02:00:00Z');

    expect(page.filter((line) => gauges.includes(line.split('{')[0] ?? ''))).toEqual(
      pageAt(output, '2026-09-01T02:00:00Z'),
    );
    expect(pageAt(output, '2026-09-01T02:00:00Z').length).toBe(4);
  });

  it('are the same in whatever order the slices come', slow, async () => {
    const directory = await temporaryDirectory();
    const [output, parts] = [join(directory, 'past.om'), join(directory, 'past.om.parts')];
    const run = runWith({ calls: ['02:00', '03:00'] });
    // All parts stay where the output cannot be put into place.
    const beforeCall = (call: number): void => {
      if (call === 5) writeFileSync(output, 'of somebody else');
    };
    const { exitCode, calls } = await backfilled({ ...run, directory, beforeCall });
    await rm(output);
    const names = (await readdir(parts)).filter((name) => name.endsWith('.part'));
    const whole = await backfilled(run);

    expect([exitCode, calls, names.length]).toEqual([2, 5, 4]);
    for (const name of names) {
      const other = await temporaryDirectory();
      cpSync(directory, other, { recursive: true });
      await rm(join(other, 'past.om.parts', name));
      const next = await backfilled({ ...run, directory: other });

      expect({ calls: next.calls, output: next.output }).toEqual({
        calls: 1,
        output: whole.output,
      });
    }
  });
});
