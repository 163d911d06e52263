import { describe, expect, it } from 'vitest';
import type { SimulatorOptions } from '../../../src/simulator/simulator-options.ts';
import { eachAfter, slow } from '../../support/slow.ts';
import {
  accountOf,
  type BackfillRun,
  backfilled,
  stopAt,
  temporaryDirectory,
} from './backfill-bench.ts';

const presets = 'throughput, response_time, errors, apdex, database, external, memory, cpu';
const apps = (metrics: string): string =>
  `${accountOf('nerdgraph')}poll: { metrics: [${metrics}] }\napps: [{ match: "." }]\n`;
const queries = (...all: readonly string[]): string =>
  `${accountOf('nerdgraph')}queries:\n${all.map((nrql, index) => `  - { as: gauge_${index}, nrql: "${nrql}" }\n`).join('')}`;
const vendor = (
  fleet: SimulatorOptions['fleet'],
  graphql: SimulatorOptions['graphql'] = {},
): SimulatorOptions => ({ fleet, graphql, ingestDelayMs: 0 });

const to = '--to=2026-09-01T08:00:00Z';
const tenHours = ['--from=2026-08-31T22:00:00Z', to];
const twoDays = ['--from=2026-08-30T08:00:00Z', to, '--step=5m'];
const fortyDays = ['--from=2026-07-23T08:00:00Z', to, '--step=5m'];
const idle = Array.from({ length: 5 }, () => ({ kind: 'web', webRpm: 0, hosts: 2 }) as const);

interface Estimated extends BackfillRun {
  readonly what: string;
  readonly mostCalls?: number;
}

const runs: readonly Estimated[] = [
  {
    what: 'applications of which most are idle',
    file: apps(presets),
    options: vendor({ applications: [{ kind: 'both', hosts: 2 }, ...idle] }),
    flags: [...tenHours, '--step=5m'],
  },
  {
    what: 'hosts that come and go',
    file: apps('throughput, errors'),
    options: vendor({ applications: 2, hosts: 8, churnPerHour: 4 }),
    flags: twoDays,
  },
  {
    what: 'errors, which are rare',
    file: apps('errors'),
    options: vendor({ applications: [{ kind: 'web', webRpm: 5, hosts: 3 }] }),
    flags: tenHours,
  },
  {
    what: 'a query with few groups and a high LIMIT',
    file: queries('SELECT count(*) FROM Transaction FACET appName LIMIT MAX'),
    options: vendor({ applications: 2, hosts: 4 }),
    flags: tenHours,
    mostCalls: 4,
  },
  {
    what: 'a query with more groups than its LIMIT',
    file: queries('SELECT max(duration) FROM Transaction FACET host LIMIT 3'),
    options: vendor({ applications: 3, hosts: 12 }),
    flags: tenHours,
    mostCalls: 6,
  },
  {
    what: 'a query whose groups have something now and then',
    file: queries('SELECT count(*) FROM TransactionError FACET host LIMIT 3'),
    options: vendor({ applications: [{ kind: 'web', webRpm: 3, hosts: 5 }] }),
    flags: tenHours,
  },
  {
    what: 'queries without groups, and of percentiles',
    file: queries(
      'SELECT count(*) FROM Transaction',
      'SELECT percentile(duration, 50, 95) FROM Transaction FACET appName LIMIT 20',
    ),
    options: vendor({ applications: 3, hosts: 4 }),
    flags: tenHours,
  },
  {
    what: 'a past of which most is by the hour',
    file: apps('throughput, response_time'),
    options: vendor({ applications: 2, hosts: 3 }),
    flags: fortyDays,
  },
  {
    what: 'a vendor that answers a few windows at a time',
    file: apps('throughput, apdex'),
    options: vendor({ applications: 5, hosts: 12 }, { rowsPerSecond: 15 }),
    flags: tenHours,
  },
  {
    what: 'ten minutes',
    file: apps(presets),
    options: vendor({ applications: 3, hosts: 4 }),
    flags: ['--from=2026-09-01T07:50:00Z', to],
  },
];

