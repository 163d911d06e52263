import { expect, it } from 'vitest';
import { queryConfig } from '../support/query-daemon.ts';
import { aRunningDaemon } from '../support/running-daemon.ts';
import { slow } from '../support/slow.ts';

it(
  '11.2 an answer is taken in when it has arrived, although the budget of the minute is spent',
  slow,
  async () => {
    const queries = Array.from(
      { length: 6 },
      (_, at) =>
        `  - { as: q${at}, nrql: "SELECT count(*) FROM Transaction FACET appName LIMIT ${at + 20}" }`,
    ).join('\n');
    const account = 'api_key_env: KEY_A, requests_per_minute: 3';
    const { daemon, platform, simulator } = await aRunningDaemon(
      await queryConfig({ queries, apps: '', account }),
      { latencyMs: 2000 },
    );
    const ended = async (): Promise<number> => {
      const text = await daemon.metrics.text();
      return Number(
        /^newrelic_exporter_poll_duration_seconds_count\S* (\d+)/mu.exec(text)?.[1] ?? 0,
      );
    };
    let lastEnded = 0;
    let secondsBehind = 0;
    let mostBehind = 0;
    for (let second = 0; second < 600; second += 1) {
      await platform.clock.advance(1000);
      const sent = simulator.journal.count();
      // The page is long to write: it is looked at only when it can have changed.
      if (sent > lastEnded) lastEnded = await ended();
      const isBehind = sent > lastEnded;
      secondsBehind = isBehind ? secondsBehind + 1 : 0;
      mostBehind = Math.max(mostBehind, secondsBehind);
    }

    expect(simulator.journal.count()).toBeGreaterThan(25);
    expect(mostBehind).toBeLessThanOrEqual(3);
  },
);