/** What the text says that comes. */
function estimateIn(text: string) {
  const said = text.replaceAll(/(?<=\d),(?=\d)/gu, '');
  const [, samples, megabytes] = /^about (\d+) samples, ([\d.]+) MB$/mu.exec(said) ?? [];
  return {
    calls: Number(/^calls: (\d+)/mu.exec(said)?.[1]),
    minutes: Number(/^minutes: (\d+)$/mu.exec(said)?.[1]),
    samples: Number(samples),
    megabytes: Number(megabytes),
  };
}

describe('the estimate of a backfill', () => {
  eachAfter(1, runs)(
    'is within a factor of two of what comes: $what',
    async ({ mostCalls = Infinity, ...run }) => {
      const { exitCode, stderr, output = '', calls, elapsedMs } = await backfilled(run);
      const samples = output.split('\n').filter((line) => /^\w/u.test(line)).length;
      const said = estimateIn(stderr);
      const real = { calls, samples, megabytes: Buffer.byteLength(output) / 1e6 };

      expect(exitCode).toBe(0);
      expect(calls).toBeLessThanOrEqual(mostCalls);
      expect(samples).toBeGreaterThan(100);
      for (const one of ['calls', 'samples', 'megabytes'] as const) {
        expect(said[one]).toBeGreaterThanOrEqual(real[one] / 2);
        expect(said[one]).toBeLessThanOrEqual(real[one] * 2);
      }
      // Whole minutes, and the budget of the first is there at the start.
      expect(said.minutes).toBeLessThanOrEqual((2 * elapsedMs) / 60_000 + 1);
      expect(said.minutes).toBeGreaterThanOrEqual((elapsedMs / 60_000 - 1) / 2);
    },
  );

  const paced = (key: string, budget: number): string =>
    `accounts:\n${['one', 'two'].map((name) => `  - { name: ${name}, base_url: "http://127.0.0.1", api_key_env: ${name === 'one' ? 'KEY' : key}, account_id: 1234567, source: nerdgraph, requests_per_minute: ${budget} }\n`).join('')}apps: [{ match: ".", account: one }, { match: ".", account: two }]\npoll: { metrics: [throughput] }\n`;
  const small = { options: vendor({ applications: 2, hosts: 3 }), flags: tenHours };

  it(
    'is of minutes of the account that takes longest, of those with one key all together',
    slow,
    async () => {
      const run = { ...small, flags: twoDays };
      const apart = await backfilled({ ...run, file: paced('NEW_RELIC_API_KEY', 4) });
      const together = await backfilled({ ...run, file: paced('KEY', 4) });

      expect(together.calls).toBe(apart.calls);
      expect(estimateIn(together.stderr).minutes).toBe(2 * estimateIn(apart.stderr).minutes);
    },
  );

  it(
    'says when it would be more than New Relic allows, beside a running exporter',
    slow,
    async () => {
      const [usual, all] = await Promise.all(
        [2400, 2401].map(async (budget) => backfilled({ ...small, file: paced('KEY', budget) })),
      );

      expect(usual?.stderr).not.toContain('--budget');
      expect(all?.stderr).toContain(
        'account one: with a running exporter it may make 3001 calls a minute, and New Relic allows 3000: choose a smaller --budget',
      );
    },
  );

  it('is of the plan when a run goes on, without a call', slow, async () => {
    const directory = await temporaryDirectory();
    const run = { ...small, file: apps('throughput, errors'), directory };
    const first = await backfilled({
      ...run,
      beforeCall: stopAt(5),
    });
    const next = await backfilled(run);
    const { calls, ...whole } = estimateIn(first.stderr);

    expect(estimateIn(next.stderr)).toEqual({ ...whole, calls });
    expect(next.stderr).toMatch(/^calls: \d+, 2 of them done$/mu);
    expect(first.calls + next.calls).toBeLessThanOrEqual(calls + 2);
  });
});
